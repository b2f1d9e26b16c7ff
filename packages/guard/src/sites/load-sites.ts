import type { Logger } from '../lib/logger.js';
import type { KeyedMutex } from '../lib/mutex.js';
import type { SettingsStore } from '../settings/settings-store.js';
import type { SiteSettings } from '../settings/site-settings.js';
import { defaultSiteSettings, readAllSettings } from '../settings/site-settings.js';
import type { SiteId } from '../site.js';
import type { SiteFactsStore } from './site-facts-store.js';
import type { SiteRegistry } from './site-registry.js';

/** How an operator makes stored settings usable again. */
const REMEDY = 'correct them with `security-optimizer settings import`, or restore a back-up';

/**
 * Puts the stored settings and facts of sites in force.
 *
 * @returns sites whose stored settings can't be used, and why. They must not be served, since a default in place of a
 *   stored value could be weaker
 * @throws StorageError
 */
export async function loadSites(
  ids: readonly SiteId[],
  sites: SiteRegistry,
  store: Pick<SettingsStore, 'readAll'>,
  factsStore: Pick<SiteFactsStore, 'readAll'>,
): Promise<ReadonlyMap<SiteId, string>> {
  const [{ settings, unusable }, facts] = await Promise.all([readAllSettings(store, ids), factsStore.readAll(ids)]);
  for (const id of ids) {
    const known = { facts: facts.get(id) ?? null };
    if (unusable.has(id)) sites.set(id, known);
    else sites.set(id, { ...known, settings: settings.get(id) ?? defaultSiteSettings });
  }
  return new Map([...unusable].map(([id, mistakes]) => [id, toReason(mistakes)]));
}

/** The reason of the quarantine of a site with these mistakes in its stored settings, with the remedy. */
export function toReason(mistakes: string): string {
  return `settings: ${mistakes}; ${REMEDY}`;
}

/** Logs that a site is paused, if it is, since a forgotten pause is dangerous. */
export function logPause(logger: Logger, sites: SiteRegistry, site: SiteId, now: number): void {
  const { pausedUntil } = sites.get(site).settings;
  if (pausedUntil <= now) return;
  const until = new Date(pausedUntil).toISOString();
  logger.warn({ event: 'paused', site, until }, 'Everything is off for this site until then.');
}

/** Wait before a failed reload is retried, milliseconds. */
const RETRY_MS = 1000;

/**
 * Puts settings in force that another process (the command line, another node) changed. A failed reload is retried
 * until it succeeds; until then the site keeps its last known settings.
 *
 * @param onChanged called after different settings were put in force
 */
export function createSettingsReload(deps: {
  read: (site: SiteId) => Promise<SiteSettings>;
  sites: SiteRegistry;
  mutex: KeyedMutex;
  logger: Logger;
  onChanged: (site: SiteId) => void;
}): { reload(site: SiteId): void; stop(): void } {
  const { read, sites, mutex, logger, onChanged } = deps;
  const retries = new Map<SiteId, NodeJS.Timeout>();
  let stopped = false;

  function reload(site: SiteId): void {
    clearTimeout(retries.get(site));
    retries.delete(site);
    // Under the mutex, so that settings that were read before a change never overwrite it.
    mutex
      .run(site, async () => {
        const settings = await read(site);
        if (stopped || JSON.stringify(settings) === JSON.stringify(sites.get(site).settings)) return;
        sites.set(site, { settings });
        onChanged(site);
      })
      .catch((error: unknown) => {
        if (stopped) return;
        logger.error({ event: 'settings-reload-failed', site, err: error }, 'Changed settings can’t be read yet.');
        retries.set(
          site,
          setTimeout(() => reload(site), RETRY_MS),
        );
      });
  }

  return {
    reload,
    stop() {
      stopped = true;
      for (const timer of retries.values()) clearTimeout(timer);
    },
  };
}
