import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Logger } from '../lib/logger.js';
import { SqliteThread } from './sqlite-worker/sqlite-thread.js';

/** How long a change waits for another process that writes to the same file, milliseconds. */
const BUSY_TIMEOUT_MS = 5000;

export interface DatabaseOptions {
  /** `sqlite:<file>`, the file relative to the data folder. */
  readonly url: string;
  readonly dataDir: string;
  readonly logger: Logger;
  readonly busyTimeoutMs?: number;
}

/** The thread of the database of the configuration; it starts with the first call. */
export async function databaseThread({ url, dataDir, logger, busyTimeoutMs }: DatabaseOptions): Promise<SqliteThread> {
  const file = resolve(dataDir, url.slice('sqlite:'.length));
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  return new SqliteThread({ file, busyTimeoutMs: busyTimeoutMs ?? BUSY_TIMEOUT_MS }, logger);
}
