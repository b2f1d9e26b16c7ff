import type { IncomingMessage } from 'node:http';

/** The forms hold a token, a code and ticks. */
const MAX_BYTES = 4096;

/** Fields of a form sent as `application/x-www-form-urlencoded`, or null when it is something else or too long. */
export function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) return Promise.resolve(null);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    // Flowing, as the server expects it of a body that is read: only then does it let go of who falls silent.
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BYTES) chunks.push(chunk);
      else resolve(null);
    });
    request.once('end', () => resolve(new URLSearchParams(Buffer.concat(chunks).toString('utf8'))));
    // The visitor went away in the middle.
    request.once('error', () => resolve(null));
    request.once('close', () => resolve(null));
  });
}
