import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { ExportFile } from '../activity/export-activity.js';

/**
 * Sends a file while it is written, at the pace of whoever reads it. When it can't be written to its end the connection
 * is cut: half a file must not pass for a whole one.
 *
 * @param onFailed told why, since the answer can't say it any more
 */
export function sendFile(
  reply: FastifyReply,
  { name, mediaType, content }: ExportFile,
  onFailed: (error: unknown) => void,
): FastifyReply {
  return reply
    .code(200)
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .header('content-type', mediaType)
    .header('content-disposition', `attachment; filename="${name}"`)
    .header('content-security-policy', "default-src 'none'; sandbox")
    .send(Readable.from(watched(content, onFailed), { objectMode: true, highWaterMark: 1 }));
}

async function* watched(content: AsyncIterable<string>, onFailed: (error: unknown) => void): AsyncGenerator<string> {
  try {
    yield* content;
  } catch (error) {
    onFailed(error);
    throw error;
  }
}
