import type { AttackGoal } from '@security-optimizer/contract/activity/attackers';
import { type Generated, type Kysely, type Migration, Migrator, sql } from 'kysely';
import {
  type AddressSketchesTable,
  type AttackDaysTable,
  type AttackersTable,
  addScans,
  CLUSTERED,
  createAttackTables,
} from './attack-tables.js';

/**
 * Tables of `activity.sqlite` for Kysely; docs/developer/activity-log.md describes their purpose. A site is a small
 * number, since every row and index contains it. Seconds are Unix seconds; row-keys.ts creates row ids.
 */
export interface ActivitySchema {
  activity_sites: ActivitySitesTable;
  visitors: VisitorsTable;
  visit_kinds: VisitKindsTable;
  visit_texts: VisitTextsTable;
  visits: VisitsTable;
  visit_sums: VisitSumsTable;
  visit_stretches: VisitBucketsTable;
  visit_hours: VisitHoursTable;
  top_visits: TopVisitsTable;
  attack_days: AttackDaysTable;
  attackers: AttackersTable;
  address_sketches: AddressSketchesTable;
  events: EventsTable;
  event_hours: EventHoursTable;
}

interface ActivitySitesTable {
  id: Generated<number>;
  site: string;
}

interface VisitorsTable {
  /** Never reused after the row is deleted. */
  id: Generated<number>;
  site: number;
  kind: 'ip' | 'user';
  /** 16 bytes of an address (IPv4 as ::ffff:a.b.c.d), or 8 bytes of a user's id, most significant first. */
  key: Uint8Array;
  /** Address for display, or the login as last seen. */
  name: string;
  hostname: string | null;
  verified_bot: string | null;
  first_seen: number;
  last_seen: number;
  /** Number of rows of `visits` and of `events` that refer to this visitor. */
  visits: number;
  events: number;
}

/** Every combination of type, status, rule and goal that has occurred. */
interface VisitKindsTable {
  id: number;
  type: string;
  status: number;
  /** '' when no rule refused it. */
  rule: string;
  /** Goal of the request, see `attack-goal`; '' for none. */
  goal: AttackGoal | '';
  /** 1 = it contained a wrong password. */
  failed: 0 | 1;
}

/** Agents, referers and origins of visits, each once per site. */
interface VisitTextsTable {
  id: Generated<number>;
  site: number;
  text: string;
  /** Unix seconds of a time after which it was used, at most a day before its last use. */
  seen: number;
}

interface VisitsTable {
  site: number;
  id: number;
  kind: number;
  visitor: number;
  /** Hits of the visitor. */
  count: number;
  target: string;
  /** Refused visits that were folded into the row, those of its visitor included. */
  more: number;
  /**
   * Prefix length of the network of those visits, 0 for any; null when they are the visitor's and counted in `count`.
   */
  more_bits: number | null;
  /** '' where it is unknown. */
  method: Generated<string>;
  /** Ids in `visit_texts`; 0 for none. `origin` is scheme and host. */
  agent: Generated<number>;
  referer: Generated<number>;
  origin: Generated<number>;
  /** References as numbers, of the first of its requests and of the last one that was refused; 0 for none. */
  reference: Generated<number>;
  last_reference: Generated<number>;
  /** Wrong passwords in each of its requests. */
  failed: Generated<number>;
  /** Login that they were sent for. */
  tried: Generated<string>;
}

/** Number of existing rows, by kind. */
interface VisitSumsTable {
  site: number;
  /** 0 for all kinds together. */
  kind: number;
  rows: number;
}

/**
 * Number of existing rows, by ranges of ids: a bucket extends from `start` to the next one and contains a few thousand
 * rows, so that any number of rows can be skipped or counted by reading some buckets' counts and the rows of one.
 */
interface VisitBucketsTable {
  site: number;
  /** 0 for all kinds together. */
  kind: number;
  start: number;
  rows: number;
}

/** Hits per hour, whether their rows still exist or not. */
interface VisitHoursTable {
  site: number;
  /** Unix seconds. */
  hour: number;
  /** 0 for visits that could not be recorded, -1 for wrong passwords. */
  kind: number;
  hits: number;
}

export type TopWhat = 'address' | 'page' | 'failed-login' | 'attacked-page';

