import type { ActivityStore } from './activity/activity-store.js';
import { countBlocked, type ListBlockedDeps } from './activity/list-blocked.js';
import { localTimestamp } from './activity/local-days.js';
import type { OverviewUseCases } from './api/overview-handlers.js';
import type { Config } from './config.js';
import type { Clock } from './lib/clock.js';
import { version } from './lib/version.js';
import { hardeningOf } from './overview/hardening.js';
import { notificationsOf } from './overview/notifications.js';
import { factsBegin, readProtectionFacts } from './overview/protection-facts.js';
import { asksForReview } from './overview/rate.js';
import { setConsent } from './overview/set-consent.js';
import { type ChangeDeps, changeSettings } from './settings/change-settings.js';
import { fetchSiteSettings } from './settings/site-settings.js';
import { adminUrl, type SiteConfig, type SiteId } from './site.js';
import type { LiveSites } from './site-security/live-sites.js';
import { sqlBlockedVisitorsStore } from './storage/blocked-visitors-store.js';
import type { Database } from './storage/database.js';
import { firstStarts } from './storage/first-start-store.js';
import { sqlSecondFactorStore } from './storage/second-factor-store.js';
import type { ConnectorClient } from './wordpress/connector-client.js';
import { ConnectorError } from './wordpress/connector-error.js';
import type { ConnectorHealth } from './wordpress/connector-health.js';
import { fetchOverview } from './wordpress/overview-command.js';

/** The part of the composition root that belongs to the page Security Dashboard. Notes the first start of each site. */
export async function composeOverview(parts: {
  readonly config: Config;
  readonly db: Database;
  readonly change: ChangeDeps;
  readonly client: Pick<ConnectorClient, 'send'>;
  readonly sites: LiveSites;
  readonly health: Pick<ConnectorHealth, 'state'>;
  readonly store: ActivityStore;
  /** Why the last weekly report could not be sent, or null. */
  readonly lastReportFailure: (site: SiteId) => Promise<string | null>;
  /** Addresses that are locked by failed log-ins now. */
  readonly locks: ListBlockedDeps['locks'];
  readonly clock: Clock;
}): Promise<OverviewUseCases> {
  const { config, db, change, client, sites, health, store, locks, clock } = parts;
  const factors = sqlSecondFactorStore(db);
  const blocked = sqlBlockedVisitorsStore(db);
  const ids = config.sites.map(({ id }) => id);
  const started = await firstStarts(db, ids, clock());

  const stored = ({ id }: SiteConfig) => fetchSiteSettings(change.settings, id);
  const admin =
    ({ id }: SiteConfig) =>
    (page: string) =>
      adminUrl(sites.get(id).facts, page);

  return {
    async notifications(site) {
      const now = clock();
      const [settings, wordpress, enrolled, reportFailure, droppedVisits] = await Promise.all([
        stored(site),
        askWordPress(client, site),
        factors.listEnabled(site.id),
        parts.lastReportFailure(site.id),
        store.droppedVisits(site.id, factsBegin(sites.timeZone(site.id), Math.floor(now / 1000))),
      ]);
      const state = health.state(site.id);
      const { pausedUntil } = settings;
      return notificationsOf(
        {
          wordpress,
          secondFactor: settings.login.sg2fa === 1,
          enrolled: enrolled.map(({ userId }) => userId),
          editorsOff: settings.options.disable_file_edit === 1,
          pausedUntil:
            pausedUntil > now ? localTimestamp(sites.timeZone(site.id), Math.floor(pausedUntil / 1000)) : null,
          oldConnector: state.kind === 'ok' && state.version !== version ? state.version : null,
          reportFailure,
          droppedVisits,
        },
        { admin: admin(site) },
      );
    },
    hardening: async (site) => hardeningOf(await stored(site), admin(site)),
    ebook: config.branding.ebook,
    async rate(site) {
      const link = config.branding.rateLink;
      const { overview } = await stored(site);
      const now = clock();
      const shown = asksForReview({
        ...{ link, now },
        dismissed: overview.rate_dismissed === 1,
        firstStart: started.get(site.id) ?? now,
      });
      return { show: shown ? 1 : 0, link };
    },
    async dismissRate(who) {
      await changeSettings(change, who, () => ({ rate_dismissed: 1 }));
    },
    protectionFacts({ id }) {
      const now = Math.floor(clock() / 1000);
      return readProtectionFacts({ store, countBlocked: (site) => countBlocked({ blocked, locks, clock }, site) }, id, {
        from: factsBegin(sites.timeZone(id), now),
        now,
      });
    },
    setConsent: (answer) => setConsent(change, answer),
  };
}

/** Null when WordPress can't be asked; that is a notification of its own. */
async function askWordPress(client: Pick<ConnectorClient, 'send'>, site: SiteConfig) {
  try {
    return await fetchOverview(client, site);
  } catch (error) {
    if (error instanceof ConnectorError) return null;
    throw error;
  }
}
