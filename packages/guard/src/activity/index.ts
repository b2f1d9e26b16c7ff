import { randomInt } from 'node:crypto';
import type { CallHandlers, DownloadHandlers, Feature, OptionPages, RunningFeature } from '../feature.js';
import { parseAddress } from '../lib/address.js';
import type { LoginSecurity } from '../login/index.js';
import { createLoginAddressCache } from '../login/index.js';
import { createAuditOutbox } from '../settings/audit-store.js';
import type { SiteConfig, SiteId } from '../site.js';
import { listSitesWithRows } from '../storage/database.js';
import { hasEvents } from '../wordpress/signature.js';
import type { ActivityStore } from './activity-store.js';
import { sqlBlocklistStore } from './blocklist/blocklist-store.js';
import { createBlocklistSync } from './blocklist/blocklist-sync.js';
import { createBlockEnds } from './blocklist/end-blocks.js';
import { countBlocked } from './blocklist/list-blocked.js';
import type { PreloadedBlocks } from './blocklist/preload-blocklist.js';
import { claimedSearchEngine } from './bots.js';
import { createEventDrain } from './drain-events.js';
import type { ActivityCalls } from './endpoints.js';
import { createGuardEvents } from './guard-events.js';
import { createHostnames, type Hostnames, systemDns } from './hostnames.js';
import { createRetention } from './retention.js';
import { createActivityStore } from './store/open-activity-store.js';
import { anonymizeAddress } from './visit.js';
import { createVisitLog, type VisitRules } from './visit-log.js';

export type { ActivityStore, EventRow, LeadingTarget, TopEntry, TrafficHour, VisitBatch } from './activity-store.js';
export { sqlBlocklistStore } from './blocklist/blocklist-store.js';
export { type BlocklistTables, blockedVisitorMigrations } from './blocklist/blocklist-tables.js';
export { type PreloadedBlocks, preloadBlocks } from './blocklist/preload-blocklist.js';
export { listEventsOfKind } from './events-of-kind.js';
export { countFailedLogins, type FailedLogins, GUESSES, readFailedLogins } from './failed-logins.js';
export { openSecurityLog } from './security-log.js';
export { readActivityStatus } from './store/activity-status.js';
export { toAddressKey, toKeyRange, toSecond, toUserId, toUserKey } from './store/row-keys.js';
export { ALL_KINDS } from './store/site-counters.js';
export { sumTraffic } from './traffic.js';
export { createVisitLog, type ProcessShare, type VisitRules } from './visit-log.js';

/** The running Activity Log and blocklist. */
export interface ActivityLog extends RunningFeature {
  readonly store: ActivityStore;
  /** Returns how many are blocked now, by the owner and by failed logins. Throws StorageError. */
  countBlocked(site: SiteId): Promise<number>;
  /** Fetches the events of users that WordPress has recorded until now. Never throws. */
  fetchEvents(site: SiteConfig): Promise<void>;
  /** How the visits of a site are recorded. */
  visitRules(site: SiteId): Pick<VisitRules, 'recording' | 'anonymize' | 'ownCron'>;
  /** Looks up the host name of a visitor that another process has recorded. Never throws. */
  handleVisitor(site: SiteId, address: string, agent: string | null): void;
  /** Called when rows were added to the record of changes. Never throws. */
  handleAuditChange(): void;
  loadEndpoints(): Promise<{
    readonly handlers: CallHandlers<ActivityCalls>;
    readonly pages: Pick<OptionPages, 'activity'>;
    readonly downloads: DownloadHandlers;
  }>;
}

/**
 * The Activity Log and the blocklist. The log's file is opened once guard is serving, so that nothing waits for it;
 * visits are queued until then. Visits that the file can't take are counted as dropped.
 */
