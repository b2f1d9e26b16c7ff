import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ALL_KINDS,
  BUCKET_ROWS,
  openActivityStore,
  openSqlite,
  type SqliteDatabase,
  silentLogger,
  TOP_COUNTERS,
  toAddressKey,
  toAttackNetwork,
  toFirstId,
  toHour,
  toSecond,
} from '@security-optimizer/guard/testing';
import type { Bench } from '../measure.js';
import { AGENTS, FIRST_REFERENCE, generateVisits, toVisitorAddress, VISITORS, visitKinds } from './sample-visits.js';

/** Rows between two progress messages. */
const PROGRESS_ROWS = 1_000_000;

/**
 * Fills the tables of an Activity Log with visits of one site: rows, visitors and aggregates as the store itself would
 * write them, many times faster. The store has created the tables, and no process may have them open. Indexes are
 * dropped before the rows are inserted and created again afterwards.
 *
 * @param to the time of the newest row, Unix seconds
 */
export function generateActivity(
  file: string,
  options: { readonly site: string; readonly rows: number; readonly to: number; readonly log: (text: string) => void },
): void {
  const database = openSqlite(file, { busyTimeoutMs: 0 });
  try {
    for (const pragma of ['journal_mode = OFF', 'synchronous = OFF', 'cache_size = -200000', 'temp_store = FILE']) {
      database.exec(`PRAGMA ${pragma}`);
    }
    database.exec('begin');
    const indexes = dropIndexes(database);
    const aggregates = writeRows(database, options);
    writeAggregates(database, aggregates);
    options.log('Making the indexes.');
    for (const sql of indexes) database.exec(sql);
    database.exec('commit');
    database.exec('PRAGMA journal_mode = WAL');
  } finally {
    database.close();
  }
}

function dropIndexes(database: SqliteDatabase): string[] {
  const indexes = database
    .prepare(`select name, sql from sqlite_master where type = 'index' and sql is not null`)
    .all() as unknown as { name: string; sql: string }[];
  for (const { name } of indexes) database.exec(`drop index ${name}`);
  return indexes.map(({ sql }) => sql);
}

/** The aggregates that the store would have counted. */
interface Aggregates {
  /** Rows of each kind, by the start of their bucket. */
  readonly buckets: Map<number, Uint32Array>;
  /** Hits of each kind, by hour. */
  readonly hours: Map<number, Uint32Array>;
  readonly visitors: { rows: Uint32Array; first: Float64Array; last: Float64Array };
  /** By the first second of a day. */
  readonly days: Map<number, ReturnType<typeof createDay>>;
}

function writeRows(
  database: SqliteDatabase,
  { site, rows, to, log }: Parameters<typeof generateActivity>[1],
): Aggregates {
  database.prepare('insert into activity_sites (id, site) values (1, ?)').run(site);
  const kind = database.prepare(
    'insert into visit_kinds (id, type, status, rule, goal, failed) values (?, ?, ?, ?, ?, ?)',
  );
  for (const [index, { type, status, rule, goal, failed }] of visitKinds.entries()) {
    kind.run(index + 1, type, status, rule, goal, failed);
  }
  const text = database.prepare('insert into visit_texts (id, site, text, seen) values (?, 1, ?, ?)');
  for (let i = 1; i <= AGENTS; i++) text.run(i, `Mozilla/5.0 (made up; ${i})`, to);
  const insert = database.prepare(
    `insert into visits (site, id, kind, visitor, count, target, method, agent, reference, last_reference, failed, tried)
     values (1, ?, ?, ?, 1, ?, 'GET', ?, ?, ?, ?, ?)`,
  );
  const aggregates: Aggregates = {
    buckets: new Map(),
    hours: new Map(),
    visitors: {
      rows: new Uint32Array(VISITORS),
      first: new Float64Array(VISITORS),
      last: new Float64Array(VISITORS),
    },
    days: new Map(),
  };
  let written = 0;
  let id = 0;
  let start = 0;
  for (const visit of generateVisits(rows, to)) {
    id = Math.max(id + 1, toFirstId(visit.second));
    if (written % BUCKET_ROWS === 0) start = id;
    const reference = FIRST_REFERENCE + written;
    const failed = visitKinds[visit.kind]?.failed ?? 0;
    insert.run(
      ...[id, visit.kind + 1, visit.visitor + 1, visit.target, 1 + (written % AGENTS), reference, reference],
      ...[failed, failed === 1 ? 'owner' : ''],
    );
    count(aggregates, { ...visit, second: toSecond(id) }, start);
    written++;
    if (written % PROGRESS_ROWS === 0) log(`${written.toLocaleString('en-GB')} rows`);
  }
  return aggregates;
}

function count(
  { buckets, hours, visitors, days }: Aggregates,
  visit: { second: number; kind: number; visitor: number; target: string },
  start: number,
): void {
  increase(getOrCreate(buckets, start, createTally), visit.kind);
  increase(getOrCreate(hours, toHour(visit.second), createTally), visit.kind);
  if (visitors.rows[visit.visitor] === 0) visitors.first[visit.visitor] = visit.second;
  increase(visitors.rows, visit.visitor);
  visitors.last[visit.visitor] = visit.second;
  const { addresses, pages, attackers, goals } = getOrCreate(days, visit.second - (visit.second % 86_400), createDay);
  increase(addresses, visit.visitor);
  const { rule, failed, goal } = visitKinds[visit.kind] as (typeof visitKinds)[number];
  if (rule !== '' || failed === 1) {
    increase(attackers, visit.visitor);
    goals.set(goal, (goals.get(goal) ?? 0) + 1);
  }
  if (visitKinds[visit.kind]?.status === 200) pages.set(visit.target, (pages.get(visit.target) ?? 0) + 1);
}

