import { existsSync } from 'node:fs';
import { Kysely, PostgresAdapter, sql, type Transaction, type UpdateResult } from 'kysely';
import { isPostgresUrl } from '../config/database-url.js';
import type { AddressSet } from '../lib/address-set.js';
import { KeyedMutex } from '../lib/mutex.js';
import type { SiteId } from '../site.js';
import { hasPresentTables, type Migrations, migrate } from './migrations.js';
import { connectDatabase, type DatabaseOptions, databaseFile, type StorageConnection } from './open-storage.js';
import { createPostgresDialect } from './postgres-dialect.js';
import type { PostgresPool } from './postgres-pool.js';
import { createSqliteDialect } from './sqlite-dialect.js';
import { StorageError } from './storage-error.js';
import { type AddressListCall, SqliteThread } from './storage-thread.js';

/** The open database, or a transaction in it. A store declares its tables by `withTables`. */
export type Database = Pick<Kysely<unknown>, 'destroy' | 'isTransaction'>;

/** Adds the types of a feature's tables to a database, for Kysely. */
export function withTables<Tables>(db: Database): Kysely<Tables> {
  return db as Kysely<Tables>;
}

export interface OpenOptions extends DatabaseOptions {
  /** The migrations of all features. */
  readonly migrations: Migrations;
  /** The connection of this database, if there is one already. */
  readonly connection?: StorageConnection;
  /** How long to wait for a PostgreSQL server that can't be reached, milliseconds. Default: no wait. */
  readonly waitMs?: number;
}

const connections = new WeakMap<Database, StorageConnection>();

/**
 * Opens the configured database and migrates its tables. Close it with `destroy()`.
 *
 * @throws StorageError whose `detail` explains why the database can't be used
 */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const connection = options.connection ?? (await connectDatabase(options));
  const db = createDatabase(connection);
  try {
    if (connection.kind === 'postgres') {
      await connection.waitUntilReachable(options.waitMs ?? 0);
      await checkServer(connection);
    }
    await migrate(db, options.migrations);
  } catch (error) {
    await db.destroy().catch(() => undefined);
    throw error;
  }
  return db;
}

function createDatabase(connection: StorageConnection): Kysely<unknown> {
  const isSqlite = connection.kind === 'sqlite';
  const dialect = isSqlite ? createSqliteDialect(connection) : createPostgresDialect(connection);
  const db = new Kysely<unknown>({ dialect });
  connections.set(db, connection);
  return db;
}

/** The oldest release of PostgreSQL that still gets updates, as the server writes it: 130000 for 13. */
const OLDEST_POSTGRES = 130_000;

/** @throws StorageError for a server that can't store guard's data */
async function checkServer(pool: PostgresPool): Promise<void> {
  const { rows } = await pool.execute(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
       current_setting('server_encoding') as encoding`,
    [],
  );
  const { version, name, encoding } = rows[0] as { version: number; name: string; encoding: string };
  if (version < OLDEST_POSTGRES) {
    throw new StorageError('cannot_open', `${pool.server}: it is PostgreSQL ${name}; guard needs 13 or newer.`);
  }
  if (encoding !== 'UTF8') {
    throw new StorageError(
      'cannot_open',
      `${pool.server}: its encoding is ${encoding}; create it with the encoding UTF8.`,
    );
  }
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
export async function openDatabaseReadOnly(options: OpenOptions): Promise<Database | null> {
  const connection = await connectReadOnly(options);
  if (connection === null) return null;
  const db = createDatabase(connection);
  try {
    if (await hasPresentTables(db, options.migrations)) return db;
    if (connection.kind === 'postgres' && !(await hasTables(connection))) {
      await db.destroy();
      return null;
    }
    throw new StorageError('other', 'its tables are of another version; guard brings them up to date when it starts');
  } catch (error) {
    await db.destroy().catch(() => undefined);
    await connection.close();
    throw error;
  }
}

/** @returns null for an SQLite file that does not exist */
async function connectReadOnly({ url, dataDir, logger }: OpenOptions): Promise<StorageConnection | null> {
  if (isPostgresUrl(url)) {
    const { PostgresPool } = await import('./postgres-pool.js');
    return PostgresPool.open({ url, dataDir, connections: 1, readOnly: true }, logger);
  }
  const file = databaseFile(url, dataDir);
  if (!existsSync(file)) return null;
  const settings = { file, busyTimeoutMs: READ_TIMEOUT_MS, readOnly: true, immutableAtRest: true };
  const thread = new SqliteThread(settings, logger);
  await thread.open();
  return thread;
}

async function hasTables(pool: PostgresPool): Promise<boolean> {
  const { rows } = await pool.execute("select to_regclass('kysely_migration') is not null as found", []);
  return rows[0]?.found === true;
}

/** Whether the rows are in PostgreSQL. @param db a database from `openDatabase`, or a transaction in it */
export function usesPostgres(db: Database): boolean {
  return withTables(db).getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Reads a long list of addresses and ranges, while no transaction of this process is open in SQLite.
 * @param db a database from `openDatabase`
 * @throws StorageError
 */
export function readAddressList(
  db: Database,
  queries: (kind: StorageConnection['kind']) => AddressListCall['addressLists'],
): Promise<AddressSet> {
  const connection = connections.get(db) as StorageConnection;
  if (connection.kind === 'postgres') return connection.addressList(queries(connection.kind));
  return withTables(db)
    .connection()
    .execute(() => connection.addressList(queries(connection.kind)));
}

/** First of the two numbers of an advisory lock in PostgreSQL: one lock for each site, and one for the versions. */
const SITE_LOCKS = 1_397_706_319;
const VERSION_LOCK = SITE_LOCKS + 1;

/** Transactions of this process wait here, so that they don't occupy the connections. By database. */
const waiting = new WeakMap<Database, KeyedMutex>();

/**
 * Runs a transaction. Transactions of one site run one after another, in every process on the same database, and see
 * each other's results: what one reads does not change until it ends.
 *
 * SQLite has one writer at a time. In PostgreSQL each transaction takes a lock of its site, so that those of different
 * sites run concurrently (docs/decisions/0059).
 *
 * @param work its statements; an error rolls all of them back
 * @throws StorageError, and the errors of `work`
 */
export async function inTransaction<Tables, Result>(
  db: Kysely<Tables>,
  site: SiteId,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const begun = () => db.transaction();
  if (!usesPostgres(db)) return begun().execute(work);
  const mutex = waiting.get(db) ?? new KeyedMutex();
  waiting.set(db, mutex);
  return mutex.run(site, () =>
    begun().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(${SITE_LOCKS}, hashtext(${site}))`.execute(transaction);
      return work(transaction);
    }),
  );
}

/** Lets no other transaction take a version until this one has ended. SQLite has one writer at a time anyway. */
export async function lockVersions(transaction: Database): Promise<void> {
  if (!usesPostgres(transaction)) return;
  await sql`select pg_advisory_xact_lock(${VERSION_LOCK}, 0)`.execute(withTables(transaction));
}

/** Notifies all processes on the same database, when the transaction is committed. SQLite has no notifications. */
export async function notifyListeners(transaction: Database, channel: string): Promise<void> {
  if (usesPostgres(transaction)) await sql`select pg_notify(${channel}, '')`.execute(withTables(transaction));
}

/**
 * Listens to notifications until the database is closed; some may be lost. Does nothing for SQLite.
 * @param db a database from `openDatabase`
 */
export function listenForNotifications(db: Database, channel: string, onNotification: () => void): void {
  const connection = connections.get(db);
  if (connection?.kind === 'postgres') connection.listen(channel, onNotification);
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