export const activityLog: Feature<ActivityLog, { readonly login: LoginSecurity; readonly blocked: PreloadedBlocks }> = {
  name: 'activity',
  start(services, { login, blocked: preloaded }) {
    const { config, siteList, db, wordpress, sites, connectors, securityEvents, feed, mutex, settingHistory } =
      services;
    const { clock, logger } = services;
    const { dataDir, activity } = config;
    let serving = false;

    const blocklist = createBlocklistSync({
      store: sqlBlocklistStore(db, preloaded),
      sites: sites,
      mutex,
      logger,
      onUsers: connectors.reconcilePolicy,
    });
    feed.subscribe(blocklist.reload);

    const timeZone = (site: SiteId) => sites.timeZone(site);
    const store = createActivityStore({ dataDir, logger, clock, timeZone });
    const settings = (site: SiteId) => sites.get(site).settings.log;
    const anonymize = (site: SiteId) => settings(site).anonymize_addresses === 1;
    // A request to a site that was removed in the meantime is not recorded: its rows may be erased already.
    const recording = (site: SiteId) => siteList.has(site) && settings(site).disable_activity_log === 0;
    const shorten = (site: SiteId, text: string) => {
      const address = anonymize(site) ? parseAddress(text) : null;
      return address === null ? text : anonymizeAddress(address);
    };
    const loginAddresses = createLoginAddressCache(settingHistory, logger);
    feed.subscribe(loginAddresses.reload);
    const visitRules = (site: SiteId) => ({
      recording: recording(site),
      anonymize: anonymize(site),
      ownCron: settings(site).log_own_cron === 1,
    });
    const hostnames = createHostnames({ dns: systemDns(activity.dns), store, clock, logger });
    const handleVisitor = requestHostnames(hostnames, anonymize);
    const visits = createVisitLog({
      store,
      rules: (site) => ({ ...visitRules(site), namesLogin: (target) => loginAddresses.isNamedIn(site, target) }),
      onVisit: handleVisitor,
      seed: randomInt(2 ** 32),
      share: { index: 0, count: toVisitLogs(config.processes) },
      clock,
      logger,
    });
    // Changes of a site in quarantine are logged, too, and its old rows are deleted.
    const events = createGuardEvents({
      outbox: createAuditOutbox(db),
      store,
      recording: (site) => (siteList.has(site) ? recording(site) : null),
      ...{ securityEvents, shorten, timeZone, clock, logger },
    });
    login.onLocked(events.recordLockout);
    feed.subscribe(() => events.handleAuditChange());
    const drain = createEventDrain({
      ...{ sites: siteList, client: wordpress, store, securityEvents, shorten, clock, logger },
      isReachable: (site) => connectors.state(site).kind === 'ok',
      onOptions: connectors.check,
    });
    connectors.onSignal((site, signal) => {
      if (hasEvents(signal)) drain.signal(site);
    });
    connectors.onUse(drain.recordUse);
    connectors.onBack((site) => {
      // Sites that respond by the time guard serves are drained by the first round.
      if (serving) drain.signal(site);
    });
    const blocked = sqlBlocklistStore(db);
    const retention = createRetention({
      sites: () => siteList.allIds.filter((site) => sites.hasSettings(site)),
      store,
      days: (site) => settings(site).log_lifetime,
      maxRows: (site) => siteList.find(site)?.limits?.maxRows ?? activity.maxRows,
      blocked: blocked.visitorIds,
      clock,
      logger,
    });
    // Not only once a minute: the minute to undo a change begins with the change.
    feed.subscribe((site) => {
      if (siteList.has(site)) retention.noteDays(site);
    });
    const blockEnds = createBlockEnds({ store: blocked, feed, clock, logger });
    const ready = async () => {
      // After the lockouts: one query at a time, so that the long lists do not delay the short ones.
      await login.ready;
      const stored = await listSitesWithRows(db, 'blocked_versions');
      for (const { id } of siteList) if (stored.has(id)) await blocklist.load(id);
    };

    return {
      ready: ready(),
      store,
      hooks: { visits },
      countBlocked: (site) => countBlocked({ blocked, locks: login.lockedAddresses, clock }, site),
      visitRules,
      handleVisitor,
      fetchEvents: drain.drain,
      handleAuditChange: events.handleAuditChange,
      async loadEndpoints() {
        const { activityEndpoints } = await import('./endpoints.js');
        return activityEndpoints(services, {
          ...{ store, blocked, blocklist, blockEnds, retention, login, onUnlocked: events.handleAuditChange },
          lookUp(site, addresses) {
            if (anonymize(site)) return;
            for (const address of addresses) hostnames.request(site, address, 'shown');
          },
        });
      },
      loadSite: blocklist.load,
      dropSite: visits.writeAll,
      onServing() {
        serving = true;
        void store.open();
        events.start();
        drain.start();
        retention.start();
        blockEnds.start();
      },
      async stop() {
        await Promise.all([retention.stop(), blockEnds.stop(), drain.stop(), hostnames.stop()]);
        await Promise.all([visits.stop(), events.stop()]);
        await store.close();
        blocklist.stop();
      },
    };
  },
};

/** How many processes record visits: the primary one and its workers. @param processes as in the configuration */
export function toVisitLogs(processes: number): number {
  return processes === 1 ? 1 : processes + 1;
}

/** Requests host names of visitors, first of those that claim to be a search engine. Anonymised addresses have none. */
function requestHostnames(hostnames: Hostnames, anonymize: (site: SiteId) => boolean) {
  return (site: SiteId, address: string, agent: string | null): void => {
    if (anonymize(site)) return;
    const engine = claimedSearchEngine(agent);
    hostnames.request(site, address, engine === null ? 'seen' : 'claimed', engine);
  };
}
