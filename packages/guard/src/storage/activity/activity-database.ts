import { rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Kysely } from 'kysely';
import type { Logger } from '../../lib/logger.js';
import { sqliteWorkerDialect } from '../sqlite-worker/sqlite-dialect.js';
import { SqliteThread } from '../sqlite-worker/sqlite-thread.js';
import { StorageThread } from '../sqlite-worker/storage-thread.js';
import { StorageError } from '../storage-error.js';
import { migrateActivity } from './activity-migrations.js';
import type { ActivitySchema } from './activity-schema.js';
import { createReader, type Reader, type ReadLimits } from './read/reader.js';
import type { WriterCall, WriterSettings } from './write/writer-messages.js';

const writerFile = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/activity-writer');

/** The reading thread ends when nobody has looked at a list for so long, milliseconds: that saves some 15 MB. */
const READER_RESTS_MS = 5 * 60_000;

/** Files that belong to one SQLite database in WAL mode. */
const SUFFIXES = ['', '-wal', '-shm'];

/** Both connections to one file: the thread that writes, and the thread that reads. */
export interface ActivityDatabase {
  readonly reader: Reader;
  readonly writer: StorageThread<WriterCall, unknown>;
  close(): Promise<void>;
}

/**
 * Opens the file, makes its tables or brings them up to date, and starts the writing thread.
 * @throws StorageError
 */
export async function openActivityDatabase(
  settings: WriterSettings,
  limits: ReadLimits,
  logger: Logger,
): Promise<ActivityDatabase> {
  const { file, busyTimeoutMs } = settings;
  await migrateFile(file, busyTimeoutMs, logger);
  const writer = new StorageThread<WriterCall, unknown>({ file: writerFile, settings }, logger);
  const thread = new SqliteThread({ file, busyTimeoutMs, readOnly: true }, logger, READER_RESTS_MS);
  const db = new Kysely<ActivitySchema>({ dialect: sqliteWorkerDialect(thread) });
  const close = async () => {
    // The reader first: the last connection to close copies the write-ahead log into the file, and must be able to.
    await db.destroy();
    await thread.close();
    await writer.close();
  };
  try {
    // It makes the shared memory of the write-ahead log, which the connection that only reads needs. That one is opened
    // by the first question.
    await writer.open();
  } catch (error) {
    await close();
    throw error;
  }
  return { reader: createReader(db, limits), writer, close };
}

async function migrateFile(file: string, busyTimeoutMs: number, logger: Logger): Promise<void> {
  const db = new Kysely<ActivitySchema>({
    dialect: sqliteWorkerDialect(new SqliteThread({ file, busyTimeoutMs }, logger)),
  });
  try {
    await migrateActivity(db);
  } finally {
    await db.destroy();
  }
}

/** Moves a broken file aside, so that a new one can be begun. @returns the name that it has now */
export async function moveAside(file: string, at: Date): Promise<string> {
  const aside = `${file}.corrupt-${at.toISOString().replace(/[-:]|\.\d+/g, '')}`;
  for (const suffix of SUFFIXES) {
    await rename(`${file}${suffix}`, `${aside}${suffix}`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw new StorageError('corrupt', `${file} can’t be moved aside.`, { cause: error });
    });
  }
  return aside;
}
