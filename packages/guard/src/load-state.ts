import type { BlockedKeeper } from './activity/blocked-keeper.js';
import type { AttemptKeeper } from './login/attempt-keeper.js';
import { defaultSiteSettings, fetchAllSettings } from './settings/site-settings.js';
import type { SiteId } from './site.js';
import type { LiveSites } from './site-security/live-sites.js';
import type { Database } from './storage/database.js';
import type { SettingsStore } from './storage/settings-store.js';
import type { SiteFactsStore } from './storage/site-facts-store.js';
import { sitesWithRows } from './storage/sites-with-rows.js';

/** The part of the start that reads what is stored: every site's settings in force, before the first request is taken. */
export async function loadSites(
  ids: readonly SiteId[],
  sites: LiveSites,
  settings: Pick<SettingsStore, 'readAll'>,
  factsStore: Pick<SiteFactsStore, 'readAll'>,
): Promise<void> {
  const [stored, facts] = await Promise.all([fetchAllSettings(settings, ids), factsStore.readAll()]);
  for (const id of ids)
    sites.set(id, { settings: stored.get(id) ?? defaultSiteSettings, facts: facts.get(id) ?? null });
}

/** Reads whom to refuse: blocked visitors, and addresses and devices that are locked. Nobody may pass before that. */
export async function readRefused(
  db: Database,
  ids: readonly SiteId[],
  blocked: Pick<BlockedKeeper, 'load'>,
  attempts: Pick<AttemptKeeper, 'load'>,
): Promise<void> {
  const withAttempts = await sitesWithRows(db, 'login_attempts', 'login_unlocks');
  const withBlocks = await sitesWithRows(db, 'blocked_versions');
  for (const id of ids) if (withAttempts.has(id)) await attempts.load(id);
  for (const id of ids) if (withBlocks.has(id)) await blocked.load(id);
}
