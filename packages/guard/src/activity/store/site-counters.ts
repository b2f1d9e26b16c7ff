import { setBounded } from '../../lib/collections.js';
import { endOfLocalDay, localDate, startOfLocalDay } from '../../lib/time-zone.js';
import type { Prepare } from '../../storage/sqlite.js';
import { type Attack, AttackCounters } from './attack-counters.js';
import { ROWS_PER_SECOND, toFirstId, toHour, toLastId } from './row-keys.js';
import type { TopWhat } from './schema.js';
import { type TopCount, TopCounters } from './top-counters.js';

/** Rows after which a new bucket begins; a reader may have to scan this many to find one page. */
export const BUCKET_ROWS = 4096;
/** Counters of one day's most frequent values. */
export const TOP_COUNTERS = 256;
/** Seconds whose next free number is kept. */
const SECONDS_MAX = 32;
/** Days whose counters are kept in memory: the latest visits may still belong to yesterday. */
const TOPS_MAX = 6;

/** Kind of the counts of all kinds, in `visit_stretches`, and of visits that were not recorded, in `visit_hours`. */
export const ALL_KINDS = 0;
export const DROPPED = 0;
/** Kind of wrong passwords, in `visit_hours`. */
export const FAILED_LOGINS = -1;

/** Counters of one site: assigns row ids, and counts rows in memory until `flush`, which each transaction calls. */
export class SiteCounters {
  readonly number: number;
  readonly #prepare: Prepare;
  readonly #bucketRows: number;
  #timeZone = 'UTC';
  /** The day of the last visit, and when it begins and ends: most visits are on the same day. */
  #day = { from: 0, to: 0, name: '' };
  /** Next free number of a second. */
  readonly #seconds = new Map<number, number>();
  #newest: { id: number; start: number; rows: number } | null = null;
  readonly #buckets = new Map<string, { kind: number; start: number; rows: number }>();
  readonly #hours = new Map<string, { hour: number; kind: number; hits: number }>();
  readonly #attacks: AttackCounters;
  readonly #tops = new Map<string, { day: string; what: TopWhat; counters: TopCounters }>();

  constructor(prepare: Prepare, number: number, bucketRows: number) {
    this.#bucketRows = bucketRows;
    this.#prepare = prepare;
    this.number = number;
    this.#attacks = new AttackCounters(prepare, number);
  }

  /** Sets the time zone by whose days the tops are counted. Earlier days do not change. */
  setTimeZone(timeZone: string): void {
    if (timeZone === this.#timeZone) return;
    this.#timeZone = timeZone;
    this.#day = { from: 0, to: 0, name: '' };
  }

  /**
   * Returns a free id for a visit.
   * @param second Unix seconds
   */
  newId(second: number): number {
    const next = this.#seconds.get(second) ?? this.#nextInStorage(second);
    if (next >= ROWS_PER_SECOND) return this.newId(second + 1);
    this.#seconds.delete(second);
    setBounded(this.#seconds, second, next + 1, SECONDS_MAX);
    return toFirstId(second) + next;
  }

  countRow(id: number, kind: number): void {
    const start = this.#findBucketStart(id);
    this.#addTo(this.#buckets, `${kind} ${start}`, () => ({ kind, start, rows: 0 })).rows++;
    this.#addTo(this.#buckets, `${ALL_KINDS} ${start}`, () => ({ kind: ALL_KINDS, start, rows: 0 })).rows++;
  }

  countHits(second: number, kind: number, hits: number): void {
    const hour = toHour(second);
    this.#addTo(this.#hours, `${kind} ${hour}`, () => ({ hour, kind, hits: 0 })).hits += hits;
  }

  /** Counts refused requests or wrong passwords. */
  countAttack(attack: Attack): void {
    this.#attacks.count(this.#getDay(attack.at), attack);
  }

  countTop(second: number, what: TopWhat, value: string, hits: number): void {
    const day = this.#getDay(second);
    const key = `${day} ${what}`;
    let top = this.#tops.get(key);
    if (!top) {
      top = { day, what, counters: this.#readTop(day, what) };
      this.#tops.set(key, top);
    }
    top.counters.add(value, hits);
  }

  flush(): void {
    const bucket = this.#prepare(
      `insert into visit_stretches (site, kind, start, rows) values (?, ?, ?, ?)
       on conflict (site, kind, start) do update set rows = rows + excluded.rows`,
    );
    const sum = this.#prepare(
      `insert into visit_sums (site, kind, rows) values (?, ?, ?)
       on conflict (site, kind) do update set rows = rows + excluded.rows`,
    );
    for (const { kind, start, rows } of this.#buckets.values()) {
      bucket.run(this.number, kind, start, rows);
      sum.run(this.number, kind, rows);
    }
    this.#buckets.clear();
    const hour = this.#prepare(
      `insert into visit_hours (site, hour, kind, hits) values (?, ?, ?, ?)
       on conflict (site, hour, kind) do update set hits = hits + excluded.hits`,
    );
    for (const entry of this.#hours.values()) hour.run(this.number, entry.hour, entry.kind, entry.hits);
    this.#hours.clear();
    this.#flushTops();
    this.#attacks.flush();
  }

  /** Makes the newest bucket be read again, after rows of it were deleted. */
  forgetBuckets(): void {
    this.#newest = null;
    this.#seconds.clear();
  }

  #addTo<Entry>(entries: Map<string, Entry>, key: string, make: () => Entry): Entry {
    const known = entries.get(key);
    if (known) return known;
    const entry = make();
    entries.set(key, entry);
    return entry;
  }

