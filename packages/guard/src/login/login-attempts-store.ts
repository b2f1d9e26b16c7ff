import type { Generated, Kysely, Migration } from 'kysely';
import { type Actor, addAuditRows } from '../settings/audit-store.js';
import type { SiteId } from '../site.js';
import { nextSiteVersion } from '../storage/change-feed.js';
import { type Database, inTransaction, withTables } from '../storage/database.js';
import type { Migrations } from '../storage/migrations.js';
import { type LoginAttemptStore, toCrossSiteKey } from './attempts.js';

/** Rows per statement: SQLite limits the number of values in one statement. */
const ROWS_AT_ONCE = 200;

/** Failed logins and locks in a SQL table. */
export function sqlLoginAttemptStore(database: Database): LoginAttemptStore {
  const db = withTables<LoginAttemptTables>(database);
  return {
    async load(site) {
      const rows = await db
        .selectFrom('login_attempts')
        .select(['key', 'failures', 'locked_until', 'last_failure', 'accounts'])
        .where('site', '=', site)
        .orderBy('last_failure')
        .execute();
      return rows.map((row) => ({
        key: row.key,
        failures: Number(row.failures),
        lockedUntil: Number(row.locked_until),
        lastFailure: Number(row.last_failure),
        accounts: row.accounts === '' ? [] : row.accounts.split(',').map(Number),
      }));
    },

    save(site, entries) {
      return inTransaction(db, site, async (transaction) => {
        for (let at = 0; at < entries.length; at += ROWS_AT_ONCE) {
          await transaction
            .insertInto('login_attempts')
            .values(
              entries.slice(at, at + ROWS_AT_ONCE).map(({ key, failures, lockedUntil, lastFailure, accounts }) => ({
                site,
                key,
                failures,
                locked_until: lockedUntil,
                last_failure: lastFailure,
                accounts: accounts.join(','),
              })),
            )
            .onConflict((conflict) =>
              conflict.columns(['site', 'key']).doUpdateSet((row) => ({
                failures: row.ref('excluded.failures'),
                locked_until: row.ref('excluded.locked_until'),
                last_failure: row.ref('excluded.last_failure'),
                accounts: row.ref('excluded.accounts'),
              })),
            )
            .execute();
        }
      });
    },

    async listUnlocks(site, since) {
      const rows = await db
        .selectFrom('login_unlocks')
        .select(['key', 'version'])
        .where('site', '=', site)
        .where('version', '>', since)
        .execute();
      const keys = rows.map((row) => row.key);
      const version = rows.reduce((highest, row) => Math.max(highest, Number(row.version)), since);
      return { keys: keys.includes(ALL_KEYS) ? 'all' : keys, version };
    },

    async remove(site, keys) {
      for (let at = 0; at < keys.length; at += ROWS_AT_ONCE) {
        await db
          .deleteFrom('login_attempts')
          .where('site', '=', site)
          .where('key', 'in', keys.slice(at, at + ROWS_AT_ONCE))
          .execute();
      }
    },
  };
}

/** Failed logins and locks, one row per address (or browser) of a site. */
export interface LoginAttemptTables {
  login_attempts: {
    site: string;
    /** `192.0.2.1`, `2001:db8:0:1::/64`, either with the prefix `other-sites:`, or `device:` and an id. */
    key: string;
    failures: number;
    /** 0 if it was never locked. */
    locked_until: number;
    last_failure: number;
    /** Ids of the accounts that were tried, joined by commas. */
    accounts: Generated<string>;
  };
  /** Unlocks by other processes than the running guard, so that guard need not read all entries again. */
  login_unlocks: {
    site: string;
    /** As above, or `ALL_KEYS`. */
    key: string;
    /** The site's version of the change. */
    version: number;
  };
}

/** The key of an unlock of a whole site. */
const ALL_KEYS = '';

const loginAttemptsMigration: Migration = {
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

/** The account of earlier failures is unknown: any login from the address forgives them, as before. */
const attemptAccountsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable('login_attempts')
      .addColumn('accounts', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  },
};

const loginUnlocksMigration: Migration = {
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

export const loginAttemptMigrations: Migrations = {
  '004_login_attempts': loginAttemptsMigration,
  '006_login_unlocks': loginUnlocksMigration,
  '023_attempt_accounts': attemptAccountsMigration,
};

/**
 * Deletes failed logins and locks in one transaction, with an audit row and a row for running guards. The new version
 * of the site notifies other processes.
 *
 * @param keys the keys, as `toClientKey` writes them; null for all of the site
 * @returns the number of deleted entries
 * @throws StorageError
 */
export function deleteLoginLocks(
  db: Database,
  remove: {
    readonly site: SiteId;
    readonly keys: readonly string[] | null;
    readonly actor: Actor;
    readonly at: number;
  },
): Promise<number> {
  const { site, keys, actor, at } = remove;
  // Each key once: PostgreSQL updates a row once in a statement.
  const all = keys === null ? null : [...new Set(keys.flatMap((key) => [key, toCrossSiteKey(key)]))];
  return inTransaction(withTables<LoginAttemptTables>(db), site, async (transaction) => {
    let deletion = transaction.deleteFrom('login_attempts').where('site', '=', site);
    if (all !== null) deletion = deletion.where('key', 'in', all);
    const removed = Number((await deletion.executeTakeFirst()).numDeletedRows);
    const before = { who: keys ?? 'all', entries: removed };
    await addAuditRows(transaction, site, { actor, at }, [{ name: 'login_unblock', before, after: null }]);
    // Also when no entry was stored: entries that a running guard has not stored yet are dropped too.
    const version = await nextSiteVersion(transaction, site);
    if (keys === null) await transaction.deleteFrom('login_unlocks').where('site', '=', site).execute();
    await transaction
      .insertInto('login_unlocks')
      .values((all ?? [ALL_KEYS]).map((key) => ({ site, key, version })))
      .onConflict((conflict) => conflict.columns(['site', 'key']).doUpdateSet({ version }))
      .execute();
    return removed;
  });
}
