import type { Kysely } from 'kysely';
import type { SiteId } from '../site.js';
import { type Database, withTables } from './database.js';
import type { Migrations } from './migrations.js';

/** Accepts each nonce of a signed call once, over all processes of guard. */
export interface CallNonces {
  /**
   * Consumes a nonce.
   * @returns false when it was used before
   * @throws StorageError
   */
  consume(site: SiteId, nonce: string, now: number): Promise<boolean>;
}

/** Nonces of signed calls, kept until no header with them can be valid. */
export interface CallNonceTables {
  call_nonces: {
    site: string;
    nonce: string;
    /** Time of its use, milliseconds since the Unix epoch. */
    at: number;
  };
}

export const callNonceMigrations: Migrations = {
  '041_call_nonces': {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('call_nonces')
        .addColumn('site', 'text', (column) => column.notNull())
        .addColumn('nonce', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('call_nonces_key', ['site', 'nonce'])
        .execute();
    },
  },
};

/**
 * How long a nonce is kept: longer than its header is valid (two minutes), for clocks that are set back. Milliseconds.
 */
const RETENTION_MS = 5 * 60_000;

/** Used nonces in a SQL table, so that neither a restart nor another process accepts a call again. */
export function sqlCallNonces(database: Database): CallNonces {
  const db = withTables<CallNonceTables>(database);
  return {
    async consume(site, nonce, now) {
      await db
        .deleteFrom('call_nonces')
        .where('site', '=', site)
        .where('at', '<', now - RETENTION_MS)
        .execute();
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('call_nonces')
        .values({ site, nonce, at: now })
        .onConflict((conflict) => conflict.columns(['site', 'nonce']).doNothing())
        .executeTakeFirstOrThrow();
      return numInsertedOrUpdatedRows === 1n;
    },
  };
}
