import { type Generated, type Kysely, type Migration, sql } from 'kysely';

/** Whom the owner has blocked. A visitor is blocked while the row exists. */
export interface BlockedVisitorTables {
  blocked_visitors: {
    /** Never given twice. */
    id: Generated<number>;
    site: string;
    kind: 'ip' | 'range' | 'user';
    /** One address, a range as `parseRange` reads it, or the id of a user. */
    value: string;
    /** 0 while the Activity Log has not been asked for it; a range has an id of its own, see RANGE_IDS. */
    visitor_id: number;
    /** What it is called: address, range or login. */
    name: string;
    created_at: number;
    /** WordPress user, or null for the command line and guard itself. */
    by_id: number | null;
    by_login: string;
  };
  /** Grows with each change of a site's blocks; a site without a row never had one. */
  blocked_versions: {
    site: string;
    version: number;
  };
}

/**
 * Ranges are no visitors of the Activity Log, whose ids are small: they are named by their row's id above this number.
 * All of it stays exact as a JavaScript number.
 */
export const RANGE_IDS = 1_000_000_000_000;

export const blockedVisitorsMigration: Migration = {
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
    // What was blocked before there was an Activity Log.
    await sql`
      insert into blocked_visitors (site, kind, value, visitor_id, name, created_at, by_id, by_login)
      select site, case when address glob '*[-/*]*' then 'range' else 'ip' end, address, 0, address, created_at, null, ''
      from blocked_addresses order by created_at`.execute(db);
    await sql`update blocked_visitors set visitor_id = id + ${sql.lit(RANGE_IDS)} where kind = 'range'`.execute(db);
    await sql`insert into blocked_versions (site, version) select distinct site, 1 from blocked_visitors`.execute(db);
    await db.schema.dropTable('blocked_addresses').execute();
  },
};
