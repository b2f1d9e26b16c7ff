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
/** A guard without load is looked at after so long: by then the garbage of its start may be gone. */
const IDLE_MS = 30_000;
/** Starts whose memory is looked at: each ends up with a little more or less. */
const STARTS = 3;
const SAMPLE_MS = 100;
/** Length of a flood. Ten million requests would take half an hour; the number that came is reported. */
const FLOOD_SECONDS = 60;
const CONNECTIONS = 64;
/** Growth within this is no growth: what the garbage collector has not taken yet. */
const NO_GROWTH_MB = 24;

const atMost = (limit: number) => ({ of: 'value', is: 'at most', limit }) as const;

/** How much memory guard takes. */
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
  const taken: number[] = [];
  for (let start = 1; start <= STARTS; start++) {
    bench.say(`p6, idle, start ${start} of ${STARTS}`);
    const guard = await startGuard(bench, { upstream: upstream.url });
    await sleep(IDLE_MS);
    taken.push(getResidentBytes(guard.pid) / MEBIBYTE);
    await guard.stop();
  }
  return [line({ measure: 'p6', what: 'memory, idle', value: median(taken), unit: 'MB', bar: atMost(120) })];
}

/** Memory during a flood, its most, and how much more that is in the second half than in the first. */
async function underFlood(
  bench: Bench,
  upstream: Server,
  wanted: { readonly what: string; readonly flood: Flood; readonly limit: number },
): Promise<Line[]> {
  const { what, flood, limit } = wanted;
  bench.say(`p6, ${what}, ${FLOOD_SECONDS} s`);
  const guard = await startGuard(bench, {
    ...{ upstream: upstream.url, trustedProxies: ['127.0.0.1'] },
    ...(flood.sites !== undefined && { sites: flood.sites }),
  });
  // At its start guard looks at every site.
  await sleep(IDLE_MS);
  const before = getResidentBytes(guard.pid) / MEBIBYTE;
  const half = (sent: number) => sampled(guard, { ...flood, sent }, FLOOD_SECONDS / 2);
  const first = await half(0);
  // Addresses that guard has seen already would say nothing of growth.
  const second = await half(first.load.requests);
  await guard.stop();
  const requests = first.load.requests + second.load.requests;
  if (second.load.requests < (flood.sites ?? 0)) throw new Error('the flood did not reach every site');
  return [
    line({ measure: 'p6', what: `memory before the ${what}`, value: before, unit: 'MB' }),
    line({
      ...{ measure: 'p6', what: `memory, ${what}` },
      ...{ value: Math.max(first.most, second.most), unit: 'MB', bar: atMost(limit) },
    }),
    line({
      ...{ measure: 'p6', what: `memory grows in the second half of the ${what}` },
      ...{ value: second.most - first.most, unit: 'MB', bar: atMost(NO_GROWTH_MB) },
    }),
    line({ measure: 'p6', what, value: requests / 1e6, unit: 'M' }),
  ];
}

async function sampled(guard: Server, flood: Flood, seconds: number): Promise<{ load: LoadResult; most: number }> {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, getResidentBytes(guard.pid) / MEBIBYTE);
  }, SAMPLE_MS);
  try {
    const { url, pid } = guard;
    const load = await wrk({ url, seconds, pid, connections: CONNECTIONS, flood, expect: 'refused' });
    return { load, most };
  } finally {
    clearInterval(timer);
  }
}
