import { Kysely } from 'kysely';
import { type DatabaseOptions, databaseThread } from './database-thread.js';
import { migrate } from './migrations.js';
import type { Schema } from './schema.js';
import { sqliteWorkerDialect } from './sqlite-worker/sqlite-dialect.js';
import type { SqliteThread } from './sqlite-worker/sqlite-thread.js';

export type Database = Kysely<Schema>;

const threads = new WeakMap<Database, SqliteThread>();

/**
 * Opens the database of the configuration and brings its tables up to date. Close it with `destroy()`.
 *
 * @param options `thread`: that of this database, when it has been started already
 * @throws StorageError that says why the database can't be used
 */
export async function openDatabase(options: DatabaseOptions & { readonly thread?: SqliteThread }): Promise<Database> {
  const thread = options.thread ?? (await databaseThread(options));
  const db = new Kysely<Schema>({ dialect: sqliteWorkerDialect(thread) });
  threads.set(db, thread);
  try {
    await migrate(db);
  } catch (error) {
    await db.destroy().catch(() => undefined);
    throw error;
  }
  return db;
}

/**
 * Calls the thread of a database while nothing else does: no transaction is under way. Throws StorageError.
 * @param db as `openDatabase` has given it
 */
export function withThread<Result>(db: Database, use: (thread: SqliteThread) => Promise<Result>): Promise<Result> {
  return db.connection().execute(() => use(threads.get(db) as SqliteThread));
}
