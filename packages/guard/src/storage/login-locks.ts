import { randomUUID } from 'node:crypto';
import type { SiteId } from '../site.js';
import type { Database } from './database.js';
import { type Actor, nextSiteVersion } from './settings-store.js';

/**
 * Forgets failed log-ins and locks, with an audit row, and tells other processes by the site's version; one transaction.
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
  return db.transaction().execute(async (transaction) => {
    let deletion = transaction.deleteFrom('login_attempts').where('site', '=', site);
    if (keys !== null) deletion = deletion.where('key', 'in', keys);
    const gone = Number((await deletion.executeTakeFirst()).numDeletedRows);
    await transaction
      .insertInto('audit')
      .values({
        id: randomUUID(),
        site,
        at,
        actor_id: actor.id,
        actor_login: actor.login,
        address: actor.address,
        name: 'login_unblock',
        before: JSON.stringify({ who: keys ?? 'all', entries: gone }),
        after: JSON.stringify(null),
      })
      .execute();
    // Also when nothing was stored: what a running guard could not store yet goes too.
    await nextSiteVersion(transaction, site);
    return gone;
  });
}
