import { networkInterfaces } from 'node:os';
import { blockAddress, blockAddresses } from './activity/block-address.js';
import { type BlockUserDeps, blockUser } from './activity/block-user.js';
import type { BlockedKeeper } from './activity/blocked-keeper.js';
import { ListReadings } from './activity/cursors.js';
import { type KeptAddresses, keptAddresses } from './activity/do-not-block.js';
import { exportActivity } from './activity/export-activity.js';
import { fetchActivityOptions } from './activity/fetch-activity-options.js';
import type { ListAnswer } from './activity/list-activity.js';
import { type ListBlockedDeps, listBlocked } from './activity/list-blocked.js';
import { countNewEvents, listEvents } from './activity/registered-events.js';
import { searchFilter } from './activity/search-filter.js';
import { setAnonymizeAddresses, setDisableActivityLog, setLogLifetime } from './activity/set-log-settings.js';
import { planTraffic, sumTraffic } from './activity/traffic.js';
import { unblockLogin } from './activity/unblock-login.js';
import { countNewVisits, listVisits } from './activity/unknown-visits.js';
import { visitorFlags } from './activity/visitor-flags.js';
import { visitorStatus } from './activity/visitor-status.js';
import type { ActivityUseCases } from './api/activity-handlers.js';
import type { DownloadUseCases } from './api/download-handlers.js';
import type { ActivityLog } from './compose-activity-log.js';
import type { Config } from './config.js';
import type { Clock } from './lib/clock.js';
import type { AttemptKeeper } from './login/attempt-keeper.js';
import { loginAddressesIn } from './login/login-addresses.js';
import type { ChangeDeps } from './settings/change-settings.js';
import { connectorPolicy } from './settings/connector-policy.js';
import { fetchSiteSettings } from './settings/site-settings.js';
import type { SiteConfig, SiteId } from './site.js';
import type { LiveSites } from './site-security/live-sites.js';
import { sqlBlockedVisitorsStore } from './storage/blocked-visitors-store.js';
import type { Database } from './storage/database.js';
import { removeLoginLocks } from './storage/login-locks.js';
import { sqlSettingHistory } from './storage/setting-history.js';
import type { ConnectorClient } from './wordpress/connector-client.js';
import type { PolicyPush } from './wordpress/policy-push.js';
import type { Sessions } from './wordpress/session.js';

/** News of a list are counted up to this. */
const NEWS_MAX = 1000;
/** The machine's own addresses may change while guard runs; they are read again after this time, milliseconds. */
const OWN_ADDRESSES_MS = 5000;

