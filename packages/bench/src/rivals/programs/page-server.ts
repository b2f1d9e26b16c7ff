/**
 * A cheap upstream, so that the cost of a proxy in front of it shows. Argument: its port.
 *
 * GET /            a page of 1,000 bytes
 * GET /download?N  N bytes
 * PUT /upload      reads a body and responds with its size
 * PUT /slow-upload?MS  the same, with a pause of MS milliseconds after each mebibyte
 */
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const page = Buffer.from('x'.repeat(1000));
const headers = ['Content-Type', 'text/html; charset=utf-8', 'Content-Length', '1000'];
const piece = Buffer.alloc(65_536, 'y');

const server = createServer((request, response) => {
  const url = request.url as string;
  if (request.method === 'PUT') {
    const restMs = url.startsWith('/slow-upload?') ? Number(url.slice(13)) : 0;
    readBody(request, restMs).then(
      (bytes) => response.end(String(bytes)),
      () => response.destroy(),
    );
    return;
  }
  if (url.startsWith('/download?')) {
    const size = Number(url.slice(10));
    response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': size });
    Readable.from(pieces(size)).pipe(response);
    return;
  }
  response.writeHead(200, headers);
  response.end(page);
});
server.keepAliveTimeout = 60_000;
server.requestTimeout = 0;
server.listen(Number(process.argv[2]), '127.0.0.1');

async function readBody(body: AsyncIterable<Buffer>, restMs: number): Promise<number> {
  let bytes = 0;
  let rested = 0;
  for await (const data of body) {
    bytes += data.length;
    if (restMs === 0 || bytes - rested < 2 ** 20) continue;
    rested = bytes;
    await sleep(restMs);
  }
  return bytes;
}

function* pieces(size: number): Generator<Buffer> {
  for (let remaining = size; remaining > 0; remaining -= piece.length)
    yield remaining < piece.length ? piece.subarray(0, remaining) : piece;
}
