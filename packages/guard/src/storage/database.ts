import { existsSync } from 'node:fs';
import { Kysely, type UpdateResult } from 'kysely';
import type { SiteId } from '../site.js';
import { hasPresentTables, type Migrations, migrate } from './migrations.js';
import { type DatabaseOptions, databaseFile, databaseThread } from './open-storage.js';
import { createSqliteDialect } from './sqlite-dialect.js';
import { StorageError } from './storage-error.js';
import { SqliteThread } from './storage-thread.js';

/** The open database, or a transaction in it. A store declares its tables by `withTables`. */
export type Database = Pick<Kysely<unknown>, 'destroy' | 'isTransaction'>;

/** Adds the types of a feature's tables to a database, for Kysely. */
export function withTables<Tables>(db: Database): Kysely<Tables> {
  return db as Kysely<Tables>;
}

export interface OpenOptions extends DatabaseOptions {
  /** The migrations of all features. */
  readonly migrations: Migrations;
  /** The thread of this database, if it is already running. */
  readonly thread?: SqliteThread;
}

const threads = new WeakMap<Database, SqliteThread>();

/**
 * Opens the configured database and migrates its tables. Close it with `destroy()`.
 *
 * @throws StorageError whose `detail` explains why the database can't be used
 */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const thread = options.thread ?? (await databaseThread(options));
  const db = new Kysely<unknown>({ dialect: createSqliteDialect(thread) });
  threads.set(db, thread);
  try {
    await migrate(db, options.migrations);
  } catch (error) {
    await db.destroy().catch(() => undefined);
    throw error;
  }
  return db;
}

/** How long a reader waits for another process that recovers the file, milliseconds. */
const READ_TIMEOUT_MS = 5000;

/**
 * Maximum number of sites that one query names. For more, a store reads the rows of all sites: SQLite limits the number
 * of values, and reading thousands of rows for one added site would delay requests.
 */
export const MAX_NAMED_SITES = 500;

/**
 * Opens the configured database for reading. Creates no file and runs no migration. Close it with `destroy()`.
 *
 * @returns null if the database does not exist yet
 * @throws StorageError, also if the tables have another version
 */
export async function openDatabaseReadOnly({
  url,
  dataDir,
  logger,
  migrations,
}: OpenOptions): Promise<Database | null> {
  const file = databaseFile(url, dataDir);
  if (!existsSync(file)) return null;
  const thread = new SqliteThread(
    { file, busyTimeoutMs: READ_TIMEOUT_MS, readOnly: true, immutableAtRest: true },
    logger,
  );
  const db = new Kysely<unknown>({ dialect: createSqliteDialect(thread) });
  try {
    await thread.open();
    if (await hasPresentTables(db, migrations)) return db;
    throw new StorageError('other', 'its tables are of another version; guard brings them up to date when it starts');
  } catch (error) {
    await db.destroy().catch(() => undefined);
    await thread.close();
    throw error;
  }
}

/**
 * Calls the thread of a database exclusively, while no transaction is open.
 * @param db a database from `openDatabase`
 * @throws StorageError
 */
export function withThread<Result>(db: Database, use: (thread: SqliteThread) => Promise<Result>): Promise<Result> {
  return withTables(db)
    .connection()
    .execute(() => use(threads.get(db) as SqliteThread));
}

/**
 * Lists the sites with rows in at least one of these tables, each of which has a column `site`. With thousands of
 * sites, one query for each site would take seconds.
 * @throws StorageError
 */
export async function listSitesWithRows(db: Database, ...tables: readonly string[]): Promise<ReadonlySet<SiteId>> {
  const sites = new Set<SiteId>();
  for (const table of tables) {
    const rows = await withTables<Record<string, { site: string }>>(db)
      .selectFrom(table)
      .select('site')
      .distinct()
      .execute();
    for (const { site } of rows) sites.add(site);
  }
  return sites;
}

/**
 * Runs a conditional update.
 * @returns whether it changed a row: of many concurrent callers only one gets true
 */
export async function affectsOneRow(update: {
  executeTakeFirst(): Promise<UpdateResult | undefined>;
}): Promise<boolean> {
  return (await update.executeTakeFirst())?.numUpdatedRows === 1n;
}
