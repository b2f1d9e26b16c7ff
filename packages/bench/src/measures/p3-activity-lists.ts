import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  formatReference,
  ListCursors,
  type ListPage,
  type ListQuery,
  listVisits,
  openActivityStore,
  plainFilters,
  readAttackers,
  readRequestDetails,
  searchFilter,
  silentLogger,
} from '@security-optimizer/guard/testing';
import { median, percentile } from '../load/statistics.js';
import type { Bench, Measure } from '../measure.js';
import { type Line, line } from '../report/report.js';
import { floodActivity } from '../sample-log/flood.js';
import { generateLog } from '../sample-log/generate.js';
import { DAYS, FIRST_REFERENCE, toVisitorAddress, VISITORS } from '../sample-log/sample-visits.js';

/** A flood of which the log must store, or count as dropped, every visit. */
const FLOOD_SECONDS = 60;
const FLOOD_PER_SECOND = 10_000;
/** Allowed growth in megabytes: caches of recent pages and visitors may still fill. */
const MAX_GROWTH_MB = 48;

/** Queries of each kind per round. */
const QUERIES = 20;
const SITE = {
  id: 'bench',
  hosts: ['*'],
  upstream: 'http://127.0.0.1:1',
  wordpressDir: null,
  secret: '',
  requireGuard: true,
};
const OWNER = { id: 1, login: 'owner', address: null };

const logs = [
  { rows: 1_000_000, name: '1 M', limit: 50 },
  { rows: 10_000_000, name: '10 M', limit: 100 },
] as const;

/** Response times of the Activity Log with millions of entries, and whether it can store a flood of visits. */
export const activityLists: Measure = {
  id: 'p3',
  title: 'answers of the Activity Log, and a flood of visits',
  async run(bench) {
    const lines: Line[] = [];
    for (const log of logs) lines.push(...(await measureLog(bench, log)));
    lines.push(...(await measureFlood(bench)));
    return lines;
  },
};

async function measureFlood(bench: Bench): Promise<Line[]> {
  bench.log(`p3, ${FLOOD_PER_SECOND} visits a second for ${FLOOD_SECONDS} s`);
  const flood = await floodActivity(bench, FLOOD_SECONDS, FLOOD_PER_SECOND);
  const name = '10,000 visits a second for 60 s';
  const none = { of: 'value', is: 'at most', limit: 0 } as const;
  const lost = flood.sent - flood.stored - flood.dropped;
  const grown = flood.grownBytes / 2 ** 20;
  return [
    line({ measure: 'p3', what: `${name}, neither stored nor counted`, value: lost, unit: 'visits', bar: none }),
    line({ measure: 'p3', what: `${name}, counted as dropped`, value: flood.dropped, unit: 'visits' }),
    line({
      ...{ measure: 'p3', what: `${name}, memory grows by`, value: grown, unit: 'MB' },
      bar: { of: 'value', is: 'at most', limit: MAX_GROWTH_MB },
    }),
    line({
      ...{ measure: 'p3', what: `${name}, processor time of a visit` },
      ...{ value: flood.processorMicroseconds, unit: 'us' },
    }),
  ];
}

async function measureLog(bench: Bench, { rows, name, limit }: (typeof logs)[number]): Promise<Line[]> {
  const dataDir = join(bench.dir, `log-${rows}`);
  await generateLog(bench, { dataDir, site: SITE.id, rows });
  const to = Math.floor(Date.now() / 1000);
  const store = await openActivityStore({ dataDir, logger: silentLogger(), clock: Date.now });
  try {
    const times = await measureQueries(bench, name, queries(store, to));
    return [...times].map(([what, milliseconds]) =>
      line({
        measure: 'p3',
        what: `${name} entries, ${what}, p95`,
        value: percentile(milliseconds, 0.95),
        unit: 'ms',
        rival: { name: 'its own median', value: median(milliseconds), ratio: null },
        bar: { of: 'value', is: 'at most', limit },
      }),
    );
  } finally {
    await store.close();
    await rm(dataDir, { recursive: true });
  }
}

type Query = () => Promise<unknown>;

const NO_FLAGS = { flags: () => ({ block: 0, do_not_block: 0 }) as const };
const NOBODY_BLOCKED = { find: async () => new Map<string, never>(), findUser: async () => null };

async function measureQueries(
  bench: Bench,
  name: string,
  byName: Readonly<Record<string, Query>>,
): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(Object.keys(byName).map((what) => [what, []]));
  // The first round is a warm-up and does not count.
  for (let round = 0; round <= bench.rounds; round++) {
    bench.log(`p3, ${name} entries, round ${round} of ${bench.rounds}`);
    for (const [what, query] of Object.entries(byName)) {
      for (let index = 0; index < QUERIES; index++) {
        const startedAt = performance.now();
        await query();
        if (round > 0) times.get(what)?.push(performance.now() - startedAt);
      }
    }
  }
  return times;
}

