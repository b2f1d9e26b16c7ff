import { alternate } from '../load/alternate.js';
import { getResidentBytes } from '../load/processes.js';
import { download, upload } from '../load/requests.js';
import { median, medianOfPairs } from '../load/statistics.js';
import { type LoadResult, wrk } from '../load/wrk.js';
import type { Bench, Measure } from '../measure.js';
import { type Bar, type Line, line } from '../report/report.js';
import { startGuard } from '../rivals/guard.js';
import { startNginxFile, startNginxProxy } from '../rivals/nginx.js';
import { type Server, startNodeProgram } from '../rivals/node-program.js';
import { frontPage } from './p2-wordpress.js';

/** What guard adds to an allowed request: time, processor time, and memory while it streams. */
export const allowedRequests: Measure = {
  id: 'p2',
  title: 'what guard adds to an allowed request',
  async run(bench) {
    return [...(await forwarding(bench)), ...(await frontPage(bench)), ...(await streaming(bench))];
  },
};

/** Connections of the paced load: about 1,000 requests a second in all, far more than WordPress could serve. */
const PACED = 8;
const FULL = 64;

const ADDED_P50: Bar = { of: 'value', is: 'at most', limit: 0.3 };
const ADDED_P99: Bar = { of: 'value', is: 'at most', limit: 2 };
const HALF_OF_NGINX: Bar = { of: 'ratio', is: 'at least', limit: 0.5 };
const ABOVE_BARE_PROXY: Bar = { of: 'ratio', is: 'at least', limit: 1.5 };

/** What guard adds to a very cheap page, and how many such pages it forwards per second. */
async function forwarding(bench: Bench): Promise<Line[]> {
  return [
    ...(await measureUpstream(bench, 'node', () => startNodeProgram(bench, 'page-server'))),
    ...(await measureUpstream(bench, 'nginx', () => startNginxFile(bench))),
  ];
}

type Route = 'direct' | 'guard' | 'nginx proxy_pass' | 'node:http proxy';
interface Loads {
  /** About 1,000 requests a second. */
  readonly paced: LoadResult;
  /** One connection that sends a request as soon as it has the previous response. */
  readonly single: LoadResult;
  /** As many requests as the server can handle. */
  readonly full: LoadResult;
}

async function measureUpstream(bench: Bench, name: string, startUpstream: () => Promise<Server>): Promise<Line[]> {
  const upstream = await startUpstream();
  const routes: Record<Route, Server> = {
    direct: upstream,
    guard: await startGuard(bench, { upstream: upstream.url }),
    'nginx proxy_pass': await startNginxProxy(bench, upstream.url),
    'node:http proxy': await startNodeProgram(bench, 'bare-proxy', [new URL(upstream.url).port]),
  };
  const take = (server: Server) => async (seconds: number) => {
    const load = { url: `${server.url}/`, seconds, pid: server.pid, expect: 'allowed' } as const;
    return {
      paced: await wrk({ ...load, connections: PACED, paced: true }),
      single: await wrk({ ...load, connections: 1 }),
      full: await wrk({ ...load, connections: FULL }),
    };
  };
  const results = await alternate<Route, Loads>(
    {
      direct: take(routes.direct),
      guard: take(routes.guard),
      'nginx proxy_pass': take(routes['nginx proxy_pass']),
      'node:http proxy': take(routes['node:http proxy']),
    },
    {
      rounds: bench.rounds,
      seconds: bench.seconds,
      onRound: (route, round) => bench.log(`p2, upstream ${name}, round ${round} of ${bench.rounds}: ${route}`),
    },
  );
  for (const server of Object.values(routes)) await server.stop();
  return report(name, results);
}

