import type { Config } from './config/config.js';
import type { LanguageFor } from './i18n/languages.js';
import { type Clock, systemClock } from './lib/clock.js';
import type { Logger } from './lib/logger.js';
import { KeyedMutex } from './lib/mutex.js';
import { LiveSnapshots } from './rules/snapshot.js';
import { createSecurityEvents, type SecurityEvents } from './security-events.js';
import { type AuditStore, createAuditStore } from './settings/audit-store.js';
import type { SettingChangeContext } from './settings/change-settings.js';
import { createSettingHistory, createSettingsStore, type SettingHistory } from './settings/settings-store.js';
import { readSiteSettings } from './settings/site-settings.js';
import type { SiteId } from './site.js';
import { type ConnectorSync, createConnectors } from './sites/connector-sync.js';
import { createSettingsReload, loadSites, logPause } from './sites/load-sites.js';
import { createSiteFactsStore } from './sites/site-facts-store.js';
import { SiteList, withUnusableSettings } from './sites/site-list.js';
import { SiteRegistry } from './sites/site-registry.js';
import { type ChangeFeed, createChangeFeed, getLatestVersion } from './storage/change-feed.js';
import type { Database } from './storage/database.js';
import type { ConnectorClient } from './wordpress/connector-client.js';
import { createSessions, type Sessions } from './wordpress/session.js';

/** The services that every feature may use. */
export interface Services {
  /** The configuration without its sites: `siteList` has the sites that are currently served. */
  readonly config: Omit<Config, 'sites' | 'quarantined'>;
  readonly siteList: SiteList;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Guard's own languages, by locale. */
  readonly languages: LanguageFor;
  /** The tables of all features. */
  readonly db: Database;
  /** Notifies all processes of changes to a site. */
  readonly feed: ChangeFeed;
  /** Serializes the changes of a site; the key is the site's id. */
  readonly mutex: KeyedMutex;
  /** The active settings, facts and blocklist of each site. */
  readonly sites: SiteRegistry;
  /**
   * Reads the settings and facts of new sites before they are served.
   * @returns sites that can't be served because of their stored settings, and why
   * @throws StorageError
   */
  loadSites(ids: readonly SiteId[]): Promise<ReadonlyMap<SiteId, string>>;
  /** The snapshots with the rules for requests; `sites` swaps them. */
  readonly snapshots: LiveSnapshots;
  /** Changes settings: see `changeSettings`. */
  readonly change: SettingChangeContext;
  readonly settingHistory: SettingHistory;
  readonly audit: AuditStore;
  /** State, policy and events of the connectors. */
  readonly connectors: ConnectorSync;
  /** Commands to WordPress. */
  readonly wordpress: ConnectorClient;
  /** Identifies the user of a browser by its cookies. */
  readonly sessions: Sessions;
  /** Events that features report, and about which owners may be alerted. */
  readonly securityEvents: SecurityEvents;
}

/** Releases resources in reverse order. */
export class Cleanup {
  readonly #steps: { readonly name: string; readonly release: () => void | Promise<void> }[] = [];
  #releasing: string | null = null;

  /** @param name of the resource, for the log of a shutdown that takes too long */
  add(name: string, release: () => void | Promise<void>): void {
    this.#steps.push({ name, release });
  }

  /** Resources that are not released yet: first the one that is being released, then the others in order. */
  get pending(): string[] {
    const next = this.#steps.map(({ name }) => name).reverse();
    return this.#releasing === null ? next : [this.#releasing, ...next];
  }

  async run(): Promise<void> {
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      this.#releasing = step.name;
      await step.release();
      this.#releasing = null;
    }
  }
}

/**
 * Creates the services and loads the settings of all sites. Quarantined sites are included: their visitors get a page
 * in the site's language, and their log follows their settings. A site whose stored settings can't be used is quarantined.
 * @throws StorageError
 */
export async function createServices(
  parts: Pick<Services, 'logger' | 'db'> & { readonly config: Config; readonly languages: LanguageFor },
  cleanup: Cleanup,
): Promise<Services> {
  const { config, logger, db, languages } = parts;
  const clock = systemClock;
  const mutex = new KeyedMutex();
  const snapshots = new LiveSnapshots();
  const siteList = new SiteList(config);
  const sites = new SiteRegistry(snapshots, (id) => siteList.find(id)?.home ?? '', clock, languages);
  cleanup.add('timers of the sites', () => sites.stop());
  const feed = createChangeFeed({ db, logger, from: await getLatestVersion(db) });
  cleanup.add('change feed', () => feed.close());

  const settings = createSettingsStore(db);
  const factsStore = createSiteFactsStore(db);
  const load = async (ids: readonly SiteId[]) => {
    const unusable = await loadSites(ids, sites, settings, factsStore);
    for (const id of ids) logPause(logger, sites, id, clock());
    return unusable;
  };
  const configured = { ...siteList.configuration, served: config.sites, removed: [] };
  siteList.apply(withUnusableSettings(configured, await load(siteList.allIds)));

  const connectors = createConnectors({ config, siteList, sites: sites, factsStore, mutex, clock, logger });
  cleanup.add('commands to WordPress', () => connectors.client.close());
  cleanup.add('connectors', () => connectors.stop());
  sites.onResumed((site) => {
    logger.info({ event: 'pause-ended', site }, 'The pause is over; the settings are in force again.');
    connectors.reconcilePolicy(site);
  });
  const reload = createSettingsReload({
    read: (site) => readSiteSettings(settings, site),
    sites: sites,
    mutex,
    logger,
    onChanged(site) {
      logPause(logger, sites, site, clock());
      connectors.reconcilePolicy(site);
    },
  });
  cleanup.add('reload of settings', () => reload.stop());
  feed.subscribe(reload.reload);

  return {
    ...{ config, siteList, clock, logger, languages, db, feed, mutex, sites: sites, snapshots, connectors: connectors },
    loadSites: load,
    wordpress: connectors.client,
    sessions: createSessions({ client: connectors.client, clock }),
    change: {
      settings,
      pushPolicy: connectors.pushSettings,
      apply: (site, wanted) => sites.set(site, { settings: wanted }),
      publish: feed.publish,
      mutex,
      clock,
      logger,
    },
    settingHistory: createSettingHistory(db),
    audit: createAuditStore(db),
    securityEvents: createSecurityEvents(),
  };
}
