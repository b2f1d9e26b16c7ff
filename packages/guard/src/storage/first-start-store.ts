import type { Kysely, Migration } from 'kysely';
import type { SiteId } from '../site.js';
import type { Database } from './database.js';

export interface FirstStartTables {
  first_starts: {
    site: string;
    /** When guard first served the site, milliseconds since the Unix epoch. */
    at: number;
  };
}

export const firstStartMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('first_starts')
      .addColumn('site', 'text', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
  },
};

/**
 * When guard first served a site; the first call for a site notes it.
 * @param now milliseconds since the Unix epoch, as is the answer
 * @throws StorageError
 */
export async function firstStart(db: Database, site: SiteId, now: number): Promise<number> {
  await db
    .insertInto('first_starts')
    .values({ site, at: now })
    .onConflict((conflict) => conflict.column('site').doNothing())
    .execute();
  const row = await db.selectFrom('first_starts').select('at').where('site', '=', site).executeTakeFirst();
  return row?.at ?? now;
}
