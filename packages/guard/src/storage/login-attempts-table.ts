import type { Generated, Kysely, Migration } from 'kysely';

/** Failed log-ins and locks, one row per address (or device) of a site. */
export interface LoginAttemptTables {
  login_attempts: {
    site: string;
    /** `192.0.2.1`, `2001:db8:0:1::/64`, one of both behind `other-sites:`, or `device:` and an id. */
    key: string;
    failures: number;
    /** 0 while it was never locked. */
    locked_until: number;
    last_failure: number;
    /** Ids of the accounts that were tried, joined by commas. */
    accounts: Generated<string>;
  };
  /** What another process than the running guard has lifted, so that guard need not read everything again. */
  login_unlocks: {
    site: string;
    /** As above, or `EVERY_KEY`. */
    key: string;
    /** The site's version that told of it. */
    version: number;
  };
}

/** Stands for all keys of a site. */
export const EVERY_KEY = '';

export const loginAttemptsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('login_attempts')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('failures', 'integer', (column) => column.notNull())
      .addColumn('locked_until', 'bigint', (column) => column.notNull())
      .addColumn('last_failure', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('login_attempts_key', ['site', 'key'])
      .execute();
  },
};

/** Of failures from before nobody knows whose account was tried: any log-in from there forgives them, as it did then. */
export const attemptAccountsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable('login_attempts')
      .addColumn('accounts', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  },
};

export const loginUnlocksMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('login_unlocks')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('login_unlocks_key', ['site', 'key'])
      .execute();
  },
};
