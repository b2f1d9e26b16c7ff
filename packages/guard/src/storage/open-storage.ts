import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Config, ConfiguredSites } from '../config/config.js';
import { isPostgresUrl } from '../config/database-url.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import {
  type AppliedConfiguration,
  type DataDirLock,
  type LockWait,
  lockDataDir,
  type SitesInUse,
} from './data-dir-lock.js';
import type { PostgresPool } from './postgres-pool.js';
import { SqliteThread } from './storage-thread.js';

/** The connection to the database: a thread with an SQLite file, or connections to PostgreSQL. */
export type StorageConnection = SqliteThread | PostgresPool;

/** The part of the storage that starts before the server's code is loaded. */
export interface OpenStorage {
  readonly lock: DataDirLock;
  /** The connection to the database, whose tables may not be migrated yet. */
  readonly connection: StorageConnection;
}

/**
 * Locks the data folder for this process and prepares the connection to the database.
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
  const { dataDir, database, limits } = config;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const lock = await lockDataDir(dataDir, sitesInUse(config, options.configuration), options.wait);
  try {
    const connections = limits.databaseConnections;
    return { lock, connection: await connectDatabase({ url: database, dataDir, logger, connections }) };
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

/** Connections of a command to PostgreSQL. */
const COMMAND_CONNECTIONS = 2;

export interface DatabaseOptions {
  /** `sqlite:<file>`, the file relative to the data folder, or `postgres://…`. */
  readonly url: string;
  readonly dataDir: string;
  readonly logger: Logger;
  readonly busyTimeoutMs?: number;
  /** Maximum number of connections to PostgreSQL. Default: enough for a command. */
  readonly connections?: number;
}

/**
 * Prepares the connection to the configured database. The first statement starts its thread, or connects to the server.
 * @throws StorageError when a file that is named in the URL can't be read
 */
export async function connectDatabase(options: DatabaseOptions): Promise<StorageConnection> {
  const { url, dataDir, logger, busyTimeoutMs = BUSY_TIMEOUT_MS, connections = COMMAND_CONNECTIONS } = options;
  if (isPostgresUrl(url)) {
    // Loaded on demand: most installations use SQLite.
    const { PostgresPool } = await import('./postgres-pool.js');
    return PostgresPool.open({ url, dataDir, connections }, logger);
  }
  const file = databaseFile(url, dataDir);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  return new SqliteThread({ file, busyTimeoutMs }, logger);
}

/** Path of the file of an SQLite database. */
export function databaseFile(url: string, dataDir: string): string {
  return resolve(dataDir, url.slice('sqlite:'.length));
}
