import type { IncomingMessage } from 'node:http';

/** The forms hold a token, a code and ticks. */
const MAX_BYTES = 4096;

/** Fields of a form sent as `application/x-www-form-urlencoded`, or null when it is something else or too long. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // Not destroyed when the loop is left: the answer still has to go out on the same socket.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return null;
      chunks.push(chunk);
    }
  } catch {
    // The visitor went away in the middle.
    return null;
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}
