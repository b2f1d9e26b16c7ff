import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { addressOf } from '@security-optimizer/guard/lib/address';
import { firstIdOf, hourOf, secondOf } from '@security-optimizer/guard/storage/activity/row-id';
import { keyOfAddress } from '@security-optimizer/guard/storage/activity/visitor-key';
import { ALL_KINDS, STRETCH_ROWS, TOP_COUNTERS } from '@security-optimizer/guard/storage/activity/write/site-book';
import { madeUpVisits, VISITORS, visitKinds } from './made-up-visits.js';

/** 192.0.2.0/24, 198.51.100.0/24 and 203.0.113.0/24. */
const IPV4_NETWORKS = [0xc0000200, 0xc6336400, 0xcb007100];
/** Rows between two signs of life. */
const TOLD_EACH = 1_000_000;

/**
 * Fills the tables of an Activity Log that the store has made, and that nobody has open, with visits of one site: rows,
 * visitors and all sums as the store itself would have left them, many times faster. Indexes are taken away while rows
 * come and are made again from their own definitions.
 *
 * @param to the time of the newest row, Unix seconds
 */
export function generateActivity(
  file: string,
  options: { readonly site: string; readonly rows: number; readonly to: number; readonly say: (text: string) => void },
): void {
  const database = new DatabaseSync(file);
  try {
    for (const pragma of ['journal_mode = OFF', 'synchronous = OFF', 'cache_size = -200000', 'temp_store = FILE']) {
      database.exec(`PRAGMA ${pragma}`);
    }
    database.exec('begin');
    const indexes = takeIndexes(database);
    const sums = writeRows(database, options);
    writeSums(database, sums);
    options.say('Making the indexes.');
    for (const sql of indexes) database.exec(sql);
    database.exec('commit');
    database.exec('PRAGMA journal_mode = WAL');
  } finally {
    database.close();
  }
}

function takeIndexes(database: DatabaseSyncInstance): string[] {
  const indexes = database
    .prepare(`select name, sql from sqlite_master where type = 'index' and sql is not null`)
    .all() as unknown as { name: string; sql: string }[];
  for (const { name } of indexes) database.exec(`drop index ${name}`);
  return indexes.map(({ sql }) => sql);
}

/** What the store would have counted while the rows came. */
interface Sums {
  /** Rows of each kind, by the start of their stretch. */
  readonly stretches: Map<number, Uint32Array>;
  /** Hits of each kind, by hour. */
  readonly hours: Map<number, Uint32Array>;
  readonly visitors: { rows: Uint32Array; first: Float64Array; last: Float64Array };
  /** By the first second of a day. */
  readonly days: Map<number, { addresses: Uint32Array; pages: Map<string, number> }>;
}

function writeRows(
  database: DatabaseSyncInstance,
  { site, rows, to, say }: Parameters<typeof generateActivity>[1],
): Sums {
  database.prepare('insert into activity_sites (id, site) values (1, ?)').run(site);
  const kind = database.prepare('insert into visit_kinds (id, type, status, rule) values (?, ?, ?, ?)');
  for (const [index, { type, status, rule }] of visitKinds.entries()) kind.run(index + 1, type, status, rule);
  const insert = database.prepare(
    'insert into visits (site, id, kind, visitor, count, target) values (1, ?, ?, ?, 1, ?)',
  );
  const sums: Sums = {
    stretches: new Map(),
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
  for (const visit of madeUpVisits(rows, to)) {
    id = Math.max(id + 1, firstIdOf(visit.second));
    if (written % STRETCH_ROWS === 0) start = id;
    insert.run(id, visit.kind + 1, visit.visitor + 1, visit.target);
    count(sums, { ...visit, second: secondOf(id) }, start);
    written++;
    if (written % TOLD_EACH === 0) say(`${written.toLocaleString('en-GB')} rows`);
  }
  return sums;
}

function count(
  { stretches, hours, visitors, days }: Sums,
  visit: { second: number; kind: number; visitor: number; target: string },
  start: number,
): void {
  increase(entry(stretches, start, newTally), visit.kind);
  increase(entry(hours, hourOf(visit.second), newTally), visit.kind);
  if (visitors.rows[visit.visitor] === 0) visitors.first[visit.visitor] = visit.second;
  increase(visitors.rows, visit.visitor);
  visitors.last[visit.visitor] = visit.second;
  const { addresses, pages } = entry(days, visit.second - (visit.second % 86_400), newDay);
  increase(addresses, visit.visitor);
  if (visitKinds[visit.kind]?.status === 200) pages.set(visit.target, (pages.get(visit.target) ?? 0) + 1);
}

const sumOf = (tally: Uint32Array) => tally.reduce((sum, rows) => sum + rows, 0);

const newTally = () => new Uint32Array(visitKinds.length);
const newDay = () => ({ addresses: new Uint32Array(VISITORS), pages: new Map<string, number>() });

function entry<Value>(entries: Map<number, Value>, key: number, make: () => Value): Value {
  const known = entries.get(key);
  if (known !== undefined) return known;
  const fresh = make();
  entries.set(key, fresh);
  return fresh;
}

function increase(tally: Uint32Array, index: number): void {
  tally[index] = (tally[index] ?? 0) + 1;
}

function writeSums(database: DatabaseSyncInstance, { stretches, hours, visitors, days }: Sums): void {
  const stretch = database.prepare('insert into visit_stretches (site, kind, start, rows) values (1, ?, ?, ?)');
  const sum = database.prepare(
    'insert into visit_sums (site, kind, rows) values (1, ?, ?) on conflict do update set rows = rows + excluded.rows',
  );
  for (const [start, tally] of stretches) {
    for (const [kind, rows] of [[ALL_KINDS - 1, sumOf(tally)], ...tally.entries()] as const) {
      if (rows === 0) continue;
      stretch.run(kind + 1, start, rows);
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
    const address = addressOfVisitor(index);
    visitor.run(index + 1, keyOfAddress(address), address, visitors.first[index], visitors.last[index], rows);
  }
  const top = database.prepare(
    'insert into top_visits (site, day, what, value, hits, excess) values (1, ?, ?, ?, ?, 0)',
  );
  for (const [begin, { addresses, pages }] of days) {
    const day = new Date(begin * 1000).toISOString().slice(0, 10);
    const seen = [...addresses.entries()].filter(([, hits]) => hits > 0);
    for (const [index, hits] of most(seen)) top.run(day, 'address', addressOfVisitor(index), hits);
    for (const [page, hits] of most([...pages])) top.run(day, 'page', page, hits);
  }
}

function most<Value>(counts: (readonly [Value, number])[]): (readonly [Value, number])[] {
  return counts.sort((a, b) => b[1] - a[1]).slice(0, TOP_COUNTERS);
}

/** An address of the documentation's networks (RFC 5737, RFC 3849); IPv4 has some hundred, all others are IPv6. */
export function addressOfVisitor(index: number): string {
  const network = IPV4_NETWORKS[index >>> 8];
  return addressOf(network === undefined ? [0x20010db8, 0, 0, index] : [0, 0, 0xffff, network + (index & 255)]).text;
}