/** The most frequent values of a day: a bounded number of counters. A new value takes over the smallest one. */
interface TopVisitsTable {
  site: number;
  /** `YYYY-MM-DD` in the time zone of the site. */
  day: string;
  what: TopWhat;
  value: string;
  hits: number;
  /** Part of `hits` that may belong to earlier values of the counter. */
  excess: number;
}

interface EventsTable {
  site: number;
  id: number;
  uid: string;
  kind: string;
  /** The user's visitor; 0 when nobody was signed in. */
  visitor: number;
  user_id: number;
  login: string;
  address: string;
  /** The address's visitor; 0 without an address. */
  address_visitor: number;
  object: string;
  object_type: string;
  before: string | null;
  after: string | null;
  origin: 'web' | 'cli' | 'cron' | 'system';
}

interface EventHoursTable {
  site: number;
  hour: number;
  kind: string;
  count: number;
}

/** Migrations from an empty database to the present tables, in order. A released migration is never edited. */
const migrations: Readonly<Record<string, Migration>> = {
  '001_activity': {
    async up(db: Kysely<unknown>): Promise<void> {
      await createVisitorTables(db);
      await createVisitTables(db);
      await createEventTables(db);
    },
  },
  '002_folded_visits': {
    // Columns at the end of existing rows: SQLite rewrites no row, however many there are.
    async up({ schema }: Kysely<unknown>): Promise<void> {
      await schema
        .alterTable('visits')
        .addColumn('more', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      await schema.alterTable('visits').addColumn('more_bits', 'integer').execute();
    },
  },
  '003_attackers': {
    async up(db: Kysely<unknown>): Promise<void> {
      await addVisitDetails(db);
      await createAttackTables(db);
      await db.schema
        .createIndex('events_by_address')
        .on('events')
        .columns(['site', 'address_visitor', 'id'])
        .execute();
    },
  },
  '004_verified_bots': {
    // Few visitors are verified. Before a network with a hundred thousand addresses is blocked, this index is searched.
    async up({ schema }: Kysely<unknown>): Promise<void> {
      await schema
        .createIndex('visitors_verified')
        .on('visitors')
        .columns(['site', 'key'])
        .where(sql<boolean>`verified_bot is not null and kind = 'ip'`)
        .execute();
    },
  },
  '005_scans': { up: addScans },
};

async function addVisitDetails(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  // The key of a kind gets another column, so its small table is recreated.
  await schema
    .createTable('visit_kinds_new')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('status', 'integer', (column) => column.notNull())
    .addColumn('rule', 'text', (column) => column.notNull())
    .addColumn('goal', 'text', (column) => column.notNull())
    .addColumn('failed', 'integer', (column) => column.notNull())
    .addUniqueConstraint('visit_kinds_of', ['type', 'status', 'rule', 'goal', 'failed'])
    .execute();
  await sql`insert into visit_kinds_new (id, type, status, rule, goal, failed)
    select id, type, status, rule, '', 0 from visit_kinds`.execute(db);
  await schema.dropTable('visit_kinds').execute();
  await schema.alterTable('visit_kinds_new').renameTo('visit_kinds').execute();
  const visits = ['agent', 'referer', 'origin', 'reference', 'last_reference', 'failed'];
  for (const name of visits) {
    await schema
      .alterTable('visits')
      .addColumn(name, 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  }
  for (const name of ['method', 'tried']) {
    await schema
      .alterTable('visits')
      .addColumn(name, 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  }
  // Existing rows have no reference, so the index is created without reading their texts.
  await schema
    .createIndex('visits_by_reference')
    .on('visits')
    .columns(['site', 'reference'])
    .where(sql<boolean>`reference > 0`)
    .execute();
  await schema
    .createTable('visit_texts')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('site', 'integer', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('seen', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('visit_texts_key', ['site', 'text'])
    .execute();
  await schema.createIndex('visit_texts_by_time').on('visit_texts').columns(['site', 'seen']).execute();
}

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
  // Each index also contains what the other filter and the counts need, so that rows are read only for display.
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

/** Migrates the database to the present tables. Throws the error of the failing migration, which is then undone. */
export async function migrateActivity(db: Kysely<ActivitySchema>): Promise<void> {
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
  }).migrateToLatest();
  if (error) throw error;
}
