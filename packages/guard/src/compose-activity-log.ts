import { randomInt } from 'node:crypto';
import type { ActivityStore } from './activity/activity-store.js';
import { anonymizedAddress } from './activity/anonymized-address.js';
import { systemDns } from './activity/dns.js';
import { createEventDrain } from './activity/drain-events.js';
import { createGuardEvents, type GuardEvents } from './activity/guard-events.js';
import { createHostnames, type Hostnames } from './activity/hostnames.js';
import { createRetention } from './activity/retention.js';
import { claimedSearchEngine } from './activity/search-engines.js';
import type { VisitSink } from './activity/visit.js';
import { createVisitLog } from './activity/visit-log.js';
import type { Config } from './config.js';
import { parseAddress } from './lib/address.js';
import type { Clock } from './lib/clock.js';
import type { Logger } from './lib/logger.js';
import type { SiteConfig, SiteId } from './site.js';
import type { LiveSites } from './site-security/live-sites.js';
import { activityStore } from './storage/activity/open-activity-store.js';
import { sqlAuditOutbox } from './storage/audit-outbox.js';
import { sqlBlockedVisitorsStore } from './storage/blocked-visitors-store.js';
import type { Database } from './storage/database.js';
import type { ConnectorClient } from './wordpress/connector-client.js';
import { hasEvents, type Signal } from './wordpress/signature.js';

/** The Activity Log at work: what fills it and clears it up. */
export interface ActivityLog {
  readonly store: ActivityStore;
  readonly visits: VisitSink;
  readonly events: Pick<GuardEvents, 'changed' | 'locked'>;
  /** Wants the host names of rows that the owner looks at. */
  look(site: SiteId, addresses: Iterable<string>): void;
  onSignal(site: SiteConfig, signal: Signal): void;
  start(): void;
  /** Writes down what waits, and ends everything. */
  stop(): Promise<void>;
}

/**
 * The part of the composition root that fills the Activity Log. Its file is opened when it starts, so that nobody waits
 * for that; visits do. Never fails: without its file, visits are counted.
 */
export function composeActivityLog(parts: {
  readonly config: Config;
  readonly db: Database;
  readonly client: ConnectorClient;
  readonly sites: LiveSites;
  /** Somebody changed options of WordPress. */
  readonly onOptions: (site: SiteConfig) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}): ActivityLog {
  const { config, db, client, sites, onOptions, clock, logger } = parts;
  const { dataDir, activity } = config;
  const store = activityStore({ dataDir, logger, clock, timeZone: (site) => sites.timeZone(site) });
  const settings = (site: SiteId) => sites.get(site).settings.log;
  const anonymize = (site: SiteId) => settings(site).anonymize_addresses === 1;
  const recording = (site: SiteId) => settings(site).disable_activity_log === 0;
  const shorten = (site: SiteId, text: string) => {
    const address = anonymize(site) ? parseAddress(text) : null;
    return address === null ? text : anonymizedAddress(address);
  };

  const hostnames = createHostnames({ dns: systemDns(activity.dns), store, clock, logger });
  const visits = createVisitLog({
    store,
    rules: (site) => ({ recording: recording(site), anonymize: anonymize(site) }),
    onVisit: wantedNames(hostnames, anonymize),
    seed: randomInt(2 ** 32),
    clock,
    logger,
  });
  const served = new Set(config.sites.map(({ id }) => id));
  const events = createGuardEvents({
    outbox: sqlAuditOutbox(db),
    store,
    recording: (site) => (served.has(site) ? recording(site) : null),
    shorten,
    timeZone: (site) => sites.timeZone(site),
    clock,
    logger,
  });
  const drain = createEventDrain({ sites: config.sites, client, store, shorten, onOptions, clock, logger });
  const blocked = sqlBlockedVisitorsStore(db);
  const retention = createRetention({
    sites: config.sites.map(({ id }) => id),
    store,
    days: (site) => settings(site).log_lifetime,
    maxRows: activity.maxRows,
    blocked: blocked.visitorIds,
    clock,
    logger,
  });

  return {
    store,
    visits,
    events,
    look(site, addresses) {
      if (anonymize(site)) return;
      for (const address of addresses) hostnames.want(site, address, 'shown');
    },
    onSignal(site, signal) {
      if (hasEvents(signal)) drain.signal(site);
    },
    start() {
      void store.open();
      events.start();
      drain.start();
      retention.start();
    },
    async stop() {
      await Promise.all([retention.stop(), drain.stop(), hostnames.stop()]);
      await Promise.all([visits.stop(), events.stop()]);
      await store.close();
    },
  };
}

/** Wants the names of visitors, soon of those who claim to be a search engine. A shortened address has no name. */
function wantedNames(hostnames: Hostnames, anonymize: (site: SiteId) => boolean) {
  return (site: SiteId, address: string, agent: string | null): void => {
    if (anonymize(site)) return;
    const engine = claimedSearchEngine(agent);
    hostnames.want(site, address, engine === null ? 'seen' : 'claimed', engine);
  };
}
