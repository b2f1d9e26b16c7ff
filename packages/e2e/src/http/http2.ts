import { connect, constants, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import type { RawResponse } from './raw.js';

/** A request of HTTP/2 as an attacker would send it. Values are sent unchanged; a list becomes one field for each. */
export interface Http2Request {
  /** The fields, with the pseudo-header fields `:method`, `:path` and `:authority`. */
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

/** Timeout for a response, milliseconds; see `sendRaw`. */
const TIMEOUT_MS = 90_000;

/**
 * Sends one request on a new connection of HTTP/2 over TLS.
 *
 * @param way `from`: the local address; `tls`: the name in the server's certificate; `ca`: that certificate (PEM)
 * @throws when the server resets the stream or the connection without a response, or does not speak HTTP/2
 */
export function sendHttp2(
  port: number,
  { fields, body }: Http2Request,
  { from, tls, ca }: { readonly from?: string; readonly tls: string; readonly ca: string },
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      ...{ host: '127.0.0.1', port, servername: tls, ca, ALPNProtocols: ['h2'] },
      ...(from === undefined ? {} : { localAddress: from }),
    });
    const session = connect(`https://${tls}`, { createConnection: () => socket });
    const fail = (error: Error) => {
      session.destroy();
      reject(error);
    };
    session.on('error', fail);
    const stream = session.request(fields as OutgoingHttpHeaders, { endStream: body === undefined });
    stream.setTimeout(TIMEOUT_MS, () => fail(new Error(`No whole answer came within ${TIMEOUT_MS / 1000} s.`)));
    let head: OutgoingHttpHeaders | null = null;
    const chunks: Buffer[] = [];
    stream.on('response', (received) => {
      head = received;
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A server that refuses during a body may reset the stream. The response before that still counts.
    stream.on('error', (error) => (head === null ? fail(error) : undefined));
    stream.on('close', () => {
      session.close();
      if (head === null) fail(new Error('The stream was closed without an answer.'));
      else resolve(toRawResponse(head, Buffer.concat(chunks).toString('latin1')));
    });
    if (body !== undefined) stream.end(Buffer.from(body, 'latin1'));
  });
}

function toRawResponse(received: OutgoingHttpHeaders, body: string): RawResponse {
  const headers: Record<string, string> = {};
  const lines: string[] = [];
  for (const [name, value] of Object.entries(received)) {
    if (name.startsWith(':')) continue;
    const values = [value ?? ''].flat().map(String);
    headers[name] = values.join(', ');
    lines.push(...values.map((each) => `${name}: ${each}`));
  }
  const status = Number(received[constants.HTTP2_HEADER_STATUS]);
  return { status, headers, head: [`HTTP/2 ${status}`, ...lines].join('\r\n'), body };
}
