import { openActivityStore, packVisits, silentLogger, type Visit } from '@security-optimizer/guard/testing';
import { FLOOD_SITE, type FloodReport } from './flood.js';
import { toVisitorAddress } from './sample-visits.js';

/** Interval between batches in milliseconds, as in guard. */
const BATCH_MS = 100;
const ADDRESSES = 10_000;
const AGENTS = 300;
/** Part of the time in which buffers and caches fill. */
const WARM_UP = 1 / 3;

const [dataDir = '', seconds = '', perSecond = ''] = process.argv.slice(2);

/** Creates a unique visit, as in a flood. */
function createVisit(number: number): Visit {
  return {
    at: Date.now(),
    address: toVisitorAddress(Math.floor(Math.random() * ADDRESSES)),
    target: `/no-such-page-${number}/?try=${number % 1000}`,
    status: 404,
    rule: null,
    agent: `Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/${number % AGENTS}.0`,
    count: 1,
  };
}

/** Writes visits to a store at an even rate and reports the result. */
async function flood(duration: number, rate: number): Promise<FloodReport> {
  const store = await openActivityStore({ dataDir, logger: silentLogger(), clock: Date.now });
  const writes: Promise<void>[] = [];
  const memory: number[] = [];
  const startedAt = performance.now();
  const processor = process.cpuUsage();
  let sent = 0;
  for (let passed = 0; passed < duration; passed = (performance.now() - startedAt) / 1000) {
    const due = Math.floor(passed * rate) - sent;
    const visits = Array.from({ length: due }, (_, index) => createVisit(sent + index));
    writes.push(store.write([{ site: FLOOD_SITE, visits: packVisits(visits), dropped: 0 }]));
    sent += due;
    if (passed > duration * WARM_UP) memory.push(process.memoryUsage().rss);
    await new Promise((resolve) => setTimeout(resolve, BATCH_MS));
  }
  await Promise.all(writes);
  const { user, system } = process.cpuUsage(processor);
  const noFilter = { from: null, to: null, type: null, code: null, addresses: null };
  const { rows } = await store.countVisits(FLOOD_SITE, noFilter, null);
  const dropped = await store.droppedVisits(FLOOD_SITE);
  await store.close();
  const grown = Math.max(...memory) - (memory[0] ?? 0);
  return { sent, stored: rows, dropped, grownBytes: grown, processorMicroseconds: (user + system) / sent };
}

process.stdout.write(JSON.stringify(await flood(Number(seconds), Number(perSecond))));
