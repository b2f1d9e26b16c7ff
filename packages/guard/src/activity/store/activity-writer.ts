import type { AttackGoal } from '@security-optimizer/contract/activity/attackers';
import { setBounded } from '../../lib/collections.js';
import type { SiteId } from '../../site.js';
import { cachePrepared, type Prepare, type SqliteDatabase, toSqliteFault } from '../../storage/sqlite.js';
import type { StorageFault } from '../../storage/storage-error.js';
import type { WorkerReply } from '../../storage/storage-thread.js';
import type { NewEvent, RetainedActivity, VisitBatch } from '../activity-store.js';
import { attackGoal, attackTarget, toPath } from '../attack-goal.js';
import { countHits, packVisits, readAddressCounts, unpackVisits } from '../packed-visits.js';
import type { NumberedVisit } from '../visit.js';
import { retain } from './retain.js';
import { type BufferedRow, RowBuffer, VisitKinds, VisitTexts } from './row-caches.js';
import { toFirstId, toHour, toLastId } from './row-keys.js';
import { DROPPED, FAILED_LOGINS, SiteCounters } from './site-counters.js';
import { VisitorCache } from './visitor-cache.js';

/** Sites whose counters are kept between commits. */
const SITES_MAX = 256;
/** Duration of one step of retention. */
const RETAIN_MS = 10;

export type VisitsCall = Extract<WriterCall, { name: 'visits' }>;

/** A fault after which the same write may succeed later. */
function isTransient(fault: StorageFault): boolean {
  return fault === 'locked' || fault === 'full' || fault === 'input_output';
}

