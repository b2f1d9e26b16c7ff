import type { SiteId } from '../site.js';
import type { Database } from './database.js';
import { nextSiteVersion } from './settings-store.js';

/**
 * Drops every browser that is trusted with a second factor, and every log-in that waits for one. Throws StorageError.
 * @returns the site's new version for the change feed
 */
export function forgetBrowsers(db: Database, site: SiteId): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('second_factor_devices').where('site', '=', site).execute();
    await transaction.deleteFrom('second_factor_challenges').where('site', '=', site).execute();
    return nextSiteVersion(transaction, site);
  });
}
