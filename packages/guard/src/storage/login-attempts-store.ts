import type { AttemptStore } from '../login/attempts.js';
import type { Database } from './database.js';
import { EVERY_KEY } from './login-attempts-table.js';

/** Rows per statement: SQLite takes a bounded number of values in one. */
const ROWS_AT_ONCE = 200;

/** Failed log-ins and locks in a SQL table. */
export function sqlAttemptStore(db: Database): AttemptStore {
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
      return db.transaction().execute(async (transaction) => {
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

    async lifted(site, since) {
      const rows = await db
        .selectFrom('login_unlocks')
        .select(['key', 'version'])
        .where('site', '=', site)
        .where('version', '>', since)
        .execute();
      const keys = rows.map((row) => row.key);
      const version = rows.reduce((highest, row) => Math.max(highest, Number(row.version)), since);
      return { keys: keys.includes(EVERY_KEY) ? 'all' : keys, version };
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
