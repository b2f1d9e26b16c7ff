import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { makePrivate } from '../lib/make-private.js';

/** `status` holds the lock for a moment to see whether it is free; a guard that starts just then waits for it. */
const LOCK_WAIT_MS = 500;

/** Held for as long as a guard runs on a data folder. */
export interface DataDirLock {
  release(): Promise<void>;
}

/** Another process runs on the data folder. */
export class DataDirInUse extends Error {
  /** @param pid its process id, when it has written it */
  constructor(readonly pid: number | null) {
    super(`Another guard runs on this data folder${pid === null ? '' : ` (process ${pid})`}.`);
    this.name = 'DataDirInUse';
  }
}

/**
 * Makes sure that one guard runs on a data folder. The lock is SQLite's own on an empty file, which the operating
 * system frees when the process ends, however it ends: no stale lock is left after a crash. `guard.pid` is for people.
 *
 * @throws DataDirInUse
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const lock = takeLock(dataDir, LOCK_WAIT_MS);
  if (lock === null) throw new DataDirInUse(await runningGuard(dataDir));
  const pidFile = join(dataDir, 'guard.pid');
  await writeFile(pidFile, `${process.pid}\n`);
  return {
    async release() {
      await rm(pidFile, { force: true });
      lock.close();
    },
  };
}

/** Whether a guard runs on the data folder. */
export function isDataDirInUse(dataDir: string): boolean {
  const lock = takeLock(dataDir, 0);
  lock?.close();
  return lock === null;
}

/** Process id that the running guard has written, if any. */
export async function runningGuard(dataDir: string): Promise<number | null> {
  const text = await readFile(join(dataDir, 'guard.pid'), 'utf8').catch(() => '');
  return /^\d+\n$/.test(text) ? Number(text) : null;
}

function takeLock(dataDir: string, waitMs: number) {
  const file = join(dataDir, 'guard.lock');
  makePrivate(file);
  const database = new DatabaseSync(file, { timeout: waitMs });
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === 5) return null;
    throw error;
  }
}