/** The queries of an owner. Each one has new cursors, so that no list continues an earlier one. */
function queries(store: Awaited<ReturnType<typeof openActivityStore>>, now: number): Record<string, Query> {
  const list = async (filters: object, page: number, cursor: string | null, view: Partial<ListQuery>) => {
    const deps = {
      store,
      cursors: new ListCursors(),
      clock: Date.now,
      visitors: NO_FLAGS,
      blocks: NOBODY_BLOCKED,
      timeZone: () => 'UTC',
    };
    const query = { limited: false, exact: false, page, cursor, filters: plainFilters({ ...filters }), ...view };
    return listVisits(deps, { site: SITE, caller: OWNER, ...query });
  };
  /** A search that finds nothing and stops at a limit; its cursor says how far it read. */
  const searchInVain = async (view: Partial<ListQuery>) => {
    const { cursor } = await list({}, 1, null, view);
    if (cursor === null) throw new Error('a search without results read all rows at once');
  };
  const page = async (filters: object, page = 1, cursor: string | null = null, view: Partial<ListQuery> = {}) => {
    return expectRows(await list(filters, page, cursor, view));
  };
  const search = (filter: string, text: string) =>
    searchFilter(store, { site: SITE.id, list: 'unknown', filter, search: text });
  const busy = toVisitorAddress(0);
  const rare = toVisitorAddress(VISITORS / 2);
  const oneDay = { from: now - (DAYS / 2) * 86_400, to: now - (DAYS / 2) * 86_400 };
  return {
    'first page': () => page({}),
    'first page and the next by its cursor': async () => page({}, 2, (await page({})).cursor),
    'page 100': () => page({}, 100),
    'page 1,000': () => page({}, 1000),
    'filter by a day': () => page(oneDay),
    'filter by type': () => page({ type: 'Human' }),
    'filter by type, page 100': () => page({ type: 'Human' }, 100),
    'filter by code': () => page({ code: 429 }),
    'filter by code, page 100': () => page({ code: 429 }, 100),
    'filter by the busiest address': () => page({ ip: busy }),
    'filter by the busiest address, page 100': () => page({ ip: busy }, 100),
    'filter by a rare address': () => page({ ip: rare }),
    'filter by 256 addresses': () => page({ ip: '198.51.100.0/24' }),
    'filter by thousands of addresses': () => page({ ip: '2001:db8::1:0/112' }),
    'filter by type, code and a day': () => page({ ...oneDay, type: 'DotBot', code: 404 }),
    'filter by address, code and a day': () => page({ ...oneDay, ip: busy, code: 404 }),
    'preset Blocked': () => page({}, 1, null, { preset: 'blocked' }),
    'preset Failed logins': () => page({}, 1, null, { preset: 'failed-logins' }),
    'preset Scanners': () => page({}, 1, null, { preset: 'scanners' }),
    'preset Not found': () => page({}, 1, null, { preset: 'not-found' }),
    'preset Humans': () => page({}, 1, null, { preset: 'humans' }),
    'preset Bots': () => page({}, 1, null, { preset: 'bots' }),
    'filter by a goal': () => page({ goal: 'holes' }),
    'search for a frequent path': () => page({}, 1, null, { search: 'wp-login' }),
    'search for a path that nobody asked for': () => searchInVain({ search: 'no-such-path' }),
    'search for a login': () => page({}, 1, null, { search: 'owner' }),
    'search for a network': () => page({}, 1, null, { search: '198.51.100.0/24' }),
    'search for a reference': () => page({}, 1, null, { search: formatReference(FIRST_REFERENCE + 5000) }),
    'attackers of seven days': async () => {
      const sources = {
        ...{ store, blocks: NOBODY_BLOCKED, clock: Date.now, timeZone: () => 'UTC', isAnonymized: () => false },
        protectedAddresses: () => ({ server: [], proxies: [], monitors: [] }),
      };
      const { data } = await readAttackers(sources, { site: SITE.id, caller: OWNER, all: true });
      if (data.entries.length === 0) throw new Error('the list of attackers is empty');
    },
    'details of a request': async () => {
      const id = await store.newestVisit(SITE.id);
      const sources = { store, blocks: NOBODY_BLOCKED, visitors: NO_FLAGS, timeZone: () => 'UTC' };
      await readRequestDetails(sources, { site: SITE.id, caller: OWNER, id });
    },
    'choices of types, searched': () => search('type', 'bot'),
    'choices of codes, searched': () => search('code', '40'),
    'choices of addresses, searched': () => search('ip', '113.2'),
  };
}

/** Throws for a list without rows, because its speed means nothing. */
function expectRows<Row>(list: ListPage<Row>): ListPage<Row> {
  if (list.entries.length === 0) throw new Error('a list of the Activity Log is empty');
  return list;
}
