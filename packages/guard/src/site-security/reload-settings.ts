import type { Logger } from '../lib/logger.js';
import type { KeyedMutex } from '../lib/mutex.js';
import type { SiteSettings } from '../settings/site-settings.js';
import type { SiteId } from '../site.js';
import type { LiveSites } from './live-sites.js';

/** Pause before a reload that failed is tried again, milliseconds. */
const RETRY_MS = 1000;

/**
 * Puts settings in force that another process changed (the command line, another node). A reload that fails is
 * repeated until it works; until then the site keeps its last known settings.
 *
 * @param onChanged called after settings that differ were put in force
 */
export function createSettingsReload(deps: {
  read: (site: SiteId) => Promise<SiteSettings>;
  sites: LiveSites;
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
    // Under the mutex, so that settings read before a change never replace those of the change.
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
