import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import type { ActivitySchema } from './activity-schema.js';

/** Rows stand in the order of their key: no second copy of the key, and neighbours in time are neighbours on disk. */
const CLUSTERED = sql`without rowid`;

/** Steps from an empty database to the present tables, in order. A step that was released is never edited. */
const migrations: Readonly<Record<string, Migration>> = {
  '001_activity': {
    async up(db: Kysely<unknown>): Promise<void> {
      await createVisitorTables(db);
      await createVisitTables(db);
      await createEventTables(db);
    },
  },
  '002_folded_visits': {
    // Columns at the end of rows that are there already: SQLite writes none of those anew, however many they are.
    async up({ schema }: Kysely<unknown>): Promise<void> {
      await schema
        .alterTable('visits')
        .addColumn('more', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      await schema.alterTable('visits').addColumn('more_bits', 'integer').execute();
    },
  },
};

async function createVisitorTables({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('activity_sites')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('site', 'text', (column) => column.notNull().unique())
    .execute();
  await schema
    .createTable('visitors')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('site', 'integer', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('key', 'blob', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('hostname', 'text')
    .addColumn('verified_bot', 'text')
    .addColumn('first_seen', 'bigint', (column) => column.notNull())
    .addColumn('last_seen', 'bigint', (column) => column.notNull())
    .addColumn('visits', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('events', 'integer', (column) => column.notNull().defaultTo(0))
    .addUniqueConstraint('visitors_key', ['site', 'kind', 'key'])
    .execute();
  await schema.createIndex('visitors_by_name').on('visitors').columns(['site', 'kind', 'name']).execute();
  await schema
    .createIndex('visitors_without_rows')
    .on('visitors')
    .columns(['site', 'last_seen'])
    .where(sql<boolean>`visits = 0 and events = 0 and kind = 'ip'`)
    .execute();
  await schema
    .createIndex('users_by_events')
    .on('visitors')
    .columns(['site', 'events'])
    .where(sql<boolean>`kind = 'user'`)
    .execute();
}

async function createVisitTables({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('visit_kinds')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('status', 'integer', (column) => column.notNull())
    .addColumn('rule', 'text', (column) => column.notNull())
    .addUniqueConstraint('visit_kinds_key', ['type', 'status', 'rule'])
    .execute();
  await schema
    .createTable('visits')
    .addColumn('site', 'integer', (column) => column.notNull())
    .addColumn('id', 'bigint', (column) => column.notNull())
    .addColumn('kind', 'integer', (column) => column.notNull())
    .addColumn('visitor', 'integer', (column) => column.notNull())
    .addColumn('count', 'integer', (column) => column.notNull())
    .addColumn('target', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('visits_key', ['site', 'id'])
    .modifyEnd(CLUSTERED)
    .execute();
  // Each index also holds what the other filter and the counts need, so that rows are only read to be shown.
  await schema.createIndex('visits_by_kind').on('visits').columns(['site', 'kind', 'id', 'visitor']).execute();
  await schema
    .createIndex('visits_by_visitor')
    .on('visits')
    .columns(['site', 'visitor', 'id', 'kind', 'count'])
    .execute();
  await schema
    .createTable('visit_sums')
    .addColumn('site', 'integer', (column) => column.notNull())
    .addColumn('kind', 'integer', (column) => column.notNull())
    .addColumn('rows', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('visit_sums_key', ['site', 'kind'])
    .modifyEnd(CLUSTERED)
    .execute();
  await schema
    .createTable('visit_stretches')
    .addColumn('site', 'integer', (column) => column.notNull())
    .addColumn('kind', 'integer', (column) => column.notNull())
    .addColumn('start', 'bigint', (column) => column.notNull())
    .addColumn('rows', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('visit_stretches_key', ['site', 'kind', 'start'])
    .modifyEnd(CLUSTERED)
    .execute();
  await schema
    .createTable('visit_hours')
    .addColumn('site', 'integer', (column) => column.notNull())
    .addColumn('hour', 'bigint', (column) => column.notNull())
    .addColumn('kind', 'integer', (column) => column.notNull())
    .addColumn('hits', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('visit_hours_key', ['site', 'hour', 'kind'])
    .modifyEnd(CLUSTERED)
    .execute();
  await schema
    .createTable('top_visits')
    .addColumn('site', 'integer', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('what', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('hits', 'bigint', (column) => column.notNull())
    .addColumn('excess', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('top_visits_key', ['site', 'day', 'what', 'value'])
    .modifyEnd(CLUSTERED)
    .execute();
}

async function createEventTables({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('events')
    .addColumn('site', 'integer', (column) => column.notNull())
    .addColumn('id', 'bigint', (column) => column.notNull())
    .addColumn('uid', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('visitor', 'integer', (column) => column.notNull())
    .addColumn('user_id', 'bigint', (column) => column.notNull())
    .addColumn('login', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('address_visitor', 'integer', (column) => column.notNull())
    .addColumn('object', 'text', (column) => column.notNull())
    .addColumn('object_type', 'text', (column) => column.notNull())
    .addColumn('before', 'text')
    .addColumn('after', 'text')
    .addColumn('origin', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('events_key', ['site', 'id'])
    .modifyEnd(CLUSTERED)
    .execute();
  await schema.createIndex('events_by_uid').on('events').columns(['site', 'uid']).unique().execute();
  await schema.createIndex('events_by_visitor').on('events').columns(['site', 'visitor', 'id']).execute();
  await schema.createIndex('events_by_kind').on('events').columns(['site', 'kind', 'id']).execute();
  await schema
    .createTable('event_hours')
    .addColumn('site', 'integer', (column) => column.notNull())
    .addColumn('hour', 'bigint', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('event_hours_key', ['site', 'hour', 'kind'])
    .modifyEnd(CLUSTERED)
    .execute();
}

/** Brings the database to the present tables. Throws what the failing step threw; that step is then undone. */
export async function migrateActivity(db: Kysely<ActivitySchema>): Promise<void> {
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
  }).migrateToLatest();
  if (error) throw error;
}
