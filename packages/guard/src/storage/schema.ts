import type { Generated } from 'kysely';
import type { BlockedVisitorTables } from './blocked-visitors-table.js';
import type { FirstStartTables } from './first-start-store.js';
import type { JobTables } from './jobs-table.js';
import type { LoginAttemptTables } from './login-attempts-table.js';
import type { ReportSendTables } from './report-sends-table.js';
import type { SecondFactorTables } from './second-factor-tables.js';
import type { SlowUsersTables } from './slow-users-store.js';

/** Tables as Kysely sees them. Every table carries the site, so that many sites can share one database. */
export interface Schema
  extends SecondFactorTables,
    LoginAttemptTables,
    SlowUsersTables,
    BlockedVisitorTables,
    JobTables,
    FirstStartTables,
    ReportSendTables {
  settings: SettingsTable;
  audit: AuditTable;
  site_versions: SiteVersionsTable;
  site_facts: SiteFactsTable;
}

/** The value of each setting that was ever changed; what is not here has its default. */
interface SettingsTable {
  site: string;
  name: string;
  /** JSON. */
  value: string;
  /** Starts at 1 and grows by one with each change. */
  version: number;
  /** Milliseconds since the Unix epoch, as all times here. */
  updated_at: number;
}

/** Who changed what, when, from what to what. Rows are only ever added. */
interface AuditTable {
  id: string;
  site: string;
  at: number;
  actor_id: number | null;
  actor_login: string;
  address: string | null;
  name: string;
  /** JSON, both. */
  before: string;
  after: string;
  /** 1 once the Activity Log knows it. */
  told: Generated<number>;
}

/** A number that grows over all sites; a site's row takes the next one when its settings change. */
interface SiteVersionsTable {
  site: string;
  version: number;
}

/** What the connector last said about the site, so that a restart knows it before WordPress answers. */
interface SiteFactsTable {
  site: string;
  /** JSON. */
  facts: string;
  /** When guard last wrote its key into this WordPress again. */
  key_restored_at: number | null;
}
