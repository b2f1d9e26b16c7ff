import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { silentLogger } from '../lib/logger.js';
import { openGuardDatabase } from '../migrations.js';
import type { SiteId } from '../site.js';
import { nextSiteVersion } from '../storage/change-feed.js';
import { type Database, inTransaction, withTables } from '../storage/database.js';
import { StorageError } from '../storage/storage-error.js';

/** The rows of a site in PostgreSQL. */

export interface PostgresDatabase {
  readonly dataDir: string;
  /** `postgres://…`. */
  readonly url: string;
}

/** Rows deleted by one statement. Guard's own statements on these rows wait no longer than one of them. */
const ROWS_AT_ONCE = 2000;
/** Pause between two statements. */
const PAUSE_MS = 2;

/** The tables of guard's schema that have rows of sites. */
const SITE_TABLES = `
  select relname as name from pg_class join pg_attribute on attrelid = pg_class.oid
  where relkind in ('r', 'p') and relnamespace = to_regnamespace(current_schema()) and attname = 'site' and not attisdropped
  order by relname`;

/**
 * Whether the database has rows of a site. Nothing is created or changed, and guard's tables may be of any version.
 * @throws StorageError
 */
export async function hasRowsInPostgres(site: SiteId, { url, dataDir }: PostgresDatabase): Promise<boolean> {
  // Loaded on demand: most installations use SQLite.
  const { PostgresPool } = await import('../storage/postgres-pool.js');
  const pool = await PostgresPool.open({ url, dataDir, connections: 1, readOnly: true }, silentLogger());
  try {
    const { rows } = await pool.execute(SITE_TABLES, []);
    for (const { name } of rows) {
      const found = await pool.execute(`select 1 from ${quoted(String(name))} where site = $1 limit 1`, [site]);
      if (found.rows.length > 0) return true;
    }
    return false;
  } finally {
    await pool.close();
  }
}

/**
 * Deletes every row of a site, and vacuums the tables, so that their space is used again. PostgreSQL does not overwrite
 * what it deletes: until other rows take its place, and in the write-ahead log and back-ups of the server, copies may
 * remain.
 *
 * @returns the number of rows
 * @throws StorageError
 */
export async function eraseFromPostgres(site: SiteId, { url, dataDir }: PostgresDatabase): Promise<number> {
  const db = await openGuardDatabase({ url, dataDir, logger: silentLogger() });
  try {
    // All sites share one sequence of versions. The site with the highest one may be erased: a row with the empty id,
    // which no site has, keeps the sequence increasing.
    await inTransaction(db, NO_SITE, (transaction) => nextSiteVersion(transaction, NO_SITE));
    const { rows: tables } = await sql.raw<{ name: string }>(SITE_TABLES).execute(db);
    let removed = 0;
    for (const { name } of tables) {
      const rows = await removeRows(withTables(db), name, site);
      if (rows > 0) await vacuum(withTables(db), name);
      removed += rows;
    }
    return removed;
  } finally {
    await db.destroy();
  }
}

const NO_SITE = '';

async function removeRows(db: Kysely<unknown>, table: string, site: SiteId): Promise<number> {
  const name = sql.table(table);
  for (let removed = 0; ; ) {
    // Rows that another statement moves in the meantime are found by the next round.
    const { numAffectedRows = 0n } = await sql`
      delete from ${name} where ctid = any (array(select ctid from ${name} where site = ${site} limit ${ROWS_AT_ONCE}))
    `.execute(db);
    if (numAffectedRows === 0n) return removed;
    removed += Number(numAffectedRows);
    await sleep(PAUSE_MS);
  }
}

/**
 * Vacuums the tables with rows of sites.
 * @param db guard's main database in PostgreSQL
 */
export async function vacuumSiteTables(db: Database): Promise<void> {
  const tables = withTables<unknown>(db);
  const { rows } = await sql.raw<{ name: string }>(SITE_TABLES).execute(tables);
  for (const { name } of rows) await vacuum(tables, name);
}

/** The server vacuums tables by itself, only later: a failure leaves nothing undone for good. */
async function vacuum(db: Kysely<unknown>, table: string): Promise<void> {
  try {
    await sql`vacuum ${sql.table(table)}`.execute(db);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