/** Everything that the writer thread does with its connection. Every method is one transaction: all or nothing. */
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
  /** SQLite's number of the state after other connections' changes; null before the first transaction. */
  #version: number | null = null;

  constructor(database: SqliteDatabase, bucketRows: number) {
    this.#bucketRows = bucketRows;
    this.#database = database;
    this.#prepare = cachePrepared(database);
    this.#visitors = new VisitorCache(this.#prepare);
    this.#kinds = new VisitKinds(this.#prepare);
    this.#texts = new VisitTexts(this.#prepare);
  }

  /** Writes batches, and counts the dropped visits of each site. Throws SQLite's errors. */
  writeVisits(batches: readonly DatedBatch[]): void {
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

  /** Executes any other call. Throws SQLite's errors. */
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

  /** Runs a transaction that is on disk when it returns, so that it survives even a power failure. */
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
   * Clears the caches when another process has changed the file (`privacy erase`, `erase`): they would restore what it
   * erased. Within the transaction no other process can change the file.
   */
  #checkForChanges(): void {
    const { data_version: version } = this.#prepare('pragma data_version').get() as { data_version: number };
    if (this.#version !== null && this.#version !== version) this.#clearCaches();
    this.#version = version;
  }

  #rollBack(): void {
    // SQLite rolls back by itself after some faults (disk full, I/O error).
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
    // The evicted counters may contain counts when one transaction concerns this many sites.
    if (this.#sites.size >= SITES_MAX) this.#sites.values().next().value?.flush();
    setBounded(this.#sites, name, site, SITES_MAX);
    return site;
  }
}

function* unpackAll(batches: readonly DatedBatch[]): Generator<NumberedVisit> {
  for (const { visits } of batches) yield* unpackVisits(visits);
}

function bySite(batches: readonly DatedBatch[]): Map<string, DatedBatch[]> {
  const sites = new Map<string, DatedBatch[]>();
  for (const batch of batches) {
    const known = sites.get(batch.site);
    if (known) known.push(batch);
    else sites.set(batch.site, [batch]);
  }
  return sites;
}

const ONE_VISIT = { visits: 1, events: 0 };

/**
 * Writes visits and counts them; the caller holds the transaction and flushes the caches. A visit that repeats one of
 * the same second adds to its row.
 */
function writeVisits(
  prepare: Prepare,
  caches: {
    readonly site: SiteCounters;
    readonly visitors: VisitorCache;
    readonly kinds: VisitKinds;
    readonly texts: VisitTexts;
    readonly rows: RowBuffer;
  },
  visits: Iterable<NumberedVisit>,
): void {
  const { site, visitors, kinds, texts, rows } = caches;
  const insert = prepare(
    `insert into visits (site, id, kind, visitor, count, target, more, more_bits, method, agent, referer, origin,
       reference, last_reference, failed, tried) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const add = prepare(
    'update visits set count = count + ?, last_reference = max(last_reference, ?) where site = ? and id = ?',
  );

  /** Adds a visit to the row that it repeats. Returns null when there is none, or not any more. */
  function addToRow(visit: NumberedVisit, second: number): BufferedRow | null {
    const row = rows.find(visit.repeats, site.number, second);
    if (row === null) return null;
    const { count, lastReference = 0 } = visit;
    return add.run(count, lastReference, site.number, row.id).changes === 1 ? row : null;
  }

  function writeRow(visit: NumberedVisit, second: number): BufferedRow {
    const visitor = visitors.count(site.number, visit.address, second, ONE_VISIT);
    const { agent, status, rule, target, count, more, moreBits, method = '', failedLogins = 0, tried = '' } = visit;
    const type = kinds.toType(agent, visitor.verifiedBot);
    const isKnownCrawler = visitor.verifiedBot !== null;
    const goal = attackGoal({ rule, target, status, method, failedLogins, isKnownCrawler });
    const kind = kinds.toId({ type, status, rule, goal, failed: failedLogins > 0 });
    const id = site.newId(second);
    const textIds = [agent ?? '', visit.referer ?? '', visit.origin ?? ''].map((text) =>
      texts.toId(site.number, text, second),
    ) as [number, number, number];
    const references = [visit.reference ?? 0, visit.lastReference ?? visit.reference ?? 0] as const;
    const login = tried === '' ? '' : Buffer.from(tried, 'latin1').toString('utf8');
    insert.run(
      ...[site.number, id, kind, visitor.id, count, target, more, moreBits],
      ...[method, ...textIds, ...references, failedLogins, login],
    );
    site.countRow(id, kind);
    return { id, kind };
  }

  /** Counts attacks: each request that a rule refused, each wrong password in another one, and each other scan. */
  function countAttacks(visit: NumberedVisit, second: number, goal: AttackGoal): void {
    const { rule, address, count, more, moreBits, failedLogins = 0 } = visit;
    const isRefused = rule !== null;
    // A visit without a row only adds failed logins to a request that has its row already.
    const requests = Math.max(count, 1);
    const passwords = isRefused ? 0 : failedLogins * requests;
    if (failedLogins > 0) countFailedLogins(visit, second, requests);
    const scanned = isRefused || failedLogins > 0 ? 0 : count;
    const path = attackTarget(visit.target);
    // The folded requests may have had other paths.
    const folded = isRefused && moreBits === null ? more : 0;
    const refused = isRefused ? count - folded : 0;
    const attack = {
      ...{ goal, at: second, refused: 0, failed: 0, scanned: 0, address, target: null },
      isFailedLogin: failedLogins > 0,
    };
    const hits = refused + passwords + scanned;
    if (hits > 0) site.countAttack({ ...attack, target: path, refused, failed: passwords, scanned });
    if (folded > 0) site.countAttack({ ...attack, refused: folded });
    if (hits > 0) site.countTop(second, 'attacked-page', path, hits);
    if (!isRefused) return;
    for (const other of readAddressCounts(visit.others)) {
      site.countAttack({ ...attack, address: other.address, refused: other.hits });
    }
  }

  /** Counts each password that was wrong or refused, for the address that sent it. @param requests of the address */
  function countFailedLogins(visit: NumberedVisit, second: number, requests: number): void {
    const { address, more, moreBits, failedLogins = 0 } = visit;
    site.countHits(second, FAILED_LOGINS, failedLogins * (requests + (moreBits === null ? 0 : more)));
    site.countTop(second, 'failed-login', address, failedLogins * requests);
    for (const { address: other, hits } of readAddressCounts(visit.others)) {
      site.countTop(second, 'failed-login', other, failedLogins * hits);
    }
  }

  for (const visit of visits) {
    const { rule, address, count } = visit;
    const second = Math.floor(visit.at / 1000);
    if (count === 0) {
      countAttacks(visit, second, 'passwords');
      continue;
    }
    const row = addToRow(visit, second) ?? writeRow(visit, second);
    rows.put(visit.number, site.number, row);
    site.countHits(second, row.kind, countHits(visit));
    site.countTop(second, 'address', address, count);
    for (const other of readAddressCounts(visit.others)) site.countTop(second, 'address', other.address, other.hits);
    const goal = kinds.getGoal(row.kind);
    if (rule !== null || (visit.failedLogins ?? 0) > 0 || goal !== null) {
      countAttacks(visit, second, goal ?? 'overload');
    }
    if (rule === null && visit.status < 300) site.countTop(second, 'page', toPath(visit.target), count);
  }
}

const ONE_EVENT = { visits: 0, events: 1 };

/** Writes events that are not stored yet, and counts them; the caller holds the transaction and flushes the caches. */
function writeEvents(
  prepare: Prepare,
  caches: { readonly site: SiteCounters; readonly visitors: VisitorCache },
  events: readonly NewEvent[],
): void {
  const { site, visitors } = caches;
  const known = prepare('select 1 from events where site = ? and uid = ?');
  const insert = prepare(
    `insert into events (site, id, uid, kind, visitor, user_id, login, address, address_visitor, object, object_type,
       before, after, origin) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const hour = prepare(
    `insert into event_hours (site, hour, kind, count) values (?, ?, ?, 1)
     on conflict (site, hour, kind) do update set count = count + 1`,
  );
  for (const event of events) {
    if (known.get(site.number, event.uid)) continue;
    const { user, address } = event;
    const at = Math.floor(event.at);
    const visitor = user === null ? 0 : visitors.findByUser(site.number, user, at, 1).id;
    const addressVisitor = address === '' ? 0 : visitors.count(site.number, address, at, ONE_EVENT).id;
    insert.run(
      site.number,
      newId(prepare, site.number, at),
      event.uid,
      event.kind,
      visitor,
      user?.id ?? 0,
      user?.login ?? event.program ?? '',
      address,
      addressVisitor,
      event.object,
      event.objectType,
      event.before,
      event.after,
      event.origin,
    );
    hour.run(site.number, toHour(at), event.kind);
  }
}

function newId(prepare: Prepare, site: number, second: number): number {
  const { id } = prepare('select max(id) as id from events where site = ? and id between ? and ?').get(
    site,
    toFirstId(second),
    toLastId(second),
  ) as { id: number | null };
  return id === null ? toFirstId(second) : id + 1;
}

/** Settings of the writer thread. */
export interface WriterSettings {
  /** Absolute path of the database file, whose tables are up to date. */
  readonly file: string;
  /** How long a write waits for a lock of another process, milliseconds. */
  readonly busyTimeoutMs: number;
  /** Longest time that a visit waits for its commit, milliseconds. */
  readonly commitMs: number;
  /** Visits that may wait while nothing can be written. */
  readonly maxWaiting: number;
  /** Rows after which a new bucket begins. */
  readonly bucketRows: number;
}

/**
 * A batch of visits. `at` is the time at which it was sent, Unix seconds; `timeZone` is that of the site, whose days the
 * tops are counted by.
 */
export interface DatedBatch extends VisitBatch {
  readonly timeZone: string;
  readonly at: number;
}

/** A call to the writer thread. `at` and `timeZone`: see `DatedBatch`. */
export type WriterCall =
  | { readonly name: 'visits'; readonly batches: readonly DatedBatch[] }
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

/** Pause before a failed commit is tried again, milliseconds. */
const RETRY_MS = 1000;

/**
 * Batches that wait for the next commit. While nothing can be written (database locked, disk full) the queue holds a
 * bounded number of visits and counts the others as dropped.
 */
export class VisitQueue {
  readonly #writer: ActivityWriter;
  readonly #settings: WriterSettings;
  readonly #reply: (message: WorkerReply<null>) => void;
  #waiting: DatedBatch[] = [];
  /** Calls whose batches wait. */
  #calls: number[] = [];
  #visits = 0;
  #timer: NodeJS.Timeout | undefined;
  #failing = false;

  constructor(writer: ActivityWriter, settings: WriterSettings, reply: (message: WorkerReply<null>) => void) {
    this.#writer = writer;
    this.#settings = settings;
    this.#reply = reply;
  }

  add(id: number, { batches }: VisitsCall): void {
    const { maxWaiting, commitMs } = this.#settings;
    const before = this.#waiting.length;
    for (const batch of batches) {
      const { weight } = batch.visits;
      if (this.#visits + weight > maxWaiting && this.#waiting.length > 0) this.#drop(batch);
      else {
        this.#waiting.push(batch);
        this.#visits += weight;
      }
    }
    if (this.#waiting.length > before) this.#calls.push(id);
    else this.#reply({ kind: 'done', id, result: null });
    this.#timer ??= setTimeout(() => this.#commit(), this.#failing ? RETRY_MS : commitMs);
  }

  /** Writes the waiting batches, as far as possible. */
  close(): void {
    this.#commit();
    clearTimeout(this.#timer);
  }

  #commit(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    try {
      this.#writer.writeVisits(this.#waiting);
    } catch (error) {
      this.#failed(error);
      return;
    }
    if (this.#failing) this.#note('activity-log-write-recovered', 'Visits are written again.');
    this.#failing = false;
    for (const id of this.#clear()) this.#reply({ kind: 'done', id, result: null });
  }

  /** Empties the queue. Returns the calls that waited. */
  #clear(): readonly number[] {
    const calls = this.#calls;
    this.#calls = [];
    this.#waiting = [];
    this.#visits = 0;
    return calls;
  }

  #failed(error: unknown): void {
    const { fault, message } = toSqliteFault(error);
    if (isTransient(fault)) {
      if (!this.#failing) this.#note('activity-log-write-failed', `Visits can’t be written: ${message}`);
      this.#failing = true;
      this.#timer = setTimeout(() => this.#commit(), RETRY_MS);
      return;
    }
    for (const id of this.#clear()) this.#reply({ kind: 'failed', id, fault, message });
  }

  /** Replaces a batch by the number of its visits. */
  #drop(batch: DatedBatch): void {
    const dropped = batch.dropped + batch.visits.hits;
    const at = this.#waiting.findLastIndex(({ site }) => site === batch.site);
    const last = this.#waiting[at];
    if (last !== undefined) this.#waiting[at] = { ...last, dropped: last.dropped + dropped };
    else this.#waiting.push({ ...batch, visits: packVisits([]), dropped });
  }

  #note(event: string, message: string): void {
    this.#reply({ kind: 'note', event, message });
  }
}
