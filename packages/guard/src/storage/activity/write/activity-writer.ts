import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { unpackVisits } from '../../../activity/packed-visits.js';
import type { NumberedVisit } from '../../../activity/visit.js';
import { setBounded } from '../../../lib/set-bounded.js';
import { type Prepare, preparedStatements } from '../../sqlite-worker/prepared-statements.js';
import type { StorageFault } from '../../storage-error.js';
import { KindBook } from './kind-book.js';
import { retain } from './retain.js';
import { RowBook } from './row-book.js';
import { DROPPED, SiteBook } from './site-book.js';
import { VisitorBook } from './visitor-book.js';
import { writeEvents } from './write-events.js';
import { writeVisits } from './write-visits.js';
import type { WriterCall } from './writer-messages.js';

/** Sites whose books are kept between commits. */
const SITES_KEPT = 256;
/** Time that one step of clearing up may take. */
const RETAIN_MS = 10;

export type VisitsCall = Extract<WriterCall, { name: 'visits' }>;

/** A fault after which the same write may succeed later. */
export function mayPass(fault: StorageFault): boolean {
  return fault === 'locked' || fault === 'full' || fault === 'input_output';
}

/** Everything that the writing thread does with its connection. Every method is one transaction: all or nothing. */
export class ActivityWriter {
  readonly #database: DatabaseSyncInstance;
  readonly #prepare: Prepare;
  readonly #visitors: VisitorBook;
  readonly #kinds: KindBook;
  readonly #rows = new RowBook();
  readonly #stretchRows: number;
  /** The least recently used first. */
  readonly #sites = new Map<string, SiteBook>();

  constructor(database: DatabaseSyncInstance, stretchRows: number) {
    this.#stretchRows = stretchRows;
    this.#database = database;
    this.#prepare = preparedStatements(database);
    this.#visitors = new VisitorBook(this.#prepare);
    this.#kinds = new KindBook(this.#prepare);
  }

  /** Writes batches, and how many visits of which site were dropped. Throws what SQLite threw. */
  writeVisits(batches: readonly VisitsCall[]): void {
    this.#transaction(() => {
      for (const [name, ofSite] of bySite(batches)) {
        const site = this.#site(name);
        site.setTimeZone(ofSite.at(-1)?.timeZone ?? 'UTC');
        const books = { site, visitors: this.#visitors, kinds: this.#kinds, rows: this.#rows };
        writeVisits(this.#prepare, books, unpackAll(ofSite));
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
          return this.#visitors.ofAddress(this.#site(call.site).number, call.address, call.at);
        });
      case 'visitor-of-user':
        return this.#transaction(() => this.#visitors.ofUser(this.#site(call.site).number, call.user, call.at));
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
            keep: call.keep,
            now: call.at,
            mayGoOn: () => performance.now() < end,
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

  #rollBack(): void {
    // SQLite has rolled back by itself after some faults (disk full, I/O error).
    if (this.#database.isTransaction) this.#database.exec('rollback');
    this.#visitors.forget();
    this.#kinds.forget();
    this.#rows.forget();
    this.#sites.clear();
  }

  #site(name: string): SiteBook {
    const known = this.#sites.get(name);
    if (known) {
      this.#sites.delete(name);
      this.#sites.set(name, known);
      return known;
    }
    this.#prepare('insert into activity_sites (site) values (?) on conflict do nothing').run(name);
    const row = this.#prepare('select id from activity_sites where site = ?').get(name) as { id: number };
    const site = new SiteBook(this.#prepare, row.id, this.#stretchRows);
    // The book that goes may hold counts when one transaction is about this many sites.
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
