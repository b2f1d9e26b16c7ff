import { otherSitesKey } from '../login/other-site.js';
import type { SiteId } from '../site.js';
import { addAuditRows } from './audit-store.js';
import type { Database } from './database.js';
import { EVERY_KEY } from './login-attempts-table.js';
import { type Actor, nextSiteVersion } from './settings-store.js';

/**
 * Forgets failed log-ins and locks, with an audit row and a note for running guards, and tells other processes by the
 * site's version; one transaction.
 *
 * @param keys whose, as `addressKey` writes them; null for all of the site
 * @returns how many there were
 * @throws StorageError
 */
export function removeLoginLocks(
  db: Database,
  remove: {
    readonly site: SiteId;
    readonly keys: readonly string[] | null;
    readonly actor: Actor;
    readonly at: number;
  },
): Promise<number> {
  const { site, keys, actor, at } = remove;
  const all = keys?.flatMap((key) => [key, otherSitesKey(key)]) ?? null;
  return db.transaction().execute(async (transaction) => {
    let deletion = transaction.deleteFrom('login_attempts').where('site', '=', site);
    if (all !== null) deletion = deletion.where('key', 'in', all);
    const gone = Number((await deletion.executeTakeFirst()).numDeletedRows);
    const before = { who: keys ?? 'all', entries: gone };
    await addAuditRows(transaction, site, { actor, at }, [{ name: 'login_unblock', before, after: null }]);
    // Also when nothing was stored: what a running guard could not store yet goes too.
    const version = await nextSiteVersion(transaction, site);
    if (keys === null) await transaction.deleteFrom('login_unlocks').where('site', '=', site).execute();
    await transaction
      .insertInto('login_unlocks')
      .values((all ?? [EVERY_KEY]).map((key) => ({ site, key, version })))
      .onConflict((conflict) => conflict.columns(['site', 'key']).doUpdateSet({ version }))
      .execute();
    return gone;
  });
}
