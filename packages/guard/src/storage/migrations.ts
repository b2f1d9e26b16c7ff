import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import { auditOutboxMigration } from './audit-outbox-table.js';
import { blockedVisitorsMigration } from './blocked-visitors-table.js';
import { firstStartMigration } from './first-start-store.js';
import { jobsMigration } from './jobs-table.js';
import { attemptAccountsMigration, loginAttemptsMigration, loginUnlocksMigration } from './login-attempts-table.js';
import { reportSendsMigration } from './report-sends-table.js';
import type { Schema } from './schema.js';
import { challengeStampMigration, secondFactorMigration } from './second-factor-tables.js';
import { slowUsersMigration } from './slow-users-store.js';

/** Steps from an empty database to the present tables, in order. A step that was released is never edited. */
const migrations: Readonly<Record<string, Migration>> = {
  '001_settings': {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('settings')
        .addColumn('site', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('value', 'text', (column) => column.notNull())
        .addColumn('version', 'integer', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('settings_key', ['site', 'name'])
        .execute();
      await db.schema
        .createTable('audit')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('site', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('actor_id', 'bigint')
        .addColumn('actor_login', 'text', (column) => column.notNull())
        .addColumn('address', 'text')
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('before', 'text', (column) => column.notNull())
        .addColumn('after', 'text', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('audit_by_time').on('audit').columns(['site', 'at']).execute();
      await db.schema
        .createTable('blocked_addresses')
        .addColumn('site', 'text', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('blocked_addresses_key', ['site', 'address'])
        .execute();
      await db.schema
        .createTable('site_versions')
        .addColumn('site', 'text', (column) => column.primaryKey())
        .addColumn('version', 'bigint', (column) => column.notNull().unique())
        .execute();
      await db.schema
        .createTable('site_facts')
        .addColumn('site', 'text', (column) => column.primaryKey())
        .addColumn('facts', 'text', (column) => column.notNull())
        .addColumn('key_restored_at', 'bigint')
        .execute();
    },
  },
  '003_second_factor': secondFactorMigration,
  '004_login_attempts': loginAttemptsMigration,
  '005_blocked_visitors': blockedVisitorsMigration,
  '006_audit_outbox': auditOutboxMigration,
  '006_login_unlocks': loginUnlocksMigration,
  '007_slow_users': slowUsersMigration,
  '020_jobs': jobsMigration,
  '021_first_starts': firstStartMigration,
  '022_report_sends': reportSendsMigration,
  '023_attempt_accounts': attemptAccountsMigration,
  '024_challenge_stamps': challengeStampMigration,
};

/** Brings the database to the present tables. Throws what the failing step threw; that step is then undone. */
export async function migrate(db: Kysely<Schema>): Promise<void> {
  if (await hasAll(db)) return;
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
  }).migrateToLatest();
  if (error) throw error;
}

/** Whether these steps were all made and no others. One question, where the migrator takes ten; it sees to all else. */
async function hasAll(db: Kysely<Schema>): Promise<boolean> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    return rows.length === Object.keys(migrations).length && rows.every(({ name }) => Object.hasOwn(migrations, name));
  } catch {
    return false;
  }
}
