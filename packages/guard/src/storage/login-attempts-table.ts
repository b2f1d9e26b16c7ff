import type { Kysely, Migration } from 'kysely';

/** Failed log-ins and locks, one row per address (or device) of a site. */
export interface LoginAttemptTables {
  login_attempts: {
    site: string;
    /** `192.0.2.1`, `2001:db8:0:1::/64` or `device:` and an id. */
    key: string;
    failures: number;
    /** 0 while it was never locked. */
    locked_until: number;
    last_failure: number;
  };
}

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
