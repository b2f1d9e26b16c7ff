import type { Kysely } from 'kysely';
import { type BlocklistTables, blockedVisitorMigrations } from './activity/index.js';
import { type AlertTables, alertMigrations } from './alerts/index.js';
import {
  type LoginAttemptTables,
  loginAttemptMigrations,
  type ThrottledAccountsTables,
  throttledAccountsMigrations,
} from './login/index.js';
import {
  type FirstStartTables,
  firstStartMigrations,
  type TechnicalDataTables,
  technicalDataMigrations,
} from './overview/index.js';
import {
  type CheckupTables,
  checkupMigrations,
  type JobTables,
  jobMigrations,
  type RemovedFileTables,
  removedFileMigrations,
} from './post-hack/index.js';
import { type ReportSendTables, reportSendMigrations } from './reports/index.js';
import { type AuditTables, auditMigrations } from './settings/audit-store.js';
import { type SettingsTables, settingsMigrations } from './settings/settings-store.js';
import type { SiteFactsTables } from './sites/site-facts-store.js';
import { type CallNonceTables, callNonceMigrations } from './storage/call-nonces.js';
import type { SiteVersionTables } from './storage/change-feed.js';
import { type OpenOptions, openDatabase, withTables } from './storage/database.js';
import type { Migrations } from './storage/migrations.js';
import { secondFactorMigrations, type TwoFactorTables } from './two-factor/index.js';

/** The migrations of all features. They run in the order of their names. */
export const migrations: Migrations = {
  ...settingsMigrations,
  ...auditMigrations,
  ...secondFactorMigrations,
  ...loginAttemptMigrations,
  ...throttledAccountsMigrations,
  ...blockedVisitorMigrations,
  ...reportSendMigrations,
  ...firstStartMigrations,
  ...technicalDataMigrations,
  ...jobMigrations,
  ...checkupMigrations,
  ...removedFileMigrations,
  ...alertMigrations,
  ...callNonceMigrations,
};

/** The tables of all features, for programs that read the whole database. */
export interface AllTables
  extends SettingsTables,
    AuditTables,
    SiteVersionTables,
    SiteFactsTables,
    TwoFactorTables,
    LoginAttemptTables,
    ThrottledAccountsTables,
    BlocklistTables,
    ReportSendTables,
    FirstStartTables,
    TechnicalDataTables,
    JobTables,
    CheckupTables,
    RemovedFileTables,
    AlertTables,
    CallNonceTables {}

/**
 * Opens the configured database with the tables of all features. Close it with `destroy()`.
 * @throws StorageError
 */
export async function openGuardDatabase(options: Omit<OpenOptions, 'migrations'>): Promise<Kysely<AllTables>> {
  return withTables(await openDatabase({ ...options, migrations }));
}
