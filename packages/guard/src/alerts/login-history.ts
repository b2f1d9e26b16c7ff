import type { SiteId } from '../site.js';
import { type Database, inTransaction, withTables } from '../storage/database.js';
import { DAY, HOUR, type Lockout } from './alert-rules.js';
import type { AlertTables } from './alert-tables.js';

/** Lockouts read for one site; a wave counts no more than these. */
const LOCKOUTS_MAX = 5000;
const LOGIN_RETENTION_MS = 400 * DAY;
/** Devices and networks read for one administrator. */
const LOGINS_MAX = 100;

/** Past lockouts and logins, with which new ones are compared. Every method may throw StorageError. */
export function sqlLoginHistory(database: Database) {
  const db = withTables<AlertTables>(database);
  return {
    /** Stores a lockout until it belongs to a wave or is too old. */
    async addLockout(site: SiteId, lockout: Lockout): Promise<void> {
      await db
        .insertInto('alert_lockouts')
        .values({ site, ...lockout })
        .onConflict((conflict) => conflict.columns(['site', 'uid']).doNothing())
        .execute();
    },

    /** Returns the lockouts of the last three hours that belong to no wave, oldest first. Deletes older ones. */
    async listLockouts(site: SiteId, now: number): Promise<readonly Lockout[]> {
      await db
        .deleteFrom('alert_lockouts')
        .where('site', '=', site)
        .where((row) => row.or([row('at', '<', now - 3 * HOUR), row('at', '>', now + HOUR)]))
        .execute();
      const rows = await db
        .selectFrom('alert_lockouts')
        .select(['uid', 'at', 'address', 'failures'])
        .where('site', '=', site)
        .orderBy('at')
        .limit(LOCKOUTS_MAX)
        .execute();
      return rows.map((row) => ({ ...row, at: Number(row.at) }));
    },

    async lastWave(site: SiteId): Promise<number | null> {
      const row = await db.selectFrom('alert_waves').select('at').where('site', '=', site).executeTakeFirst();
      return row === undefined ? null : Number(row.at);
    },

    /** Deletes the lockouts of a wave that was added to the queue. */
    async endWave(site: SiteId, until: number, now: number): Promise<void> {
      await inTransaction(db, site, async (transaction) => {
        await transaction.deleteFrom('alert_lockouts').where('site', '=', site).where('at', '<=', until).execute();
        await transaction
          .insertInto('alert_waves')
          .values({ site, at: now })
          .onConflict((conflict) => conflict.column('site').doUpdateSet({ at: now }))
          .execute();
      });
    },

    /** Returns the devices and networks from which an administrator has logged in; empty before the first login. */
    async listKnownLogins(site: SiteId, user: number, now: number): Promise<ReadonlySet<string>> {
      const rows = await db
        .selectFrom('alert_known_logins')
        .select('value')
        .where('site', '=', site)
        .where('user_id', '=', user)
        .where('last_at', '>', now - LOGIN_RETENTION_MS)
        .orderBy('last_at', 'desc')
        .limit(LOGINS_MAX)
        .execute();
      return new Set(rows.map(({ value }) => value));
    },

    /** Stores devices and networks from which administrators have logged in. */
    async addKnownLogins(site: SiteId, logins: ReadonlyMap<number, Iterable<string>>, now: number): Promise<void> {
      await inTransaction(db, site, async (transaction) => {
        for (const [user, values] of logins) {
          for (const value of values) {
            await transaction
              .insertInto('alert_known_logins')
              .values({ site, user_id: user, value, last_at: now })
              .onConflict((conflict) => conflict.columns(['site', 'user_id', 'value']).doUpdateSet({ last_at: now }))
              .execute();
          }
        }
      });
    },

    /** Returns the sites with lockouts that may be a wave. */
    async listSites(): Promise<readonly SiteId[]> {
      const rows = await db.selectFrom('alert_lockouts').select('site').distinct().execute();
      return rows.map(({ site }) => site);
    },

    /** Deletes logins after their retention time. */
    async prune(now: number): Promise<void> {
      await db
        .deleteFrom('alert_known_logins')
        .where('last_at', '<', now - LOGIN_RETENTION_MS)
        .execute();
    },
  };
}
