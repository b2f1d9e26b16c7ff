import { mkdir } from 'node:fs/promises';
import type { Config } from '../config.js';
import type { Logger } from '../lib/logger.js';
import { type DataDirLock, lockDataDir } from './data-dir-lock.js';
import { databaseThread } from './database-thread.js';
import { type EarlyBlocks, readBlocksEarly } from './early-blocks.js';
import type { SqliteThread } from './sqlite-worker/sqlite-thread.js';

/** What of the storage is at work before the program that serves has been loaded. */
export interface OpenStorage {
  readonly lock: DataDirLock;
  /** Of the database; its tables may be old still. */
  readonly thread: SqliteThread;
  readonly blocked: EarlyBlocks;
}

/**
 * Makes the data folder this process's own, and lets the database's thread open its file and read the long lists: on a
 * processor of its own it is done when guard asks for them.
 *
 * @throws DataDirInUse, or the system's error
 */
export async function openStorage({ dataDir, database }: Config, logger: Logger): Promise<OpenStorage> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const lock = await lockDataDir(dataDir);
  try {
    const thread = await databaseThread({ url: database, dataDir, logger });
    return { lock, thread, blocked: readBlocksEarly(thread) };
  } catch (error) {
    await lock.release();
    throw error;
  }
}
