import { setBounded } from '../../lib/set-bounded.js';
import type { SiteId } from '../../site.js';
import { cachePrepared, describeFault, type Prepare, type SqliteDatabase } from '../../storage/sqlite.js';
import type { StorageFault } from '../../storage/storage-error.js';
import type { WorkerReply } from '../../storage/storage-thread.js';
import type { NewEvent, RetainedActivity } from '../activity-store.js';
import { type PackedVisits, packVisits, unpackVisits } from '../packed-visits.js';
import type { NumberedVisit } from '../visit.js';
import { retain } from './retain.js';
import { DROPPED, SiteCounters } from './site-counters.js';
import { VisitorCache } from './visitor-cache.js';
import { RowBuffer, VisitKinds, VisitTexts, writeEvents, writeVisits } from './write-rows.js';

/** Sites whose counters are kept between commits. */
const SITES_KEPT = 256;
/** Time that one step of clearing up may take. */
const RETAIN_MS = 10;

export type VisitsCall = Extract<WriterCall, { name: 'visits' }>;

/** A fault after which the same write may succeed later. */
export function isTransient(fault: StorageFault): boolean {
  return fault === 'locked' || fault === 'full' || fault === 'input_output';
}

/** Everything that the writing thread does with its connection. Every method is one transaction: all or nothing. */
export class ActivityWriter {
  readonly #database: SqliteDatabase;
  readonly #prepare: Prepare;
  readonly #visitors: VisitorCache;
  readonly #kinds: VisitKinds;
  readonly #texts: VisitTexts;
  readonly #rows = new RowBuffer();
  readonly #bucketRows: number;
  /** The least recently used first. */
  readonly #sites = new Map<string, SiteCounters>();
  /** SQLite's number of the state that other connections left; null before the first transaction. */
  #version: number | null = null;

  constructor(database: SqliteDatabase, bucketRows: number) {
    this.#bucketRows = bucketRows;
    this.#database = database;
    this.#prepare = cachePrepared(database);
    this.#visitors = new VisitorCache(this.#prepare);
    this.#kinds = new VisitKinds(this.#prepare);
    this.#texts = new VisitTexts(this.#prepare);
  }

  /** Writes batches, and how many visits of which site were dropped. Throws what SQLite threw. */
  writeVisits(batches: readonly VisitsCall[]): void {
    this.#transaction(() => {
      for (const [name, ofSite] of bySite(batches)) {
        const site = this.#site(name);
        site.setTimeZone(ofSite.at(-1)?.timeZone ?? 'UTC');
        const caches = { site, visitors: this.#visitors, kinds: this.#kinds, texts: this.#texts, rows: this.#rows };
        writeVisits(this.#prepare, caches, unpackAll(ofSite));
        for (const { dropped, at } of ofSite) if (dropped > 0) site.countHits(at, DROPPED, dropped);
      }
    });
  }