const getSum = (tally: Uint32Array) => tally.reduce((sum, rows) => sum + rows, 0);

const createTally = () => new Uint32Array(visitKinds.length);
const createDay = () => ({
  addresses: new Uint32Array(VISITORS),
  pages: new Map<string, number>(),
  attackers: new Uint32Array(VISITORS),
  goals: new Map<string, number>(),
});

function getOrCreate<Value>(entries: Map<number, Value>, key: number, create: () => Value): Value {
  const known = entries.get(key);
  if (known !== undefined) return known;
  const fresh = create();
  entries.set(key, fresh);
  return fresh;
}

function increase(tally: Uint32Array, index: number): void {
  tally[index] = (tally[index] ?? 0) + 1;
}

function writeAggregates(database: SqliteDatabase, { buckets, hours, visitors, days }: Aggregates): void {
  const bucket = database.prepare('insert into visit_stretches (site, kind, start, rows) values (1, ?, ?, ?)');
  const sum = database.prepare(
    'insert into visit_sums (site, kind, rows) values (1, ?, ?) on conflict do update set rows = rows + excluded.rows',
  );
  for (const [start, tally] of buckets) {
    for (const [kind, rows] of [[ALL_KINDS - 1, getSum(tally)], ...tally.entries()] as const) {
      if (rows === 0) continue;
      bucket.run(kind + 1, start, rows);
      sum.run(kind + 1, rows);
    }
  }
  const hour = database.prepare('insert into visit_hours (site, hour, kind, hits) values (1, ?, ?, ?)');
  for (const [begin, tally] of hours) {
    for (const [kind, hits] of tally.entries()) if (hits > 0) hour.run(begin, kind + 1, hits);
  }
  const visitor = database.prepare(
    `insert into visitors (id, site, kind, key, name, first_seen, last_seen, visits) values (?, 1, 'ip', ?, ?, ?, ?, ?)`,
  );
  for (const [index, rows] of visitors.rows.entries()) {
    if (rows === 0) continue;
    const address = toVisitorAddress(index);
    visitor.run(index + 1, toAddressKey(address), address, visitors.first[index], visitors.last[index], rows);
  }
  const top = database.prepare(
    'insert into top_visits (site, day, what, value, hits, excess) values (1, ?, ?, ?, ?, 0)',
  );
  const attacker = database.prepare(
    `insert into attackers (site, day, who, value, hits, excess, goals, targets, since)
     values (1, ?, ?, ?, ?, 1, '9,1,0,0,0,0', '[["/wp-login.php",1]]', ?)`,
  );
  const total = database.prepare('insert into attack_days (site, day, goal, refused, failed) values (1, ?, ?, ?, 0)');
  for (const [begin, { addresses, pages, attackers, goals }] of days) {
    const day = new Date(begin * 1000).toISOString().slice(0, 10);
    const seen = [...addresses.entries()].filter(([, hits]) => hits > 0);
    for (const [index, hits] of getTop(seen)) top.run(day, 'address', toVisitorAddress(index), hits);
    for (const [page, hits] of getTop([...pages])) {
      top.run(day, 'page', page, hits);
      top.run(day, 'attacked-page', page, hits);
    }
    for (const [goal, hits] of goals) total.run(day, goal, hits);
    const found = getTop([...attackers.entries()].filter(([, hits]) => hits > 0));
    const networks = new Map<string, number>();
    for (const [index, hits] of found) {
      const address = toVisitorAddress(index);
      attacker.run(day, 'address', address, hits + 1, begin);
      const network = toAttackNetwork(address);
      networks.set(network, (networks.get(network) ?? 0) + hits);
    }
    for (const [network, hits] of networks) attacker.run(day, 'network', network, hits + 1, begin);
  }
}

function getTop<Value>(counts: (readonly [Value, number])[]): (readonly [Value, number])[] {
  return counts.sort((a, b) => b[1] - a[1]).slice(0, TOP_COUNTERS);
}

const FILE = 'activity.sqlite';

/** Creates an Activity Log whose newest visit is now, in a new folder. */
export async function generateLog(
  bench: Bench,
  { dataDir, site, rows }: { readonly dataDir: string; readonly site: string; readonly rows: number },
): Promise<void> {
  await mkdir(dataDir);
  // The store creates its tables. They are filled while it is closed.
  await (await openActivityStore({ dataDir, logger: silentLogger(), clock: Date.now })).close();
  bench.log(`Making up ${rows.toLocaleString('en-GB')} visits.`);
  const to = Math.floor(Date.now() / 1000);
  generateActivity(getLogFile(dataDir), { site, rows, to, log: bench.log });
}

/** Path of the Activity Log in a data folder. */
export function getLogFile(dataDir: string): string {
  return join(dataDir, FILE);
}

/** Counts the visits of all sites in the log of a running guard. */
export function countRows(dataDir: string): number {
  const database = openSqlite(getLogFile(dataDir), { busyTimeoutMs: 0, readOnly: true });
  try {
    const sum = database.prepare(`select total(rows) as rows from visit_sums where kind = ${ALL_KINDS}`).get();
    return (sum as { rows: number }).rows;
  } finally {
    database.close();
  }
}
