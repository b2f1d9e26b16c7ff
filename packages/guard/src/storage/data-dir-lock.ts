import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { EnvironmentSetting } from '../config/load-config.js';
import { makePrivate, writeFileAtomically } from '../lib/files.js';
import type { SiteId } from '../site.js';
import { openSqlite, type SqliteDatabase, toSqliteFault } from './sqlite.js';

/**
 * `status` holds the lock for a moment to test it. A guard that starts at that moment waits at most this long,
 * milliseconds.
 */
const LOCK_WAIT_MS = 500;

const SQLITE_BUSY = 5;

/** The lock that a guard holds while it runs on a data folder. */
export interface DataDirLock {
  /** Writes which sites are currently in use. */
  writeSites(sites: SitesInUse): Promise<void>;
  release(): Promise<void>;
}

/** Interval at which a waiting guard checks whether the other one has ended, milliseconds. */
const POLL_MS = 20;

/** How long to wait for a guard that runs on the data folder and is about to end. */
export interface LockWait {
  /** Milliseconds; 0 for no wait. */
  readonly ms: number;
  /** Ends the wait with an AbortError. */
  readonly signal: AbortSignal;
  /**
   * Called once when another guard runs.
   * @param pid its process id, if it has written it
   */
  onWaiting(pid: number | null): void;
}

/** Another process runs on the data folder. */
export class DataDirInUseError extends Error {
  /** @param pid its process id, if it has written it */
  constructor(readonly pid: number | null) {
    super(`Another guard runs on this data folder${pid === null ? '' : ` (process ${pid})`}.`);
    this.name = 'DataDirInUse';
  }
}

/** The file of a lock can't be used: this user may not write it, or its disk is full. */
export class LockFileError extends Error {
  constructor(file: string, cause: unknown) {
    const { fault } = toSqliteFault(cause);
    const isDenied = fault === 'cannot_open' || fault === 'read_only';
    super(
      isDenied
        ? `${file} can’t be written by this user. Run the command as root, or as the user who owns the data folder.`
        : `${file} can’t be locked: ${(cause as Error).message}. Check the free space of its disk, and who may write there.`,
      { cause },
    );
    this.name = 'LockFileError';
  }
}

/** The sites whose settings and log a running guard holds in memory. */
export interface SitesInUse {
  readonly served: readonly SiteId[];
  readonly quarantined: readonly SiteId[];
  /** The configuration file that defines them. Absent in a guard that reads the file only at its start. */
  readonly configuration?: AppliedConfiguration;
}

/** A configuration file that a running guard has read. */
export interface AppliedConfiguration {
  /** Modification time of the file, nanoseconds since the Unix epoch, in decimal digits. */
  readonly writtenAt: string;
  /**
   * When guard began to read it and the stored settings, by the machine's monotonic clock, nanoseconds in decimal
   * digits. Absent in an older guard.
   */
  readonly readAt?: string;
  /** The settings that its environment holds, without secrets. Absent in an older guard. */
  readonly environment?: readonly EnvironmentSetting[];
  /** Why guard still serves the sites of an earlier file; empty when it serves those of this one. */
  readonly mistakes: readonly string[];
  /** Keys that differ from the file with which guard was started, and that take effect after a restart. */
  readonly restartKeys: readonly string[];
  /**
   * Sites that guard serves with their last valid entry, and the mistakes in the present one. Absent in a guard that
   * rejects the whole file for them.
   */
  readonly kept?: readonly { readonly id: SiteId; readonly reason: string }[];
}

/**
 * Ensures that only one guard runs on a data folder. The lock is an SQLite lock on an empty file: the operating system
 * releases it when the process ends, so a crash leaves no stale lock. `guard.pid` is for users, `guard.sites` for
 * commands that need to know the sites of the running guard.
 *
 * @param wait waits for another guard to end. Default: no wait
 * @throws DataDirInUseError; AbortError when the wait was ended
 */
export async function lockDataDir(dataDir: string, sites: SitesInUse, wait?: LockWait): Promise<DataDirLock> {
  const lock = tryLock(lockFile(dataDir), LOCK_WAIT_MS) ?? (wait ? await waitForLock(dataDir, wait) : null);
  if (lock === null) throw new DataDirInUseError(await readGuardPid(dataDir));
  const pidFile = join(dataDir, 'guard.pid');
  const sitesFile = join(dataDir, 'guard.sites');
  const writeSites = (inUse: SitesInUse) =>
    writeFileAtomically(sitesFile, `${JSON.stringify(inUse)}\n`, { mode: 0o600 });
  await writeSites(sites);
  await writeFile(pidFile, `${process.pid}\n`);
  return {
    writeSites,
    async release() {
      await rm(pidFile, { force: true });
      await rm(sitesFile, { force: true });
      lock.close();
    },
  };
}

/** Waits by polling: SQLite's own wait would block the thread, and with it the signal to stop. */
async function waitForLock(dataDir: string, { ms, signal, onWaiting }: LockWait): Promise<{ close(): void } | null> {
  if (ms === 0) return null;
  onWaiting(await readGuardPid(dataDir));
  for (let left = ms; left > 0; left -= POLL_MS) {
    await pause(Math.min(POLL_MS, left), undefined, { signal });
    const lock = tryLock(lockFile(dataDir), 0);
    if (lock !== null) return lock;
  }
  return null;
}

/** Reports whether a guard runs on the data folder. Creates no file. */
export function isDataDirInUse(dataDir: string): boolean {
  if (!existsSync(lockFile(dataDir))) return false;
  // A shared lock: an exclusive one would create a journal for a moment.
  const database = openSqlite(lockFile(dataDir), { readOnly: true, busyTimeoutMs: 0 });
  try {
    database.prepare('SELECT count(*) FROM sqlite_master').get();
    return false;
  } catch (error) {
    // Any other error means that a killed guard has left a journal, which only a writer can remove.
    return (error as { errcode?: number }).errcode === SQLITE_BUSY;
  } finally {
    database.close();
  }
}

/** Reads the process id that the running guard has written, if any. */
export async function readGuardPid(dataDir: string): Promise<number | null> {
  const text = await readFile(join(dataDir, 'guard.pid'), 'utf8').catch(() => '');
  return /^\d+\n$/.test(text) ? Number(text) : null;
}

function lockFile(dataDir: string): string {
  return join(dataDir, 'guard.lock');
}

/** Reads the sites that the running guard has written. Null if the file can't be read. */
export async function runningSites(dataDir: string): Promise<SitesInUse | null> {
  try {
    return JSON.parse(await readFile(join(dataDir, 'guard.sites'), 'utf8')) as SitesInUse;
  } catch {
    return null;
  }
}

/**
 * Acquires an SQLite lock on an empty file, which is created if it is missing. The operating system releases the lock
 * when the process ends.
 *
 * @returns the lock, released by `close`; null if another process, or another part of this one, holds it
 * @throws LockFileError
 */
export function tryLock(file: string, waitMs: number): { close(): void } | null {
  makePrivate(file);
  let database: SqliteDatabase | undefined;
  try {
    database = openSqlite(file, { busyTimeoutMs: waitMs });
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null;
    throw new LockFileError(file, error);
  }
}