function report(upstream: string, results: Record<Route, Loads[]>): Line[] {
  const figures = (route: Route, pick: (loads: Loads) => number) => results[route].map(pick);
  const added = (what: string, pick: (loads: Loads) => number, bar?: Bar) => {
    const over = (route: Route) =>
      medianOfPairs(figures(route, pick), figures('direct', pick), (own, direct) => own - direct);
    const value = over('guard');
    const theirs = over('nginx proxy_pass');
    return line({
      measure: 'p2',
      what: `added to an allowed request, upstream ${upstream}, ${what}`,
      value,
      unit: 'ms',
      rival: { name: 'nginx proxy_pass', value: theirs, ratio: null },
      ...(bar && { bar }),
    });
  };
  const against = (rival: Route, what: string, unit: string, pick: (loads: Loads) => number, bar?: Bar) =>
    line({
      measure: 'p2',
      what: `${what}, upstream ${upstream}`,
      value: median(figures('guard', pick)),
      unit,
      rival: {
        name: rival,
        value: median(figures(rival, pick)),
        ratio: medianOfPairs(figures('guard', pick), figures(rival, pick), (our, their) => our / their),
      },
      ...(bar && { bar }),
    });
  const speed = (loads: Loads) => loads.full.requestsPerSecond;
  return [
    added('p50', (loads) => loads.paced.p50, ADDED_P50),
    added('p50 of a single connection', (loads) => loads.single.p50),
    added('p99', (loads) => loads.paced.p99, ADDED_P99),
    against('nginx proxy_pass', 'allowed requests', '/s', speed, HALF_OF_NGINX),
    against('node:http proxy', 'allowed requests', '/s', speed, ABOVE_BARE_PROXY),
    against(
      'nginx proxy_pass',
      'processor time per request',
      'us',
      (loads) => loads.full.processorMicroseconds as number,
    ),
  ];
}

const SIZE = 500 * 10 ** 6;
const MEBIBYTE = 2 ** 20;
/** Pause of a slow receiver after each mebibyte: about 100 MB a second, far less than the sender could send. */
const PAUSE_MS = 10;

/** How much guard's memory grows while it streams 500 MB, and how fast it streams them. */
async function streaming(bench: Bench): Promise<Line[]> {
  const upstream = await startNodeProgram(bench, 'page-server');
  const nginx = await startNginxProxy(bench, upstream.url);
  const lines: Line[] = [];
  for (const { what, transfer } of transfers(upstream)) {
    bench.log(`p2, streaming: ${what}`);
    // A new guard, so that each transfer starts from the same memory.
    const guard = await startGuard(bench, { upstream: upstream.url });
    const ours = await sampleMemory(guard, () => transfer(guard));
    await guard.stop();
    const theirs = await sampleMemory(nginx, () => transfer(nginx));
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
  const fetch = (pauseMs: number) => async (server: Server) => {
    const bytes = await download(`${server.url}/download?${SIZE}`, pauseMs);
    if (bytes !== SIZE) throw new Error(`${bytes} of ${SIZE} bytes arrived from ${server.url}`);
  };
  const send = (path: string) => async (server: Server) => {
    const received = await upload(`${server.url}${path}`, SIZE);
    if (received !== String(SIZE))
      throw new Error(`${upstream.url} got ${received} of ${SIZE} bytes through ${server.url}`);
  };
  return [
    { what: '500 MB download', transfer: fetch(0) },
    { what: '500 MB download by a slow visitor', transfer: fetch(PAUSE_MS) },
    { what: '500 MB upload', transfer: send('/upload') },
    { what: '500 MB upload to a slow site', transfer: send(`/slow-upload?${PAUSE_MS}`) },
  ];
}

/** Runs a transfer and samples the process's memory during it. */
async function sampleMemory(
  server: Server,
  transfer: () => Promise<void>,
): Promise<{ grownBytes: number; seconds: number }> {
  const before = getResidentBytes(server.pid);
  let peak = before;
  const sample = () => {
    peak = Math.max(peak, getResidentBytes(server.pid));
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
  return { grownBytes: peak - before, seconds };
}