  /** Carries out any other call. Throws what SQLite threw. */
  run(call: Exclude<WriterCall, VisitsCall>): unknown {
    switch (call.name) {
      case 'events':
        return this.#onDisk(() => {
          const site = this.#site(call.site);
          site.setTimeZone(call.timeZone);
          writeEvents(this.#prepare, { site, visitors: this.#visitors }, call.events);
        });
      case 'visitor-of-address':
        return this.#transaction(() => {
          return this.#visitors.findByAddress(this.#site(call.site).number, call.address, call.at);
        });
      case 'visitor-of-user':
        return this.#transaction(() => this.#visitors.findByUser(this.#site(call.site).number, call.user, call.at));
      case 'hostname':
        return this.#transaction(() => {
          const { number } = this.#site(call.site);
          this.#visitors.setHostname(number, call.visitor, call.hostname, call.verifiedBot);
        });
      case 'retain':
        return this.#transaction(() => {
          const end = performance.now() + RETAIN_MS;
          return retain({
            prepare: this.#prepare,
            site: this.#site(call.site),
            visitors: this.#visitors,
            texts: this.#texts,
            keep: call.keep,
            now: call.at,
            hasTimeLeft: () => performance.now() < end,
          });
        });
    }
  }

  /** As a transaction, but on the disk when it returns, so that not even a power cut takes it back. */
  #onDisk<Result>(work: () => Result): Result {
    this.#database.exec('pragma synchronous = full');
    try {
      return this.#transaction(work);
    } finally {
      this.#database.exec('pragma synchronous = normal');
    }
  }

  #transaction<Result>(work: () => Result): Result {
    this.#database.exec('begin immediate');
    try {
      this.#checkForChanges();
      const result = work();
      this.#visitors.flush();
      for (const site of this.#sites.values()) site.flush();
      this.#database.exec('commit');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /**
   * Drops the caches when another process has changed the file (`privacy erase`, `erase`): they would bring back what
   * it removed. Inside the transaction nobody else can change it.
   */
  #checkForChanges(): void {
    const { data_version: version } = this.#prepare('pragma data_version').get() as { data_version: number };
    if (this.#version !== null && this.#version !== version) this.#clearCaches();
    this.#version = version;
  }

  #rollBack(): void {
    // SQLite has rolled back by itself after some faults (disk full, I/O error).
    if (this.#database.isTransaction) this.#database.exec('rollback');
    this.#clearCaches();
  }

  #clearCaches(): void {
    this.#visitors.clear();
    this.#kinds.clear();
    this.#texts.clear();
    this.#rows.clear();
    this.#sites.clear();
  }

  #site(name: string): SiteCounters {
    const known = this.#sites.get(name);
    if (known) {
      this.#sites.delete(name);
      this.#sites.set(name, known);
      return known;
    }
    this.#prepare('insert into activity_sites (site) values (?) on conflict do nothing').run(name);
    const row = this.#prepare('select id from activity_sites where site = ?').get(name) as { id: number };
    const site = new SiteCounters(this.#prepare, row.id, this.#bucketRows);
    // The counters that are dropped may hold counts when one transaction concerns this many sites.
    if (this.#sites.size >= SITES_KEPT) this.#sites.values().next().value?.flush();
    setBounded(this.#sites, name, site, SITES_KEPT);
    return site;
  }
}

function* unpackAll(batches: readonly VisitsCall[]): Generator<NumberedVisit> {
  for (const { visits } of batches) yield* unpackVisits(visits);
}

function bySite(batches: readonly VisitsCall[]): Map<string, VisitsCall[]> {
  const sites = new Map<string, VisitsCall[]>();
  for (const batch of batches) {
    const known = sites.get(batch.site);
    if (known) known.push(batch);
    else sites.set(batch.site, [batch]);
  }
  return sites;
}

/** How the writing thread works. */
export interface WriterSettings {
  /** Absolute path of the database file, whose tables are up to date. */
  readonly file: string;
  /** How long it waits for a lock of another process, milliseconds. */
  readonly busyTimeoutMs: number;
  /** Longest time that a visit waits for its commit, milliseconds. */
  readonly commitMs: number;
  /** Visits that may wait while nothing can be written. */
  readonly maxWaiting: number;
  /** Rows after which a new bucket begins. */
  readonly bucketRows: number;
}

/** What the writing thread does. `at` is now, Unix seconds; `timeZone` the site's, by whose days the tops are counted. */
export type WriterCall =
  | {
      readonly name: 'visits';
      readonly site: SiteId;
      readonly timeZone: string;
      readonly visits: PackedVisits;
      readonly dropped: number;
      readonly at: number;
    }
  | {
      readonly name: 'events';
      readonly site: SiteId;
      readonly timeZone: string;
      readonly events: readonly NewEvent[];
    }
  | { readonly name: 'visitor-of-address'; readonly site: SiteId; readonly address: string; readonly at: number }
  | {
      readonly name: 'visitor-of-user';
      readonly site: SiteId;
      readonly user: { readonly id: number; readonly login: string };
      readonly at: number;
    }
  | {
      readonly name: 'hostname';
      readonly site: SiteId;
      readonly visitor: number;
      readonly hostname: string | null;
      readonly verifiedBot: string | null;
    }
  | { readonly name: 'retain'; readonly site: SiteId; readonly keep: RetainedActivity; readonly at: number };

/** Wait before a failed commit is tried again, milliseconds. */
const RETRY_MS = 1000;

/**
 * Batches that wait for the next commit. While nothing can be written (database locked, disk full) it holds a bounded
 * number of visits and counts the others as dropped.
 */
export class VisitQueue {
  readonly #writer: ActivityWriter;
  readonly #settings: WriterSettings;
  readonly #reply: (message: WorkerReply<null>) => void;
  #waiting: { id: number; call: VisitsCall }[] = [];
  #visits = 0;
  #timer: NodeJS.Timeout | undefined;
  #failing = false;

  constructor(writer: ActivityWriter, settings: WriterSettings, reply: (message: WorkerReply<null>) => void) {
    this.#writer = writer;
    this.#settings = settings;
    this.#reply = reply;
  }

  add(id: number, call: VisitsCall): void {
    const size = call.visits.weight;
    const { maxWaiting, commitMs } = this.#settings;
    if (this.#visits + size > maxWaiting && this.#waiting.length > 0) this.#drop(id, call);
    else {
      this.#waiting.push({ id, call });
      this.#visits += size;
    }
    this.#timer ??= setTimeout(() => this.#commit(), this.#failing ? RETRY_MS : commitMs);
  }

  /** Writes what waits, as far as it can be written. */
  close(): void {
    this.#commit();
    clearTimeout(this.#timer);
  }

  #commit(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    try {
      this.#writer.writeVisits(this.#waiting.map(({ call }) => call));
    } catch (error) {
      this.#failed(error);
      return;
    }
    if (this.#failing) this.#note('activity-log-written-again', 'Visits are written again.');
    this.#failing = false;
    const done = this.#waiting;
    this.#waiting = [];
    this.#visits = 0;
    for (const { id } of done) this.#reply({ kind: 'done', id, result: null });
  }

  #failed(error: unknown): void {
    const { fault, message } = describeFault(error);
    if (isTransient(fault)) {
      if (!this.#failing) this.#note('activity-log-not-written', `Visits can’t be written: ${message}`);
      this.#failing = true;
      this.#timer = setTimeout(() => this.#commit(), RETRY_MS);
      return;
    }
    const failed = this.#waiting;
    this.#waiting = [];
    this.#visits = 0;
    for (const { id } of failed) this.#reply({ kind: 'failed', id, fault, message });
  }

  /** Keeps the number of a batch instead of the batch. */
  #drop(id: number, call: VisitsCall): void {
    const last = this.#waiting.findLast((entry) => entry.call.site === call.site);
    const dropped = call.dropped + call.visits.hits;
    if (last) last.call = { ...last.call, dropped: last.call.dropped + dropped };
    else this.#waiting.push({ id, call: { ...call, visits: packVisits([]), dropped } });
    if (last) this.#reply({ kind: 'done', id, result: null });
  }

  #note(event: string, message: string): void {
    this.#reply({ kind: 'note', event, message });
  }
}
