import type { Kysely, Migration } from 'kysely';
import type { SiteId } from '../site.js';
import { type Database, MAX_NAMED_SITES, withTables } from '../storage/database.js';
import type { Migrations } from '../storage/migrations.js';

export interface FirstStartTables {
  first_starts: {
    site: string;
    /** When guard first served the site, milliseconds since the Unix epoch. */
    at: number;
  };
}

const firstStartMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('first_starts')
      .addColumn('site', 'text', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
  },
};

/** Rows per statement; SQLite limits the number of values in one. */
const ROWS_AT_ONCE = 1000;

/**
 * Returns when guard first served each of these sites; the first call for a site records it.
 * @param now milliseconds since the Unix epoch, like the returned times
 * @throws StorageError
 */
export async function recordFirstStarts(
  database: Database,
  sites: readonly SiteId[],
  now: number,
): Promise<ReadonlyMap<SiteId, number>> {
  const db = withTables<FirstStartTables>(database);
  const query = db.selectFrom('first_starts').select(['site', 'at']);
  const isFew = sites.length <= MAX_NAMED_SITES;
  const rows = sites.length === 0 ? [] : await (isFew ? query.where('site', 'in', sites) : query).execute();
  const known = new Map(rows.map(({ site, at }) => [site, Number(at)]));
  const newSites = sites.filter((site) => !known.has(site));
  for (let from = 0; from < newSites.length; from += ROWS_AT_ONCE) {
    await db
      .insertInto('first_starts')
      .values(newSites.slice(from, from + ROWS_AT_ONCE).map((site) => ({ site, at: now })))
      .onConflict((conflict) => conflict.column('site').doNothing())
      .execute();
  }
  return new Map(sites.map((site) => [site, known.get(site) ?? now]));
}

export const firstStartMigrations: Migrations = {
  '021_first_starts': firstStartMigration,
};
