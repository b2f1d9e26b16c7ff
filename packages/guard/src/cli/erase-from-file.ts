import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SiteId } from '../site.js';
import { openSqlite, type SqliteDatabase, toSqliteFault } from '../storage/sqlite.js';
import { StorageError } from '../storage/storage-error.js';

/** The rows of a site in SQLite files: the Activity Log, and the settings unless they are in PostgreSQL. */

/** Rows deleted in one transaction. A guard that writes to the same file waits no longer than one transaction. */
const ROWS_AT_ONCE = 2000;
/** Pause between two transactions, in which a waiting guard can write. */
const PAUSE_MS = 2;
const BUSY_TIMEOUT_MS = 10_000;
/** The checkpoint at the end makes all of it durable. What a power failure brings back is erased again. */
const FOR_ERASING = ['secure_delete = on', 'synchronous = normal', 'wal_autocheckpoint = 8192', 'cache_size = -65536'];
/** A file of this size is vacuumed within a second or two, while writes of guard wait. */
const QUICK_BYTES = 64 * 1024 * 1024;

/**
 * Deletes every row of a site from a file. Rows are overwritten, and then the file is vacuumed, because SQLite leaves
 * copies behind when it moves rows from one page to another; a large file is vacuumed only while no guard runs. A file
 * that does not exist has no rows.
 *
 * @param guardRuns whether guard runs on the data folder
 * @returns the number of rows, and whether the file holds no remains of them
 * @throws StorageError
 */
export async function eraseFromFile(
  file: string,
  site: SiteId,
  { guardRuns }: { readonly guardRuns: boolean },
): Promise<{ readonly rows: number; readonly isClean: boolean }> {
  if (!exists(file)) return { rows: 0, isClean: true };
  const database = open(file, { readOnly: false });
  try {
    keepVersionsIncreasing(database);
    let rows = 0;
    for (const { table, key } of siteTables(database, site)) rows += await removeRows(database, table, key);
    return { rows, isClean: rewrite(database, !guardRuns || statSync(file).size <= QUICK_BYTES) };
  } catch (error) {
    throw toStorageFault(error, file);
  } finally {
    database.close();
  }
}

/** @returns whether no remains of deleted rows are left, neither in the file nor in its write-ahead log */
function rewrite(database: SqliteDatabase, mayBeSlow: boolean): boolean {
  try {
    if (mayBeSlow) database.exec('vacuum');
    const log = database.prepare('pragma wal_checkpoint(truncate)').get() as { busy: number };
    return mayBeSlow && log.busy === 0;
  } catch {
    // The database was locked for too long, or the disk is full. The rows are deleted nevertheless.
    return false;
  }
}

/** Whether a file has rows of a site. Nothing is created or changed. @throws StorageError */
export function hasRowsInFile(file: string, site: SiteId): boolean {
  if (!exists(file)) return false;
  const database = open(file, { readOnly: true });
  try {
    return siteTables(database, site).some(
      ({ table, key }) =>
        database.prepare(`select 1 from ${quoted(table)} where site = ? limit 1`).get(key) !== undefined,
    );
  } catch (error) {
    throw toStorageFault(error, file);
  } finally {
    database.close();
  }
}

function exists(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function open(file: string, { readOnly }: { readonly readOnly: boolean }): SqliteDatabase {
  try {
    const database = openSqlite(file, { busyTimeoutMs: BUSY_TIMEOUT_MS, readOnly, immutableAtRest: readOnly });
    for (const pragma of ['trusted_schema = off', ...(readOnly ? [] : FOR_ERASING)]) {
      database.exec(`pragma ${pragma}`);
    }
    return database;
  } catch (error) {
    throw toStorageFault(error, file);
  }
}

function toStorageFault(error: unknown, file: string): StorageError {
  const { fault, message } = toSqliteFault(error);
  return new StorageError(fault, `${file}: ${message}`, { cause: error });
}

/** The tables with a column for the site, and the site's key in each: its id, or a number in the Activity Log. */
function siteTables(database: SqliteDatabase, site: SiteId): { table: string; key: string | number }[] {
  const tables = database
    .prepare(
      `select tables.name as name, lower(columns.type) as type
       from sqlite_master as tables join pragma_table_info(tables.name) as columns on columns.name = 'site'
       where tables.type = 'table'`,
    )
    .all() as { name: string; type: string }[];
  const number = tables.some(({ name }) => name === 'activity_sites')
    ? (database.prepare('select id from activity_sites where site = ?').get(site) as { id: number } | undefined)?.id
    : undefined;
  const byNumber = tables.filter(({ type }) => type !== 'text').map(({ name }) => ({ name, key: number }));
  const byId = tables.filter(({ type }) => type === 'text').map(({ name }) => ({ name, key: site }));
  // Tables with the number first: the table that maps the id to the number is one of the others, and must be kept until
  // then.
  return [...byNumber, ...byId].flatMap(({ name, key }) => (key === undefined ? [] : [{ table: name, key }]));
}

async function removeRows(database: SqliteDatabase, table: string, key: string | number): Promise<number> {
  const row = rowKey(database, table);
  // In the order of the primary key where the table is stored in that order: neighbours are on the same pages.
  const order = row === 'rowid' ? '' : `order by ${row}`;
  const remove = database.prepare(
    `delete from ${quoted(table)} where (${row}) in
     (select ${row} from ${quoted(table)} where site = ? ${order} limit ${ROWS_AT_ONCE})`,
  );
  for (let removed = 0; ; ) {
    const changes = Number(remove.run(key).changes);
    removed += changes;
    if (changes < ROWS_AT_ONCE) return removed;
    await sleep(PAUSE_MS);
  }
}

/** The columns that identify a row: its rowid, or the primary key in a table without rowids. */
function rowKey(database: SqliteDatabase, table: string): string {
  const { wr: hasNoNumbers } = database
    .prepare(`select wr from pragma_table_list where schema = 'main' and name = ?`)
    .get(table) as { wr: number };
  if (hasNoNumbers === 0) return 'rowid';
  const columns = database.prepare('select name from pragma_table_info(?) where pk > 0').all(table) as {
    name: string;
  }[];
  return columns.map(({ name }) => quoted(name)).join(', ');
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * All sites share one sequence of versions, and a running guard reads the changes above the last version that it has
 * seen. When the site with the highest version is erased, the next version must still be higher. A row with the empty
 * id, which no site has, keeps the highest version.
 */
function keepVersionsIncreasing(database: SqliteDatabase): void {
  const [table] = database.prepare(`select 1 from sqlite_master where name = 'site_versions'`).all();
  if (table === undefined) return;
  database.exec(`
    insert into site_versions (site, version) select '', coalesce(max(version), 0) + 1 from site_versions where true
    on conflict (site) do update set version = excluded.version`);
}
