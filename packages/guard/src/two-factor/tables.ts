import type { Generated, Kysely, Migration } from 'kysely';
import type { Migrations } from '../storage/migrations.js';

/**
 * Tables of the second factor. Codes, cookies and keys are stored only hashed or encrypted; times are milliseconds.
 */
export interface TwoFactorTables {
  second_factors: SecondFactorsTable;
  second_factor_codes: SecondFactorCodesTable;
  second_factor_challenges: SecondFactorChallengesTable;
  second_factor_devices: SecondFactorDevicesTable;
  second_factor_tries: SecondFactorTriesTable;
}

/** One row per user with a factor, enabled or being set up. */
interface SecondFactorsTable {
  site: string;
  user_id: number;
  /** Login name when it was last read, for lists. */
  login: string;
  /** The shared key, encrypted. */
  secret: string;
  /** Identifies the key that encrypted the secret. */
  key_id: string;
  /** Step of the last code that was used, so that no code is accepted twice; 0 before the first. */
  last_step: number;
  /** During setup: hash of the challenge that may see the secret. Null afterwards. */
  setup_challenge: string | null;
  created_at: number;
  /** Null during setup. */
  enabled_at: number | null;
}

interface SecondFactorCodesTable {
  site: string;
  user_id: number;
  hash: string;
  used_at: number | null;
}

/** A login between password and session, or an administrator's setup of a factor. */
interface SecondFactorChallengesTable {
  site: string;
  /** SHA-256 of the cookie. */
  id_hash: string;
  user_id: number;
  login: string;
  purpose: 'login' | 'setup';
  remember: number;
  redirect: string;
  /** 1 when `redirect` is the target of WordPress's own response. */
  decided: Generated<number>;
  /** Path of the site of a network; empty for its main site. */
  site_path: Generated<string>;
  interim: number;
  /** WordPress's stamp of password and role when the challenge began; empty for an administrator's setup. */
  stamp: Generated<string>;
  created_at: number;
  expires_at: number;
  /** Number of codes tried, correct or wrong. */
  tries: number;
  /**
   * Time of the correct first code of a new factor. The back-up codes were shown, and their confirmation is missing.
   */
  confirmed_at: number | null;
  /** Time at which the challenge led to a session or was ended. */
  ended_at: number | null;
}

interface SecondFactorDevicesTable {
  site: string;
  /** SHA-256 of the cookie's token. */
  token_hash: string;
  user_id: number;
  created_at: number;
  expires_at: number;
}

/** Codes tried since the last correct one, over all challenges of a user. */
interface SecondFactorTriesTable {
  site: string;
  user_id: number;
  tries: number;
  paused_until: number;
}

const twoFactorMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('second_factors')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('user_id', 'bigint', (column) => column.notNull())
      .addColumn('login', 'text', (column) => column.notNull())
      .addColumn('secret', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('last_step', 'bigint', (column) => column.notNull())
      .addColumn('setup_challenge', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('enabled_at', 'bigint')
      .addPrimaryKeyConstraint('second_factors_key', ['site', 'user_id'])
      .execute();
    await db.schema
      .createTable('second_factor_codes')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('user_id', 'bigint', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('used_at', 'bigint')
      .addPrimaryKeyConstraint('second_factor_codes_key', ['site', 'user_id', 'hash'])
      .execute();
    await db.schema
      .createTable('second_factor_challenges')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('id_hash', 'text', (column) => column.notNull())
      .addColumn('user_id', 'bigint', (column) => column.notNull())
      .addColumn('login', 'text', (column) => column.notNull())
      .addColumn('purpose', 'text', (column) => column.notNull())
      .addColumn('browser_hash', 'text', (column) => column.notNull())
      .addColumn('remember', 'integer', (column) => column.notNull())
      .addColumn('redirect', 'text', (column) => column.notNull())
      .addColumn('interim', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('tries', 'integer', (column) => column.notNull())
      .addColumn('confirmed_at', 'bigint')
      .addColumn('ended_at', 'bigint')
      .addPrimaryKeyConstraint('second_factor_challenges_key', ['site', 'id_hash'])
      .execute();
    await db.schema
      .createIndex('second_factor_challenges_by_user')
      .on('second_factor_challenges')
      .columns(['site', 'user_id', 'created_at'])
      .execute();
    await db.schema
      .createTable('second_factor_devices')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('token_hash', 'text', (column) => column.notNull())
      .addColumn('user_id', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('second_factor_devices_key', ['site', 'token_hash'])
      .execute();
    await db.schema
      .createTable('second_factor_tries')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('user_id', 'bigint', (column) => column.notNull())
      .addColumn('tries', 'integer', (column) => column.notNull())
      .addColumn('paused_until', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('second_factor_tries_key', ['site', 'user_id'])
      .execute();
  },
};

/** An earlier challenge has no stamp to compare; it expires after ten minutes. */
const challengeStampMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable('second_factor_challenges')
      .addColumn('stamp', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  },
};

/** Earlier challenges let WordPress decide their target, at its main site, as before. */
const challengeTargetMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable('second_factor_challenges')
      .addColumn('decided', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .alterTable('second_factor_challenges')
      .addColumn('site_path', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  },
};

/** The cookie alone identifies the browser; see `findChallenge`. */
const challengeBrowserMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable('second_factor_challenges').dropColumn('browser_hash').execute();
  },
};

export const secondFactorMigrations: Migrations = {
  '003_second_factor': twoFactorMigration,
  '024_challenge_stamps': challengeStampMigration,
  '042_challenges_without_user_agent': challengeBrowserMigration,
  '043_challenge_targets': challengeTargetMigration,
};