  #getDay(second: number): string {
    if (second < this.#day.from || second >= this.#day.to) {
      this.#day = {
        from: startOfLocalDay(this.#timeZone, second),
        to: endOfLocalDay(this.#timeZone, second),
        name: localDate(this.#timeZone, second),
      };
    }
    return this.#day.name;
  }

  #nextInStorage(second: number): number {
    const { id } = this.#prepare('select max(id) as id from visits where site = ? and id between ? and ?').get(
      this.number,
      toFirstId(second),
      toLastId(second),
    ) as { id: number | null };
    return id === null ? 0 : id - toFirstId(second) + 1;
  }

  /**
   * Returns the start of a row's bucket: the last one that is not after it. A new bucket only begins above or below all
   * others, so that no row ever changes its bucket.
   */
  #findBucketStart(id: number): number {
    this.#newest ??= this.#readNewest(id);
    const newest = this.#newest;
    if (id > newest.id) {
      newest.id = id;
      if (newest.rows >= this.#bucketRows) {
        newest.start = id;
        newest.rows = 0;
        this.#begin(id);
      }
    }
    if (id >= newest.start) {
      newest.rows++;
      return newest.start;
    }
    const { start } = this.#prepare(
      `select max(start) as start from visit_stretches where site = ? and kind = ${ALL_KINDS} and start <= ?`,
    ).get(this.number, id) as { start: number | null };
    if (start === null) this.#begin(id);
    return start ?? id;
  }

  #readNewest(id: number): { id: number; start: number; rows: number } {
    const bucket = this.#prepare(
      `select start, rows from visit_stretches where site = ? and kind = ${ALL_KINDS} order by start desc limit 1`,
    ).get(this.number) as { start: number; rows: number } | undefined;
    const row = this.#prepare('select max(id) as id from visits where site = ?').get(this.number);
    if (bucket) return { id: (row as { id: number | null }).id ?? bucket.start, ...bucket };
    this.#begin(id);
    return { id, start: id, rows: 0 };
  }

  #begin(start: number): void {
    this.#prepare(
      'insert into visit_stretches (site, kind, start, rows) values (?, ?, ?, 0) on conflict do nothing',
    ).run(this.number, ALL_KINDS, start);
  }

  #readTop(day: string, what: TopWhat): TopCounters {
    if (this.#tops.size >= TOPS_MAX) {
      this.#flushTops();
      this.#tops.delete([...this.#tops.keys()].sort()[0] as string);
    }
    const rows = this.#prepare(
      'select value, hits, excess from top_visits where site = ? and day = ? and what = ?',
    ).all(this.number, day, what) as unknown as ({ value: string } & TopCount)[];
    const counts = rows.map(({ value, hits, excess }) => [value, { hits, excess }] as const);
    return new TopCounters(TOP_COUNTERS, counts);
  }

  #flushTops(): void {
    const put = this.#prepare(
      `insert into top_visits (site, day, what, value, hits, excess) values (?, ?, ?, ?, ?, ?)
       on conflict (site, day, what, value) do update set hits = excluded.hits, excess = excluded.excess`,
    );
    const remove = this.#prepare('delete from top_visits where site = ? and day = ? and what = ? and value = ?');
    for (const { day, what, counters } of this.#tops.values()) {
      const { changed, removed } = counters.takeChanges();
      for (const value of removed) remove.run(this.number, day, what, value);
      for (const [value, { hits, excess }] of changed) put.run(this.number, day, what, value, hits, excess);
    }
  }
}
