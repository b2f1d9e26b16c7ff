import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Config, ConfiguredSites } from '../config/config.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import {
  type AppliedConfiguration,
  type DataDirLock,
  type LockWait,
  lockDataDir,
  type SitesInUse,
} from './data-dir-lock.js';
import { SqliteThread } from './storage-thread.js';

/** The part of the storage that starts before the server's code is loaded. */
export interface OpenStorage {
  readonly lock: DataDirLock;
  /** The thread of the database, whose tables may not be migrated yet. */
  readonly thread: SqliteThread;
}

/**
 * Locks the data folder for this process and starts the database's thread.
 *
 * @param options `configuration`: the file of the configuration, if guard follows its changes; `wait`: for another
 *   guard that is about to end, see `lockDataDir`
 * @throws DataDirInUseError, or the system's error
 */
export async function openStorage(
  config: Config,
  logger: Logger,
  options: { readonly configuration?: AppliedConfiguration; readonly wait?: LockWait } = {},
): Promise<OpenStorage> {
  const { dataDir, database } = config;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const lock = await lockDataDir(dataDir, sitesInUse(config, options.configuration), options.wait);
  try {
    return { lock, thread: await databaseThread({ url: database, dataDir, logger }) };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The data of a running guard's sites that commands can read. */
export function sitesInUse({ sites, quarantined }: ConfiguredSites, configuration?: AppliedConfiguration): SitesInUse {
  const toIds = (list: readonly { readonly id: SiteId }[]) => list.map(({ id }) => id);
  return { served: toIds(sites), quarantined: toIds(quarantined), ...(configuration && { configuration }) };
}

/** How long a write waits for another process that writes to the same file, milliseconds. */
const BUSY_TIMEOUT_MS = 5000;

export interface DatabaseOptions {
  /** `sqlite:<file>`, the file relative to the data folder. */
  readonly url: string;
  readonly dataDir: string;
  readonly logger: Logger;
  readonly busyTimeoutMs?: number;
}

/** Creates the thread of the configured database; the thread starts with the first call. */
export async function databaseThread({ url, dataDir, logger, busyTimeoutMs }: DatabaseOptions): Promise<SqliteThread> {
  const file = databaseFile(url, dataDir);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  return new SqliteThread({ file, busyTimeoutMs: busyTimeoutMs ?? BUSY_TIMEOUT_MS }, logger);
}

/** Path of the database's file. */
export function databaseFile(url: string, dataDir: string): string {
  return resolve(dataDir, url.slice('sqlite:'.length));
}
