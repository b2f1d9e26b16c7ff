import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Kysely } from 'kysely';
import type { Logger } from '../lib/logger.js';
import { migrate } from './migrations.js';
import type { Schema } from './schema.js';
import { sqliteWorkerDialect } from './sqlite-worker/sqlite-dialect.js';
import { SqliteThread } from './sqlite-worker/sqlite-thread.js';

export type Database = Kysely<Schema>;

/** How long a change waits for another process that writes to the same file, milliseconds. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * Opens the database of the configuration and brings its tables up to date. Close it with `destroy()`.
 *
 * @param url `sqlite:<file>`, the file relative to the data folder
 * @throws StorageError that says why the database can't be used
 */
export async function openDatabase(options: {
  url: string;
  dataDir: string;
  logger: Logger;
  busyTimeoutMs?: number;
}): Promise<Database> {
  const file = resolve(options.dataDir, options.url.slice('sqlite:'.length));
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const thread = new SqliteThread({ file, busyTimeoutMs: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS }, options.logger);
  const db = new Kysely<Schema>({ dialect: sqliteWorkerDialect(thread) });
  try {
    await migrate(db);
  } catch (error) {
    await db.destroy().catch(() => undefined);
    throw error;
  }
  return db;
}
