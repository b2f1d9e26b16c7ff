import { residentBytes } from '../load/processes.js';
import { download, upload } from '../load/transfer.js';
import type { Bench } from '../measure.js';
import { type Line, line } from '../report/line.js';
import { startGuard } from '../rivals/guard.js';
import { startNginxProxy } from '../rivals/nginx.js';
import { type Server, startNodeProgram } from '../rivals/node-program.js';

const SIZE = 500 * 10 ** 6;
const MEBIBYTE = 2 ** 20;
/** After each mebibyte the receiver rests so long: about 100 MB a second, far less than the sender could do. */
const REST_MS = 10;

/** How much guard's memory grows while 500 MB stream through it, and how fast they go. */
export async function streaming(bench: Bench): Promise<Line[]> {
  const upstream = await startNodeProgram(bench, 'page-server');
  const nginx = await startNginxProxy(bench, upstream.url);
  const lines: Line[] = [];
  for (const { what, transfer } of transfers(upstream)) {
    bench.say(`p2, streaming: ${what}`);
    // A guard of its own, so that each transfer starts from the same memory.
    const guard = await startGuard(bench, { upstream: upstream.url });
    const ours = await watched(guard, () => transfer(guard));
    await guard.stop();
    const theirs = await watched(nginx, () => transfer(nginx));
    lines.push(
      line({
        measure: 'p2',
        what: `memory grows by, ${what}`,
        value: ours.grownBytes / MEBIBYTE,
        unit: 'MB',
        bar: { of: 'value', is: 'at most', limit: 64 },
      }),
      line({
        measure: 'p2',
        what,
        value: SIZE / 1e6 / ours.seconds,
        unit: 'MB/s',
        rival: {
          name: 'nginx proxy_pass',
          value: SIZE / 1e6 / theirs.seconds,
          ratio: theirs.seconds / ours.seconds,
        },
      }),
    );
  }
  await nginx.stop();
  await upstream.stop();
  return lines;
}

function transfers(upstream: Server): { what: string; transfer(server: Server): Promise<void> }[] {
  const fetch = (restMs: number) => async (server: Server) => {
    const bytes = await download(`${server.url}/download?${SIZE}`, restMs);
    if (bytes !== SIZE) throw new Error(`${bytes} of ${SIZE} bytes came through ${server.url}`);
  };
  const send = (path: string) => async (server: Server) => {
    const said = await upload(`${server.url}${path}`, SIZE);
    if (said !== String(SIZE)) throw new Error(`${upstream.url} got ${said} of ${SIZE} bytes through ${server.url}`);
  };
  return [
    { what: '500 MB download', transfer: fetch(0) },
    { what: '500 MB download by a slow visitor', transfer: fetch(REST_MS) },
    { what: '500 MB upload', transfer: send('/upload') },
    { what: '500 MB upload to a slow site', transfer: send(`/slow-upload?${REST_MS}`) },
  ];
}

/** Runs a transfer and samples the process's memory meanwhile. */
async function watched(
  server: Server,
  transfer: () => Promise<void>,
): Promise<{ grownBytes: number; seconds: number }> {
  const before = residentBytes(server.pid);
  let most = before;
  const sample = () => {
    most = Math.max(most, residentBytes(server.pid));
  };
  const timer = setInterval(sample, 20);
  const start = performance.now();
  try {
    await transfer();
  } finally {
    clearInterval(timer);
  }
  const seconds = (performance.now() - start) / 1000;
  sample();
  return { grownBytes: most - before, seconds };
}
