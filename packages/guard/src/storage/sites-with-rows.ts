import type { SiteId } from '../site.js';
import type { Database } from './database.js';
import type { Schema } from './schema.js';

/** Tables that are read site by site when guard starts, and hold nothing for most sites. */
type TableBySite = 'login_attempts' | 'login_unlocks' | 'second_factor_devices' | 'blocked_versions';

/**
 * Which sites have rows in at least one of these tables: with thousands of sites, a start that asks for each of them
 * takes seconds. Throws StorageError.
 */
export async function sitesWithRows(db: Database, ...tables: readonly TableBySite[]): Promise<ReadonlySet<SiteId>> {
  const sites = new Set<SiteId>();
  for (const table of tables satisfies readonly (keyof Schema)[]) {
    for (const { site } of await db.selectFrom(table).select('site').distinct().execute()) sites.add(site);
  }
  return sites;
}
