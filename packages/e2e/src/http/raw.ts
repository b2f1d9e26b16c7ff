import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface RawResponse {
  readonly status: number;
  /** Lower-case names; values of repeated headers joined with a comma and a space. */
  readonly headers: Readonly<Record<string, string>>;
  /** Status line and headers as they came. */
  readonly head: string;
  readonly body: string;
}

/** Timeout for a response. Much longer than any takes, so that a busy machine fails no test. */
const SECONDS = 90;

/**
 * Writes bytes to a new socket and reads the response until the other side closes. The bytes are sent unchanged.
 *
 * @param way `to`: the address to connect to, by default 127.0.0.1; `from`: the local address, for example 127.0.0.9;
 *   `tls`: the name in the server's certificate, for TLS; `ca`: a self-signed certificate (PEM)
 */
export function sendRaw(
  port: number,
  bytes: string | Uint8Array,
  { to = '127.0.0.1', from, tls, ca }: { to?: string; from?: string; tls?: string; ca?: string } = {},
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const way = { host: to, port, ...(from === undefined ? {} : { localAddress: from }) };
    const socket =
      tls === undefined ? connect(way) : connectTls({ ...way, servername: tls, ca, ALPNProtocols: ['http/1.1'] });
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => {
      // Also if a part has arrived.
      reject(new Error(`No whole answer came within ${SECONDS} s.`));
      socket.destroy();
    }, SECONDS * 1000);
    socket.on(tls === undefined ? 'connect' : 'secureConnect', () =>
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    );
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that refuses during a body resets the connection. The response before that still counts.
    socket.on('error', (error) => (chunks.length === 0 ? reject(error) : undefined));
    socket.on('close', () => {
      clearTimeout(timer);
      const response = parseResponse(Buffer.concat(chunks).toString('latin1'));
      if (response === null) reject(new Error('The connection was closed without an answer.'));
      else resolve(response);
    });
  });
}

/** Parses the final response of a connection, since `100 Continue` and `103 Early Hints` may come before it. */
function parseResponse(text: string): RawResponse | null {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = text.slice(0, end);
  const rest = text.slice(end + 4);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  if (status >= 100 && status < 200) return parseResponse(rest);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { status, headers, head, body: /chunked/i.test(headers['transfer-encoding'] ?? '') ? unchunk(rest) : rest };
}

function unchunk(text: string): string {
  let body = '';
  let at = 0;
  for (;;) {
    const line = text.indexOf('\r\n', at);
    if (line === -1) return body;
    const size = Number.parseInt(text.slice(at, line), 16);
    if (!(size > 0)) return body;
    body += text.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}

/**
 * Writes bytes and reads all responses for the given milliseconds or until the other side closes; then closes the
 * connection. An error counts as the end.
 *
 * @param end with FIN or with RST
 */
export function sendAll(url: URL, bytes: string, ms: number, end: 'finish' | 'reset' = 'finish'): Promise<string> {
  return new Promise((resolve) => {
    const secure = url.protocol === 'https:';
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const way = { host, port: Number(url.port || (secure ? 443 : 80)) };
    const tcp = connect(way);
    const socket = secure ? connectTls({ socket: tcp, servername: host, ALPNProtocols: ['http/1.1'] }) : tcp;
    let received = '';
    let timer: NodeJS.Timeout;
    socket.on(secure ? 'secureConnect' : 'connect', () => {
      socket.write(Buffer.from(bytes, 'latin1'));
      timer = setTimeout(() => (end === 'reset' ? tcp.resetAndDestroy() : socket.destroySoon()), ms);
    });
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    tcp.on('error', () => socket.destroy());
    socket.on('error', () => socket.destroy());
    tcp.on('close', () => {
      clearTimeout(timer);
      resolve(received);
    });
  });
}
