import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { z } from 'zod';
import { ConnectorError } from './connector-error.js';
import { SIGNAL_HEADER } from './signature.js';

const CONNECT_TIMEOUT_MS = 3000;
/** The largest answer that is read, bytes; a list of a thousand names takes less than 100,000. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** What came back, not yet verified. */
export interface Answer {
  readonly status: number;
  readonly signal: string | undefined;
  /** Where a redirect leads. */
  readonly location: string | undefined;
  readonly text: string;
  /** Values of `Set-Cookie`, in order. */
  readonly setCookies: readonly string[];
}

/**
 * Connections for commands: one for each, closed behind it. PHP servers drop idle connections when they like, and a
 * command that died on such a connection could not be told from one that was carried out. How many there are at the
 * same time is the business of `CommandQueue`.
 */
export class CommandConnections {
  readonly #agent = new Agent({ keepAlive: false });
  /** Ends what is under way, in plain words. */
  readonly #running = new Set<(cause: string) => void>();
  #closed = false;

  /** Sends a command and reads its answer. Throws ConnectorError. */
  async exchange(url: string, headers: Record<string, string>, body: string, timeoutMs: number): Promise<Answer> {
    if (this.#closed) throw unreachable('guard is stopping');
    const length = String(Buffer.byteLength(body));
    const sent = request(url, {
      method: 'POST',
      agent: this.#agent,
      headers: { ...headers, 'content-length': length },
    });
    const ended = new AbortController();
    let connected = false;
    sent.once('socket', (socket) => socket.once('connect', () => (connected = true)));
    const end = (cause: string): void => {
      ended.abort(unreachable(cause, undefined, connected));
      sent.destroy();
    };
    this.#running.add(end);
    const late = setTimeout(end, timeoutMs, 'no answer within the time allowed');
    limitConnecting(sent, end);
    // The first error is what `once` or the answer throws; a later one says nothing new, and would end the process.
    sent.on('error', () => {});
    try {
      sent.end(body);
      const [response] = (await once(sent, 'response', { signal: ended.signal })) as [IncomingMessage];
      return await read(response);
    } catch (error) {
      const why: unknown = ended.signal.aborted ? ended.signal.reason : error;
      throw why instanceof ConnectorError ? why : unreachable(plainCause(why), why, connected);
    } finally {
      clearTimeout(late);
      this.#running.delete(end);
      sent.destroy();
    }
  }

  /** Ends what is under way; nothing is sent any more. */
  close(): void {
    this.#closed = true;
    for (const end of this.#running) end('guard is stopping');
    this.#agent.destroy();
  }
}

function limitConnecting(sent: ClientRequest, end: (cause: string) => void): void {
  sent.once('socket', (socket) => {
    if (!socket.connecting) return;
    const late = setTimeout(end, CONNECT_TIMEOUT_MS, 'no connection within the time allowed');
    socket.once('connect', () => clearTimeout(late));
    socket.once('close', () => clearTimeout(late));
  });
}

async function read(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream.
    if (bytes > MAX_ANSWER_BYTES) throw unreachable('its answer is too large');
    chunks.push(chunk);
  }
  const signal = response.headers[SIGNAL_HEADER.toLowerCase()];
  return {
    status: response.statusCode as number,
    signal: Array.isArray(signal) ? signal[0] : signal,
    location: response.headers.location,
    text: Buffer.concat(chunks).toString('utf8'),
    setCookies: response.headers['set-cookie'] ?? [],
  };
}

/**
 * The host to ask instead, when WordPress sends guard to one. A network of sites answers to no host but those it knows,
 * before any plugin runs; which they are guard learns from the first answer to `hello`.
 */
export function hostToAsk({ status, signal, location }: Answer, host: string): string | null {
  if (signal !== undefined || status < 300 || status > 399 || !location || !URL.canParse(location)) return null;
  const named = new URL(location);
  return /^https?:$/.test(named.protocol) && named.host !== host ? named.host : null;
}

/** WordPress did not carry out a command, or nobody knows (`mayBeDone`); `cause` in plain words. */
export function unreachable(cause: string, error?: unknown, mayBeDone = false): ConnectorError {
  return new ConnectorError({ kind: 'unreachable', cause }, { cause: error, mayBeDone });
}

const causeByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed in the middle',
  ENOTFOUND: 'its host name is unknown',
  EHOSTUNREACH: 'no way to its host',
};

function plainCause(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return (code && causeByCode[code]) ?? message ?? 'unknown network error';
}

/** What a command answered, checked against its schema. Throws ConnectorError for anything else than status 200. */
export function parseAnswer<Schema extends z.ZodType>(
  schema: Schema,
  command: string,
  { status, text }: Answer,
): z.output<Schema> {
  // Signed, so it comes from the connector: to it the command is an address like any other that does not exist.
  if (status === 404) {
    const cause = `the connector does not know the command ${command}; attach the site again`;
    throw new ConnectorError({ kind: 'unreachable', cause, outdated: true });
  }
  if (status !== 200) throw unreachable(`the connector answered the command ${command} with HTTP status ${status}`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw unreachable(`the answer to the command ${command} is not JSON`, cause);
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw unreachable(`the answer to the command ${command} has an unknown form`, parsed.error);
  return parsed.data;
}
