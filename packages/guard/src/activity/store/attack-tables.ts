import type { AttackGoal } from '@security-optimizer/contract/activity/attackers';
import { type Kysely, sql } from 'kysely';

/**
 * Stores rows in the order of their key: there is no second copy of the key, and neighbours in time are neighbours on
 * disk.
 */
export const CLUSTERED = sql`without rowid`;

/** Refused requests, wrong passwords and scans, by the days of the site. */
export interface AttackDaysTable {
  site: number;
  /** `YYYY-MM-DD` in the time zone of the site. */
  day: string;
  goal: AttackGoal;
  refused: number;
  failed: number;
  /** Scans that no rule refused. */
  scanned: number;
}

/** The most active attackers of a day, counted like `top_visits`. */
export interface AttackersTable {
  site: number;
  day: string;
  who: 'address' | 'network';
  value: string;
  hits: number;
  excess: number;
  /** Hits by goal since the attacker has its counter, in the order of `attackGoals`, separated by commas. */
  goals: string;
  /** Those of them that are only scans. */
  scans: number;
  /** The target of the majority for each goal, and its lead: `[["/xmlrpc.php", 3], null, …]`. */
  targets: string;
  /** Unix seconds of the first one. */
  since: number;
}

/** Estimates of the number of addresses, see `address-sketch`. */
export interface AddressSketchesTable {
  site: number;
  day: string;
  what: 'attacker' | 'failed-login';
  registers: Uint8Array;
}

/** Creates the tables of attackers in a new database. */
export async function createAttackTables({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('attack_days')
    .addColumn('site', 'integer', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('goal', 'text', (column) => column.notNull())
    .addColumn('refused', 'bigint', (column) => column.notNull())
    .addColumn('failed', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('attack_days_key', ['site', 'day', 'goal'])
    .modifyEnd(CLUSTERED)
    .execute();
  await schema
    .createTable('attackers')
    .addColumn('site', 'integer', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('who', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('hits', 'bigint', (column) => column.notNull())
    .addColumn('excess', 'bigint', (column) => column.notNull())
    .addColumn('goals', 'text', (column) => column.notNull())
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('lead', 'bigint', (column) => column.notNull())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('attackers_key', ['site', 'day', 'who', 'value'])
    .modifyEnd(CLUSTERED)
    .execute();
  await schema
    .createTable('address_sketches')
    .addColumn('site', 'integer', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('what', 'text', (column) => column.notNull())
    .addColumn('registers', 'blob', (column) => column.notNull())
    .addPrimaryKeyConstraint('address_sketches_key', ['site', 'day', 'what'])
    .modifyEnd(CLUSTERED)
    .execute();
}

/** Adds scans, and the target of each goal. */
export async function addScans(db: Kysely<unknown>): Promise<void> {
  const columns = [
    ['attack_days', 'scanned'],
    ['attackers', 'scans'],
  ] as const;
  for (const [table, name] of columns) {
    await db.schema
      .alterTable(table)
      .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  }
  await db.schema
    .alterTable('attackers')
    .addColumn('targets', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute();
  // The target becomes that of the most frequent goal.
  await sql`update attackers set targets = (
    select json_group_array(case when key = best then json_array(target, lead) end)
    from json_each('[' || goals || ']'),
      (select key as best from json_each('[' || goals || ']') order by value desc, key limit 1))
    where target <> ''`.execute(db);
  for (const name of ['target', 'lead']) await db.schema.alterTable('attackers').dropColumn(name).execute();
}
