import { setTimeout as sleep } from 'node:timers/promises';
import { getResidentBytes } from '../load/processes.js';
import { median } from '../load/statistics.js';
import { type Flood, type LoadResult, wrk } from '../load/wrk.js';
import type { Bench, Measure } from '../measure.js';
import { type Line, line } from '../report/report.js';
import { startGuard } from '../rivals/guard.js';
import { type Server, startNodeProgram } from '../rivals/node-program.js';

const MEBIBYTE = 2 ** 20;
const ADDRESSES = 1_000_000;
const SITES = 10_000;
/** Time from the start to the measurement without load. By then the memory of the start may have been collected. */
const IDLE_MS = 30_000;
/** Starts that are measured; the memory differs a little between them. */
const STARTS = 3;
const SAMPLE_MS = 100;
/** Length of a flood. Ten million requests would take half an hour; the number that was sent is reported. */
const FLOOD_SECONDS = 60;
const CONNECTIONS = 64;
/** Allowed growth: it may be garbage that has not been collected yet. */
const MAX_GROWTH_MB = 24;

const atMost = (limit: number) => ({ of: 'value', is: 'at most', limit }) as const;

/** Resident memory of guard: idle, and during floods. */
export const memory: Measure = {
  id: 'p6',
  title: "guard's memory",
  async run(bench) {
    const upstream = await startNodeProgram(bench, 'page-server');
    return [
      ...(await idle(bench, upstream)),
      ...(await underFlood(bench, upstream, {
        ...{ what: 'refused requests from 1 M addresses', flood: { addresses: ADDRESSES }, limit: 250 },
      })),
      ...(await underFlood(bench, upstream, {
        ...{ what: 'refused requests to 10,000 sites', flood: { addresses: ADDRESSES, sites: SITES }, limit: 400 },
      })),
    ];
  },
};

async function idle(bench: Bench, upstream: Server): Promise<Line[]> {
  const durations: number[] = [];
  for (let start = 1; start <= STARTS; start++) {
    bench.log(`p6, idle, start ${start} of ${STARTS}`);
    const guard = await startGuard(bench, { upstream: upstream.url });
    await sleep(IDLE_MS);
    durations.push(getResidentBytes(guard.pid) / MEBIBYTE);
    await guard.stop();
  }
  return [line({ measure: 'p6', what: 'memory, idle', value: median(durations), unit: 'MB', bar: atMost(120) })];
}

/** The peak of the memory during a flood, and how much higher it is in the second half than in the first. */
async function underFlood(
  bench: Bench,
  upstream: Server,
  measured: { readonly what: string; readonly flood: Flood; readonly limit: number },
): Promise<Line[]> {
  const { what, flood, limit } = measured;
  bench.log(`p6, ${what}, ${FLOOD_SECONDS} s`);
  const guard = await startGuard(bench, {
    ...{ upstream: upstream.url, trustedProxies: ['127.0.0.1'] },
    ...(flood.sites !== undefined && { sites: flood.sites }),
  });
  // After its start guard contacts every site.
  await sleep(IDLE_MS);
  const before = getResidentBytes(guard.pid) / MEBIBYTE;
  const half = (sent: number) => sampleMemory(guard, { ...flood, sent }, FLOOD_SECONDS / 2);
  const first = await half(0);
  // New addresses only: known ones need no more memory.
  const second = await half(first.load.requests);
  await guard.stop();
  const requests = first.load.requests + second.load.requests;
  if (second.load.requests < (flood.sites ?? 0)) throw new Error('the flood did not reach every site');
  return [
    line({ measure: 'p6', what: `memory before the ${what}`, value: before, unit: 'MB' }),
    line({
      ...{ measure: 'p6', what: `memory, ${what}` },
      ...{ value: Math.max(first.peak, second.peak), unit: 'MB', bar: atMost(limit) },
    }),
    line({
      ...{ measure: 'p6', what: `memory grows in the second half of the ${what}` },
      ...{ value: second.peak - first.peak, unit: 'MB', bar: atMost(MAX_GROWTH_MB) },
    }),
    line({ measure: 'p6', what, value: requests / 1e6, unit: 'M' }),
  ];
}

async function sampleMemory(guard: Server, flood: Flood, seconds: number): Promise<{ load: LoadResult; peak: number }> {
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, getResidentBytes(guard.pid) / MEBIBYTE);
  }, SAMPLE_MS);
  try {
    const { url, pid } = guard;
    const load = await wrk({ url, seconds, pid, connections: CONNECTIONS, flood, expect: 'refused' });
    return { load, peak };
  } finally {
    clearInterval(timer);
  }
}
