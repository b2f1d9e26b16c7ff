import type { Kysely, Migration } from 'kysely';
import type { SiteId } from '../site.js';
import { type Database, withTables } from '../storage/database.js';
import type { Migrations } from '../storage/migrations.js';

export interface TechnicalDataTables {
  technical_data_sends: {
    site: string;
    /** When the site's data were last accepted by the provider, milliseconds since the Unix epoch. */
    at: number;
  };
}

const sendsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('technical_data_sends')
      .addColumn('site', 'text', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
  },
};

export const technicalDataMigrations: Migrations = { '030_technical_data_sends': sendsMigration };

/** Records when technical data were sent. Every method may throw StorageError. */
export interface TechnicalDataSends {
  /** Returns the last time for each site, milliseconds since the Unix epoch. */
  last(): Promise<ReadonlyMap<SiteId, number>>;
  sent(site: SiteId, at: number): Promise<void>;
}

export function sqlTechnicalDataSends(database: Database): TechnicalDataSends {
  const db = withTables<TechnicalDataTables>(database);
  return {
    async last() {
      const rows = await db.selectFrom('technical_data_sends').select(['site', 'at']).execute();
      return new Map(rows.map(({ site, at }) => [site, Number(at)]));
    },

    async sent(site, at) {
      await db
        .insertInto('technical_data_sends')
        .values({ site, at })
        .onConflict((conflict) => conflict.column('site').doUpdateSet({ at }))
        .execute();
    },
  };
}
