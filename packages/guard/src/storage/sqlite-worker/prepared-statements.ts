import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { setBounded } from '../../lib/set-bounded.js';

/** Prepared statements kept for the next use; the product has few more different ones than this. */
const STATEMENTS_KEPT = 200;

export type Statement = ReturnType<DatabaseSyncInstance['prepare']>;

export type Prepare = (sql: string) => Statement;

/** Prepares each text once and keeps it for the next time. */
export function preparedStatements(database: DatabaseSyncInstance): Prepare {
  const kept = new Map<string, Statement>();
  return (sql) => {
    const known = kept.get(sql);
    if (known) return known;
    const fresh = database.prepare(sql);
    setBounded(kept, sql, fresh, STATEMENTS_KEPT);
    return fresh;
  };
}
