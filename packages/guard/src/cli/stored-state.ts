import { sqlBlocklistStore } from '../activity/index.js';
import { sqlThrottledAccountsStore } from '../login/index.js';
import { createSettingsStore } from '../settings/settings-store.js';
import { defaultSiteSettings, readAllSettings, type SiteSettings } from '../settings/site-settings.js';
import type { SiteId } from '../site.js';
import { createSiteFactsStore, type StoredSite } from '../sites/site-facts-store.js';
import type { Database } from '../storage/database.js';

/** What guard has stored about a site, as `status` needs it. */
export interface StoredState extends StoredSite {
  /** Null when they can't be read or used. */
  readonly settings: SiteSettings | null;
  /** The stored values that can't be used, and what is allowed; null when there are none. */
  readonly unusable: string | null;
  /** Ids of throttled and of blocked users, lowest first. */
  readonly throttled: readonly number[];
  readonly blocked: readonly number[];
}

const NOTHING = { facts: null, keyRestoredAt: null, throttled: [], blocked: [], unusable: null };

/**
 * Reads the state of many sites with a few queries.
 *
 * @param db null before guard's first start; `unusable` when it can't be read
 * @returns the state of any of these sites
 * @throws StorageError
 */
export async function readStoredStates(
  db: Database | null | 'unusable',
  sites: readonly SiteId[],
): Promise<(site: SiteId) => StoredState> {
  if (db === 'unusable') return () => ({ ...NOTHING, settings: null });
  // Before the first start all settings have their defaults.
  if (db === null) return () => ({ ...NOTHING, settings: defaultSiteSettings });
  const [facts, { settings, unusable }, throttled, blocked] = await Promise.all([
    createSiteFactsStore(db).readMany(sites),
    readAllSettings(createSettingsStore(db), sites),
    sqlThrottledAccountsStore(db).readAll(),
    sqlBlocklistStore(db).allUsers(),
  ]);
  return (site) => ({
    ...(facts.get(site) ?? NOTHING),
    settings: unusable.has(site) ? null : (settings.get(site) ?? defaultSiteSettings),
    unusable: unusable.get(site) ?? null,
    throttled: throttled.get(site) ?? [],
    blocked: blocked.get(site) ?? [],
  });
}
