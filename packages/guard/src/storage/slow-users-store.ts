import type { Kysely, Migration } from 'kysely';
import type { SiteId } from '../site.js';
import type { Database } from './database.js';

export interface SlowUsersTables {
  /** The accounts that guard last told WordPress to slow down; no row means none. */
  slow_users: {
    site: string;
    /** User ids joined by commas, lowest first. */
    users: string;
  };
}

export const slowUsersMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('slow_users')
      .addColumn('site', 'text', (column) => column.primaryKey())
      .addColumn('users', 'text', (column) => column.notNull())
      .execute();
  },
};

/**
 * Which accounts a running guard slows down, for other processes that must know the policy that WordPress should run.
 * Guard itself starts with none. Every method may throw StorageError.
 */
export interface SlowUsersStore {
  /** User ids, lowest first. */
  read(site: SiteId): Promise<readonly number[]>;
  write(site: SiteId, users: readonly number[]): Promise<void>;
  /** Writes that no site has any. */
  clear(): Promise<void>;
}

export function sqlSlowUsersStore(db: Database): SlowUsersStore {
  return {
    async read(site) {
      const row = await db.selectFrom('slow_users').select('users').where('site', '=', site).executeTakeFirst();
      return row ? row.users.split(',').map(Number) : [];
    },

    async write(site, list) {
      if (list.length === 0) {
        await db.deleteFrom('slow_users').where('site', '=', site).execute();
        return;
      }
      const users = list.join(',');
      await db
        .insertInto('slow_users')
        .values({ site, users })
        .onConflict((conflict) => conflict.column('site').doUpdateSet({ users }))
        .execute();
    },

    async clear() {
      await db.deleteFrom('slow_users').execute();
    },
  };
}
