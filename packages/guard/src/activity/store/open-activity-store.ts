import { rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import type { Clock } from '../../lib/clock.js';
import type { Logger } from '../../lib/logger.js';
import type { SiteId } from '../../site.js';
import { createSqliteDialect } from '../../storage/sqlite-dialect.js';
import { StorageError } from '../../storage/storage-error.js';
import { SqliteThread, StorageThread } from '../../storage/storage-thread.js';
import type { ActivityStore, VisitBatch, Visitor } from '../activity-store.js';
import type { DatedBatch, WriterCall, WriterSettings } from './activity-writer.js';
import { droppedVisits, eventKinds, options, top, traffic, visitorHours } from './read-aggregates.js';
import {
  attacks,
  failedLoginAddresses,
  failedLogins,
  readAttackedLogins,
  readVisit,
  readVisitors,
  visitsAround,
} from './read-attacks.js';
import { countEvents, countNewEvents, listEvents, searchEvents } from './read-events.js';
import { countVisits, listVisits } from './read-visits.js';
import {
  countVisitorsIn,
  createReader,
  findNewestRow,
  findVerifiedBot,
  findVisitorById,
  type Reader,
  type ReadLimits,
  readLimits,
} from './reader.js';
import { type ActivitySchema, migrateActivity } from './schema.js';
import { countNewVisits, searchVisits } from './search-visits.js';
import { BUCKET_ROWS } from './site-counters.js';

/** How long a write waits for another process, milliseconds. Normally only guard writes to this file. */
const BUSY_TIMEOUT_MS = 5000;
/** Longest time that a visit waits for its commit, milliseconds. */
const COMMIT_MS = 500;
/** Visits that may wait while the file can't be written: five seconds of a flood. */
const MAX_WAITING = 50_000;
/** A file that could not be opened is opened again by the first call after this time, milliseconds. */
const REOPEN_MS = 1000;

export interface ActivityStoreOptions {
  readonly dataDir: string;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Time zone of a site as WordPress stores it. Default: UTC. */
  readonly timeZone?: (site: SiteId) => string;
  readonly busyTimeoutMs?: number;
  readonly commitMs?: number;
  readonly maxWaiting?: number;
  readonly bucketRows?: number;
  readonly readLimits?: ReadLimits;
}

export interface OpenActivityStore extends ActivityStore {
  /** Opens the file, or logs why it can't be used. Never rejects. */
  open(): Promise<void>;
  /** Makes the writer thread end as by a fault of its own. For tests. */
  crash(): Promise<void>;
}

/**
 * Opens the Activity Log, `activity.sqlite` in the data folder. Always resolves: while the file can't be used, calls
 * fail with StorageError, visits count as dropped, and opening is tried again. A corrupt file is moved aside and a new
 * one is created, because a broken log must not stop the site.
 */
export async function openActivityStore(options: ActivityStoreOptions): Promise<OpenActivityStore> {
  const store = createActivityStore(options);
  await store.open();
  return store;
}

/** Creates the same store without opening the file; `open` or the first call opens it. */
export function createActivityStore(options: ActivityStoreOptions): OpenActivityStore {
  return new SqliteActivityStore(options);
}

class SqliteActivityStore implements OpenActivityStore {
  readonly #settings: WriterSettings;
  readonly #limits: ReadLimits;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #timeZone: (site: SiteId) => string;
  #database: Promise<ActivityDatabase> | null = null;
  #failedAt = Number.NEGATIVE_INFINITY;
  #failing = false;
  #closed = false;
  /** Visits that were sent and are not committed yet. */
  #pendingSize = 0;
  /** Dropped visits that the writer thread has not counted yet, by site. */
  readonly #dropped = new Map<SiteId, number>();

  constructor(options: ActivityStoreOptions) {
    this.#logger = options.logger;
    this.#clock = options.clock;
    this.#timeZone = options.timeZone ?? (() => 'UTC');
    this.#limits = options.readLimits ?? readLimits;
    this.#settings = {
      file: join(options.dataDir, 'activity.sqlite'),
      busyTimeoutMs: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
      commitMs: options.commitMs ?? COMMIT_MS,
      maxWaiting: options.maxWaiting ?? MAX_WAITING,
      bucketRows: options.bucketRows ?? BUCKET_ROWS,
    };
  }

  async open(): Promise<void> {
    await this.#opened().catch(() => undefined);
  }

  async write(batches: readonly VisitBatch[]): Promise<void> {
    if (this.#closed) throw new StorageError('closed', 'The Activity Log is closed.');
    const at = this.#now();
    const sent: DatedBatch[] = [];
    let size = 0;
    for (const { site, visits, dropped } of batches) {
      const total = (this.#dropped.get(site) ?? 0) + dropped;
      this.#dropped.delete(site);
      // Twice the limit of the thread itself, which may not have read its messages for a moment.
      if (this.#pendingSize + size + visits.weight > 2 * this.#settings.maxWaiting) {
        this.#drop(site, total + visits.hits);
        continue;
      }
      size += visits.weight;
      sent.push({ site, timeZone: this.#timeZone(site), visits, dropped: total, at });
    }
    if (sent.length === 0) return;
    this.#pendingSize += size;
    try {
      await this.#write({ name: 'visits', batches: sent });
    } catch {
      for (const { site, visits, dropped } of sent) this.#drop(site, dropped + visits.hits);
    } finally {
      this.#pendingSize -= size;
    }
  }

  listVisits: ActivityStore['listVisits'] = (window) => this.#read((reader) => listVisits(reader, window));
  searchVisits: ActivityStore['searchVisits'] = (window) => this.#read((reader) => searchVisits(reader, window));
  visit: ActivityStore['visit'] = (site, id) => this.#read((reader) => readVisit(reader, site, id));
  visitsAround: ActivityStore['visitsAround'] = (site, visit, limit) =>
    this.#read((reader) => visitsAround(reader, site, visit, limit));
  countVisits: ActivityStore['countVisits'] = (site, filter, anchor) =>
    this.#read((reader) => countVisits(reader, site, filter, anchor));
  newVisits: ActivityStore['newVisits'] = (site, filter, since, limit) =>
    this.#read((reader) => countNewVisits(reader, site, filter, since, limit));
  newestVisit: ActivityStore['newestVisit'] = (site) => this.#read((reader) => findNewestRow(reader, site, 'visits'));

  writeEvents: ActivityStore['writeEvents'] = async (site, events) => {
    await this.#write({ name: 'events', site, timeZone: this.#timeZone(site), events });
  };
  listEvents: ActivityStore['listEvents'] = (window) => this.#read((reader) => listEvents(reader, window));
  searchEvents: ActivityStore['searchEvents'] = (window) => this.#read((reader) => searchEvents(reader, window));
  countEvents: ActivityStore['countEvents'] = (site, filter, anchor) =>
    this.#read((reader) => countEvents(reader, site, filter, anchor));
  newEvents: ActivityStore['newEvents'] = (site, filter, since, limit) =>
    this.#read((reader) => countNewEvents(reader, site, filter, since, limit));
  newestEvent: ActivityStore['newestEvent'] = (site) => this.#read((reader) => findNewestRow(reader, site, 'events'));

  options: ActivityStore['options'] = (site, filter, search, limit) =>
    this.#read((reader) => options(reader, site, filter, search, limit));

  getAddressVisitor: ActivityStore['getAddressVisitor'] = async (site, address) =>
    (await this.#write({ name: 'visitor-of-address', site, address, at: this.#now() })) as Visitor;
  getUserVisitor: ActivityStore['getUserVisitor'] = async (site, user) =>
    (await this.#write({ name: 'visitor-of-user', site, user, at: this.#now() })) as Visitor;
  visitor: ActivityStore['visitor'] = (site, id) => this.#read((reader) => findVisitorById(reader, site, id));
  verifiedBotIn: ActivityStore['verifiedBotIn'] = (site, range) =>
    this.#read((reader) => findVerifiedBot(reader, site, range));
  countVisitorsIn: ActivityStore['countVisitorsIn'] = (site, range, limit) =>
    this.#read((reader) => countVisitorsIn(reader, site, range, limit));
  setHostname: ActivityStore['setHostname'] = async (site, visitor, hostname, verifiedBot) => {
    await this.#write({ name: 'hostname', site, visitor, hostname, verifiedBot });
  };

  traffic: ActivityStore['traffic'] = (site, from, to) => this.#read((reader) => traffic(reader, site, from, to));
  failedLogins: ActivityStore['failedLogins'] = (site, from, to) =>
    this.#read((reader) => failedLogins(reader, site, from, to));
  failedLoginAddresses: ActivityStore['failedLoginAddresses'] = (site, fromDay, toDay) =>
    this.#read((reader) => failedLoginAddresses(reader, site, fromDay, toDay));
  attacks: ActivityStore['attacks'] = (site, fromDay, toDay) =>
    this.#read((reader) => attacks(reader, site, fromDay, toDay));
  readAttackedLogins: ActivityStore['readAttackedLogins'] = (site, attackers) =>
    this.#read((reader) => readAttackedLogins(reader, site, attackers));
  readVisitors: ActivityStore['readVisitors'] = (site, addresses) =>
    this.#read((reader) => readVisitors(reader, site, addresses));
  visitorHours: ActivityStore['visitorHours'] = (site, visitor, from, to) =>
    this.#read((reader) => visitorHours(reader, site, visitor, from, to));
  top: ActivityStore['top'] = (site, what, fromDay, toDay, limit) =>
    this.#read((reader) => top(reader, site, what, fromDay, toDay, limit));
  eventKinds: ActivityStore['eventKinds'] = (site, from, to) =>
    this.#read((reader) => eventKinds(reader, site, from, to));
  droppedVisits: ActivityStore['droppedVisits'] = async (site, from = 0, to?: number) => {
    const stored = await this.#read((reader) => droppedVisits(reader, site, from, to));
    // Those that the writer thread has not counted yet belong to the present hour.
    return stored + (to === undefined || to > this.#now() ? (this.#dropped.get(site) ?? 0) : 0);
  };

  retain: ActivityStore['retain'] = async (site, keep) =>
    (await this.#write({ name: 'retain', site, keep, at: this.#now() })) as boolean;

  async close(): Promise<void> {
    this.#closed = true;
    const database = await this.#database?.catch(() => null);
    await database?.close();
  }

  async crash(): Promise<void> {
    const { writer } = await this.#opened();
    await writer.simulateCrash();
  }

  #now(): number {
    return Math.floor(this.#clock() / 1000);
  }

  #drop(site: SiteId, count: number): void {
    if (count > 0) this.#dropped.set(site, (this.#dropped.get(site) ?? 0) + count);
  }

  #write(call: WriterCall): Promise<unknown> {
    return this.#use(({ writer }) => writer.call(call));
  }

  #read<Result>(query: (reader: Reader) => Promise<Result>): Promise<Result> {
    return this.#use(({ reader }) => query(reader));
  }

  async #use<Result>(work: (database: ActivityDatabase) => Promise<Result>): Promise<Result> {
    const database = await this.#opened();
    try {
      return await work(database);
    } catch (error) {
      if (error instanceof StorageError && error.fault === 'corrupt') await this.#recover(database);
      throw error;
    }
  }

  #opened(): Promise<ActivityDatabase> {
    if (this.#closed) return Promise.reject(new StorageError('closed', 'The Activity Log is closed.'));
    if (this.#database === null) {
      // Math.abs: a clock that was set back must not keep it closed until it has caught up.
      if (Math.abs(this.#clock() - this.#failedAt) < REOPEN_MS) {
        return Promise.reject(new StorageError('cannot_open', 'The Activity Log could not be opened a moment ago.'));
      }
      this.#database = this.#open();
    }
    return this.#database;
  }

  async #open(): Promise<ActivityDatabase> {
    try {
      const database = await this.#openOrBegin();
      if (this.#failing) this.#logger.info({ event: 'activity-log-opened' }, 'The Activity Log could be opened again.');
      this.#failing = false;
      return database;
    } catch (error) {
      this.#database = null;
      this.#failedAt = this.#clock();
      if (!this.#failing) {
        this.#logger.error({ event: 'activity-log-open-failed', err: error }, 'The Activity Log can’t be opened.');
      }
      this.#failing = true;
      throw error;
    }
  }

  async #openOrBegin(): Promise<ActivityDatabase> {
    try {
      return await openActivityDatabase(this.#settings, this.#limits, this.#logger);
    } catch (error) {
      if (!(error instanceof StorageError) || error.fault !== 'corrupt') throw error;
      await this.#moveAside(error);
      return openActivityDatabase(this.#settings, this.#limits, this.#logger);
    }
  }

  /** Creates a new file, once, however many calls have found the broken one. */
  async #recover(broken: ActivityDatabase): Promise<void> {
    const current = await this.#database?.catch(() => null);
    if (current !== broken || this.#closed) return;
    this.#database = (async () => {
      await broken.close();
      await this.#moveAside(new StorageError('corrupt', 'A part of the file can’t be read.'));
      return this.#open();
    })();
    await this.#database.catch(() => undefined);
  }

  async #moveAside(cause: StorageError): Promise<void> {
    const aside = await moveAside(this.#settings.file, new Date(this.#clock()));
    this.#logger.error(
      { event: 'activity-log-corrupt', file: aside, err: cause },
      'The Activity Log is corrupt. It was moved aside, and a new one is begun.',
    );
  }
}

const writerFile = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/activity-writer');

/** The reader thread ends when no list was read for this long, milliseconds, which saves some 15 MB. */
const READER_IDLE_MS = 5 * 60_000;

/** Suffixes of the files of an SQLite database in WAL mode. */
const SUFFIXES = ['', '-wal', '-shm'];

/** Both connections to one file: the writer thread and the reader thread. */
interface ActivityDatabase {
  readonly reader: Reader;
  readonly writer: StorageThread<WriterCall, unknown>;
  close(): Promise<void>;
}

/**
 * Opens the file, creates or migrates its tables, and starts the writer thread.
 * @throws StorageError
 */
async function openActivityDatabase(
  settings: WriterSettings,
  limits: ReadLimits,
  logger: Logger,
): Promise<ActivityDatabase> {
  const { file, busyTimeoutMs } = settings;
  await migrateFile(file, busyTimeoutMs, logger);
  const writer = new StorageThread<WriterCall, unknown>({ file: writerFile, settings }, logger);
  const thread = new SqliteThread({ file, busyTimeoutMs, readOnly: true }, logger, READER_IDLE_MS);
  const db = new Kysely<ActivitySchema>({ dialect: createSqliteDialect(thread) });
  const close = async () => {
    // The reader is closed first: the last connection to close must be able to copy the write-ahead log into the file.
    await db.destroy();
    await thread.close();
    await writer.close();
  };
  try {
    // The writer creates the shared memory of the write-ahead log, which the read-only connection needs. The first
    // query opens that connection.
    await writer.open();
  } catch (error) {
    await close();
    throw error;
  }
  return { reader: createReader(db, limits), writer, close };
}

async function migrateFile(file: string, busyTimeoutMs: number, logger: Logger): Promise<void> {
  const db = new Kysely<ActivitySchema>({
    dialect: createSqliteDialect(new SqliteThread({ file, busyTimeoutMs }, logger)),
  });
  try {
    await migrateActivity(db);
  } finally {
    await db.destroy();
  }
}

/**
 * Moves a broken file aside, so that a new one can be created.
 * @returns its new name
 */
async function moveAside(file: string, at: Date): Promise<string> {
  const aside = `${file}.corrupt-${at.toISOString().replace(/[-:]|\.\d+/g, '')}`;
  for (const suffix of SUFFIXES) {
    await rename(`${file}${suffix}`, `${aside}${suffix}`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw new StorageError('corrupt', `${file} can’t be moved aside.`, { cause: error });
    });
  }
  return aside;
}
