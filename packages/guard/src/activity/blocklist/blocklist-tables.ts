import { type Generated, type Kysely, type Migration, sql } from 'kysely';
import type { Migrations } from '../../storage/migrations.js';

/** The blocks of owners. A visitor is blocked while its row exists and has not ended. */
export interface BlocklistTables {
  blocked_visitors: {
    /** Never reused. */
    id: Generated<number>;
    site: string;
    kind: 'ip' | 'range' | 'user';
    /** One address, a range in the format of `parseRange`, or the id of a user. */
    value: string;
    /** 0 while the visitor is unknown; a range has an id of its own, see RANGE_IDS. */
    visitor_id: number;
    /** Address, range or login, for display. */
    name: string;
    created_at: number;
    /** WordPress user, or null for the command line and guard itself. */
    by_id: number | null;
    by_login: string;
    /** When it ends, milliseconds since the Unix epoch; null: permanent. */
    until: Generated<number | null>;
    note: Generated<string>;
  };
  /** Incremented by each change of a site's blocks. A site without a row never had a block. */
  blocked_versions: {
    site: string;
    version: number;
  };
}

/**
 * Ranges are no visitors of the Activity Log, whose ids are small. Their ids are the id of their row plus this number,
 * which is exact as a JavaScript number.
 */
export const RANGE_IDS = 1_000_000_000_000;

const blockedVisitorsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('blocked_visitors')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addColumn('visitor_id', 'bigint', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('by_id', 'bigint')
      .addColumn('by_login', 'text', (column) => column.notNull())
      .addUniqueConstraint('blocked_visitors_key', ['site', 'kind', 'value'])
      .execute();
    const index = (name: string, columns: string[]) =>
      db.schema.createIndex(name).on('blocked_visitors').columns(columns).execute();
    await index('blocked_visitors_by_time', ['site', 'created_at', 'id']);
    await index('blocked_visitors_by_visitor', ['site', 'visitor_id']);
    await db.schema
      .createTable('blocked_versions')
      .addColumn('site', 'text', (column) => column.primaryKey())
      .addColumn('version', 'bigint', (column) => column.notNull())
      .execute();
    // Blocks from before the Activity Log.
    await sql`
      insert into blocked_visitors (site, kind, value, visitor_id, name, created_at, by_id, by_login)
      select site,
        case when address like '%-%' or address like '%/%' or address like '%*%' then 'range' else 'ip' end,
        address, 0, address, created_at, null, ''
      from blocked_addresses order by created_at`.execute(db);
    await sql`update blocked_visitors set visitor_id = id + ${sql.lit(RANGE_IDS)} where kind = 'range'`.execute(db);
    await sql`insert into blocked_versions (site, version) select distinct site, 1 from blocked_visitors`.execute(db);
    await db.schema.dropTable('blocked_addresses').execute();
  },
};

/** Ends of blocks, and notes. The list of permanent blocks is read along an index that contains nothing else. */
const blockTermsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable('blocked_visitors').addColumn('until', 'bigint').execute();
    await db.schema
      .alterTable('blocked_visitors')
      .addColumn('note', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
    await db.schema
      .createIndex('blocked_for_good')
      .on('blocked_visitors')
      .columns(['site', 'kind', 'value'])
      .where(sql<boolean>`until is null`)
      .execute();
    await db.schema
      .createIndex('blocked_until')
      .on('blocked_visitors')
      .columns(['until'])
      .where(sql<boolean>`until is not null`)
      .execute();
  },
};

export const blockedVisitorMigrations: Migrations = {
  '005_blocked_visitors': blockedVisitorsMigration,
  '031_block_terms': blockTermsMigration,
};