/** The part of the composition root that belongs to the page Activity Log: its use cases, bound to what they need. */
export function composeActivity(parts: {
  readonly config: Config;
  readonly db: Database;
  readonly log: ActivityLog;
  readonly change: ChangeDeps;
  readonly client: ConnectorClient;
  readonly sites: LiveSites;
  readonly blockedKeeper: BlockedKeeper;
  readonly attempts: AttemptKeeper;
  readonly policyPush: PolicyPush;
  readonly sessions: Sessions;
  /** Addresses that are locked by failed log-ins now. */
  readonly locks: ListBlockedDeps['locks'];
}): ActivityUseCases & DownloadUseCases {
  const { config, db, log, change, client, sites, blockedKeeper, attempts, policyPush, sessions } = parts;
  const { clock, mutex, publish } = change;
  const { store } = log;
  const blocked = sqlBlockedVisitorsStore(db);
  const readings = new ListReadings();
  const timeZone = (site: SiteId) => sites.timeZone(site);
  const kept = keptNow(config, clock);
  const history = sqlSettingHistory(db);
  const loginAddressesOf = async (site: SiteId) => loginAddressesIn(await history(site, 'login_url'));
  const blockedNow = (site: SiteId) => sites.get(site).blocked;
  const { visitors, users } = visitorFlags({ blockedNow, blockedUsers: (site) => sites.get(site).blockedUsers, kept });

  const blocking: BlockUserDeps = {
    ...{ blocked, visitors: store, keeper: blockedKeeper, blockedNow, kept, publish, mutex, clock },
    anonymized: (site) => sites.get(site).settings.log.anonymize_addresses === 1,
    blockedUsers: (site) => [...sites.get(site).blockedUsers].sort((a, b) => a - b),
    async pushBlockedUsers(site, ids) {
      // Nothing is in force during a pause.
      const inForce = sites.get(site.id).settings.pausedUntil > clock() ? [] : ids;
      const slow = attempts.slow.slow(site.id);
      await policyPush.push(site, connectorPolicy(sites.inForce(site.id), slow, inForce));
    },
    endSessions: (site, user) => client.endSessions(site, [user]),
    usersInfo: client.usersInfo,
    forgetSessions: (site) => sessions.forget(site),
  };
  const lists = { store, readings, clock, timeZone };
  const seen = async <Row extends { readonly ip: string; readonly hostname: string }>(
    site: SiteConfig,
    answer: Promise<ListAnswer<Row>>,
  ) => {
    const { entries } = await answer;
    log.look(
      site.id,
      entries.filter(({ hostname }) => hostname === '').map(({ ip }) => ip),
    );
    return answer;
  };

  return {
    listVisits: (ask) => seen(ask.site, listVisits({ ...lists, visitors }, ask)),
    listEvents: (ask) => seen(ask.site, listEvents({ ...lists, users }, ask)),
    searchFilter: ({ site, ...ask }) => searchFilter(store, { site: site.id, ...ask }),
    countNews: ({ site, list, ...ask }) =>
      (list === 'unknown' ? countNewVisits : countNewEvents)({ store, timeZone }, { site: site.id, ...ask }, NEWS_MAX),
    async traffic({ site: { id }, from, to }) {
      const facts = { timeZone: timeZone(id), now: Math.floor(clock() / 1000), keptDays: keptDays(sites, id) };
      const plan = planTraffic({ from, to }, facts);
      return sumTraffic(plan, await store.traffic(id, plan.edges[0] as number, plan.edges.at(-1) as number));
    },
    exportActivity: (ask) => exportActivity({ store, timeZone, clock, loginAddresses: loginAddressesOf }, ask),
    fetchActivityOptions: (site) =>
      fetchActivityOptions({ readSettings: (id) => fetchSiteSettings(change.settings, id), store, clock }, site.id),
    setDisableActivityLog: (wanted) => setDisableActivityLog(change, wanted),
    setLogLifetime: (wanted) => setLogLifetime(change, wanted),
    setAnonymizeAddresses: (wanted) => setAnonymizeAddresses(change, wanted),
    listBlocked: (ask) => listBlocked({ blocked, visitors: store, locks: parts.locks, ...lists }, ask),
    visitorStatus: (ask) => visitorStatus({ ...blocking, visitors: store }, ask),
    blockAddress: (wanted) => blockAddress(blocking, wanted),
    blockUser: (wanted) => blockUser(blocking, wanted),
    blockAddresses: (wanted) => blockAddresses(blocking, wanted),
    unblockLogin: (wanted) =>
      unblockLogin(
        {
          clock,
          async removeLocks(removal) {
            await attempts.stored();
            await removeLoginLocks(db, removal);
            await attempts.lift(removal.site);
            log.events.changed();
          },
        },
        wanted,
      ),
  };
}

function keptDays(sites: LiveSites, site: SiteId): number {
  return sites.get(site).settings.log.log_lifetime;
}

/** Addresses that must not be blocked, as they are now. */
function keptNow({ trustedProxies, activity }: Config, clock: Clock): () => KeptAddresses {
  let kept: KeptAddresses | null = null;
  let readAt = 0;
  return () => {
    if (kept === null || Math.abs(clock() - readAt) > OWN_ADDRESSES_MS) {
      const own = Object.values(networkInterfaces()).flatMap((cards) => (cards ?? []).map(({ address }) => address));
      kept = keptAddresses({ own, proxies: trustedProxies, monitors: activity.monitors });
      readAt = clock();
    }
    return kept;
  };
}
