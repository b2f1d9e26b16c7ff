import { statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { siteId } from '../config/config-file.js';
import { CONFIG_FILE, getDatabaseUrl, secretFile } from '../config/load-config.js';
import { listSiteFolders } from '../config/parse-config.js';
import { lineText } from '../lib/plain-text.js';
import type { SiteId } from '../site.js';
import { isDataDirInUse, runningSites } from '../storage/data-dir-lock.js';
import { openSqlite, type SqliteDatabase, toSqliteFault } from '../storage/sqlite.js';
import { StorageError } from '../storage/storage-error.js';
import { guardedTrafficFile } from '../wordpress/guarded-traffic.js';
import { type Command, CommandError, checked, readOptions, required } from './command.js';
import { hasConfig, updateConfig } from './config-store.js';
import { fileRecord } from './connector-files.js';
import { findRetired, recordErased } from './retired-sites.js';

/**
 * Deletes everything that is stored for a site that is not attached: settings, record of changes, Activity Log, second
 * factors, lockouts, blocks, jobs, reports. Its id stays reserved. Safe to repeat after an interruption.
 *
 * @throws CommandError for a site that is attached, unknown, or loaded by a running guard; ConfigError, StorageError
 */
export async function eraseSite(dataDir: string, id: SiteId): Promise<ErasedRows> {
  if (!(await hasConfig(dataDir))) {
    throw new CommandError(`${dataDir} has no ${CONFIG_FILE}, so what is attached can't be known. Nothing was erased.`);
  }
  const url = await updateConfig(dataDir, async (config) => {
    if (listSiteFolders(config).some((site) => site.id === id)) {
      throw new CommandError(
        `The site ${id} is attached. \`security-optimizer detach --site ${id} --purge\` erases it.`,
      );
    }
    const database = getDatabaseUrl(config);
    if ((await findRetired(dataDir, id)) === null && !hasSiteRows(id, { dataDir, url: database })) {
      throw new CommandError(`Nothing is kept of a site ${id}.`);
    }
    await refuseInUse(dataDir, id);
    // From this point the site can't be attached again.
    await recordErased(dataDir, id);
    // A guard that still served the site after `detach` may have written notes about its visitors.
    for (const file of [secretFile(dataDir, id), guardedTrafficFile(dataDir, id)]) await rm(file, { force: true });
    await fileRecord(dataDir, id).delete();
    return database;
  });
  return eraseSiteRows(id, { dataDir, url }, { guardRuns: isDataDirInUse(dataDir) });
}

/** @throws CommandError when a running guard has the site in memory: it would write rows for it again */
async function refuseInUse(dataDir: string, id: SiteId): Promise<void> {
  if (!isDataDirInUse(dataDir)) return;
  const sites = await runningSites(dataDir);
  if (sites !== null && ![...sites.served, ...sites.quarantined].includes(id)) return;
  throw new CommandError(
    `The running guard still has the site ${id} and would store rows of it again. Nothing was erased. Detach the site, have guard read the configuration again (SIGHUP), then run \`security-optimizer erase --site ${id}\`; or stop guard first.`,
  );
}

/** Prints what was erased, and what else the operator may want to remove. */
export async function printErased(dataDir: string, id: SiteId, { rows, unclean }: ErasedRows): Promise<void> {
  process.stdout.write(`Erased: site ${id}, ${rows.toLocaleString('en')} rows. Its id is not given again.\n`);
  for (const file of unclean) {
    process.stderr.write(
      `${file} may hold remains of removed rows in unused space. Erase the site once more while guard is stopped.\n`,
    );
  }
  for (const name of await brokenLogs(dataDir)) {
    process.stderr.write(
      `${lineText(name)}, a broken log of all sites, may hold visits of it. Remove the file by hand.\n`,
    );
  }
}

export const eraseCommand: Command = {
  name: 'erase',
  summary: 'Remove all data of a detached site: settings, log, second factors.',
  help: `security-optimizer erase --site ID --data-dir DIR

  --site ID        the site; it must be detached
  --data-dir DIR   guard's data folder

May run beside a guard that was started after the site was detached. The id is not given to another site.`,
  async run(args) {
    const values = readOptions(args, { 'data-dir': { type: 'string' }, site: { type: 'string' } });
    const dataDir = resolve(required('data-dir', values['data-dir']));
    const id = checked('site', siteId, required('site', values.site));
    await printErased(dataDir, id, await eraseSite(dataDir, id));
    return 0;
  },
};

/** Rows deleted in one transaction. A guard that writes to the same file waits no longer than one transaction. */
const ROWS_AT_ONCE = 2000;
/** Pause between two transactions, in which a waiting guard can write. */
const PAUSE_MS = 2;
const BUSY_TIMEOUT_MS = 10_000;
/** The checkpoint at the end makes all of it durable. What a power failure brings back is erased again. */
const FOR_ERASING = ['secure_delete = on', 'synchronous = normal', 'wal_autocheckpoint = 8192', 'cache_size = -65536'];
/** A file of this size is vacuumed within a second or two, while writes of guard wait. */
const QUICK_BYTES = 64 * 1024 * 1024;

/** Where the rows of sites are stored. */
export interface SiteDatabases {
  readonly dataDir: string;
  /** `sqlite:<file>`, the file relative to the data folder. */
  readonly url: string;
}

export interface ErasedRows {
  readonly rows: number;
  /** Files that may still contain remains of deleted rows, since guard has them open. */
  readonly unclean: readonly string[];
}

/**
 * Whether one of the databases has rows of a site. A missing database has none. Nothing is created or changed.
 * @throws StorageError
 */
export function hasSiteRows(site: SiteId, { dataDir, url }: SiteDatabases): boolean {
  const [main, activity] = databaseFiles({ dataDir, url });
  try {
    if (hasRowsIn(activity, site)) return true;
  } catch (error) {
    // Guard moves a corrupt log aside and creates a new one, which is empty.
    if (!(error instanceof StorageError) || error.fault !== 'corrupt') throw error;
  }
  return hasRowsIn(main, site);
}

/**
 * Deletes every row of a site from both databases. The tables are found in the database itself: every table with a
 * column for the site counts. Rows are overwritten, and then the file is vacuumed, because SQLite leaves copies behind
 * when it moves rows from one page to another; a large file is vacuumed only while no guard runs. Safe to repeat after
 * an interruption. The caller makes sure that no running guard has the site in memory, since it would write rows again.
 *
 * @param guardRuns whether guard runs on the data folder
 * @throws StorageError
 */
async function eraseSiteRows(
  site: SiteId,
  databases: SiteDatabases,
  { guardRuns }: { readonly guardRuns: boolean },
): Promise<ErasedRows> {
  let rows = 0;
  const unclean: string[] = [];
  for (const file of databaseFiles(databases)) {
    if (!exists(file)) continue;
    const database = open(file, { readOnly: false });
    try {
      keepVersionsIncreasing(database);
      for (const { table, key } of siteTables(database, site)) rows += await removeRows(database, table, key);
      if (!rewrite(database, !guardRuns || statSync(file).size <= QUICK_BYTES)) unclean.push(file);
    } catch (error) {
      throw toStorageFault(error, file);
    } finally {
      database.close();
    }
  }
  return { rows, unclean };
}

/** Activity Logs that guard has moved aside because they were corrupt. They contain visits of every site. */
async function brokenLogs(dataDir: string): Promise<readonly string[]> {
  return (await readdir(dataDir)).filter((name) => name.startsWith('activity.sqlite.corrupt-')).sort();
}

function databaseFiles({ dataDir, url }: SiteDatabases): readonly [main: string, activity: string] {
  return [resolve(dataDir, url.slice('sqlite:'.length)), join(dataDir, 'activity.sqlite')];
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

function hasRowsIn(file: string, site: SiteId): boolean {
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
