import type { Logger } from '../lib/logger.js';
import type { SettingsStore } from '../settings/settings-store.js';
import { defaultSiteSettings, readAllSettings } from '../settings/site-settings.js';
import type { SiteId } from '../site.js';
import type { SiteFactsStore } from './site-facts-store.js';
import type { SiteRegistry } from './site-registry.js';

/** Puts the stored settings and facts of all sites in force. Throws StorageError. */
export async function loadSites(
  ids: readonly SiteId[],
  sites: SiteRegistry,
  settings: Pick<SettingsStore, 'readAll'>,
  factsStore: Pick<SiteFactsStore, 'readAll'>,
): Promise<void> {
  const [stored, facts] = await Promise.all([readAllSettings(settings, ids), factsStore.readAll()]);
  for (const id of ids)
    sites.set(id, { settings: stored.get(id) ?? defaultSiteSettings, facts: facts.get(id) ?? null });
}

/** Logs that a site is paused, if it is: a forgotten pause is dangerous. */
export function logPause(logger: Logger, sites: SiteRegistry, site: SiteId, now: number): void {
  const { pausedUntil } = sites.get(site).settings;
  if (pausedUntil <= now) return;
  const until = new Date(pausedUntil).toISOString();
  logger.warn({ event: 'paused', site, until }, 'Everything is off for this site until then.');
}
