import { type Dispatcher, request } from 'undici';
import type { z } from 'zod';
import { ConnectorError } from './connector-error.js';
import { SIGNAL_HEADER } from './signature.js';

/** The largest answer that is read, bytes; a list of a thousand names takes less than 100,000. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** What came back, not yet verified. */
export interface Answer {
  readonly status: number;
  readonly signal: string | undefined;
  readonly text: string;
  /** Values of `Set-Cookie`, in order. */
  readonly setCookies: readonly string[];
}

/** Sends a command and reads its answer. Throws ConnectorError. */
export async function exchange(
  dispatcher: Dispatcher,
  url: string,
  headers: Record<string, string>,
  body: string,
  timeoutMs: number,
): Promise<Answer> {
  try {
    const response = await request(url, {
      method: 'POST',
      headers,
      body,
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // Leaving the loop destroys the stream.
      if (bytes > MAX_ANSWER_BYTES) throw unreachable('its answer is too large');
      chunks.push(chunk);
    }
    const signal = response.headers[SIGNAL_HEADER.toLowerCase()];
    return {
      status: response.statusCode,
      signal: Array.isArray(signal) ? signal[0] : signal,
      text: Buffer.concat(chunks).toString('utf8'),
      setCookies: [response.headers['set-cookie'] ?? []].flat(),
    };
  } catch (error) {
    throw error instanceof ConnectorError ? error : unreachable(plainCause(error), error);
  }
}

/** WordPress did not carry out a command; `cause` in plain words. */
export function unreachable(cause: string, error?: unknown): ConnectorError {
  return new ConnectorError({ kind: 'unreachable', cause }, { cause: error });
}

const causeByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed in the middle',
  UND_ERR_SOCKET: 'the connection was closed in the middle',
  UND_ERR_CONNECT_TIMEOUT: 'no connection within the time allowed',
  ENOTFOUND: 'its host name is unknown',
  EHOSTUNREACH: 'no way to its host',
};

function plainCause(error: unknown): string {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError') return 'no answer within the time allowed';
  return (code && causeByCode[code]) ?? message ?? 'unknown network error';
}

/** What a command answered, checked against its schema. Throws ConnectorError for anything else than status 200. */
export function parseAnswer<Schema extends z.ZodType>(
  schema: Schema,
  command: string,
  { status, text }: Answer,
): z.output<Schema> {
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
