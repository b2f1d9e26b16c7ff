import type { activityEndpoints as calls } from '@security-optimizer/contract/activity/endpoints';
import type { SentFilters } from '@security-optimizer/contract/activity/requests';
import type { ActivityOptions, VisitPreset } from '@security-optimizer/contract/activity/schemas';
import { toResponseValues } from '@security-optimizer/contract/settings/catalogue';
import type { SettingCalls } from '@security-optimizer/contract/settings/endpoints';
import type { CallContext, CallHandlers, DownloadHandlers, OptionPages } from '../feature.js';
import type { Clock } from '../lib/clock.js';
import type { LoginSecurity } from '../login/index.js';
import { readLoginAddresses } from '../login/index.js';
import type { Services } from '../services.js';
import { readSiteSettings, type SiteSettings } from '../settings/site-settings.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';
import { countNewVisits, listVisits } from './anonymous-visits.js';
import { readAttackers } from './attackers.js';
import {
  type AddressOutcome,
  type Blocking,
  type BlockScope,
  blockAddress,
  blockAddresses,
  blockUser,
  blockVisitors,
  toTerms,
  unblockLogin,
} from './blocklist/block-visitor.js';
import type { BlocklistStore } from './blocklist/blocklist-store.js';
import type { BlocklistSync } from './blocklist/blocklist-sync.js';
import { createCurrentBlocks } from './blocklist/current-blocks.js';
import type { BlockEnds } from './blocklist/end-blocks.js';
import { listBlocked } from './blocklist/list-blocked.js';
import { createVisitorFlags, currentProtectedAddresses } from './blocklist/protected-visitors.js';
import { visitorStatus } from './blocklist/visitor-status.js';
import { exportActivity } from './export-activity.js';
import { searchFilter } from './filters.js';
import { ListCursors, type ListPage, type ListQuery } from './list-activity.js';
import { countNewEvents, listEvents } from './registered-events.js';
import { readRequestDetails } from './request-details.js';
import type { Retention } from './retention.js';
import { planTraffic, sumTraffic } from './traffic.js';

export type ActivityCalls = Exclude<(typeof calls)[number], SettingCalls>;

/** Limit for counting new rows of a list. */
const NEWS_MAX = 1000;

/** The endpoints of the page Activity Log. */
export function activityEndpoints(
  services: Services,
  log: {
    readonly store: ActivityStore;
    readonly blocked: BlocklistStore;
    readonly blocklist: BlocklistSync;
    readonly blockEnds: Pick<BlockEnds, 'planned'>;
    readonly retention: Pick<Retention, 'findUndo'>;
    readonly login: LoginSecurity;
    /** Called after lockouts were ended, with an audit row. */
    onUnlocked(): void;
    /** Looks up the host names of displayed addresses. */
    lookUp(site: SiteId, addresses: Iterable<string>): void;
  },
): {
  readonly handlers: CallHandlers<ActivityCalls>;
  readonly pages: Pick<OptionPages, 'activity'>;
  readonly downloads: DownloadHandlers;
} {
  const { config, change, sites, siteList, settingHistory, clock } = services;
  const { store, blocked, blocklist, login } = log;
  const timeZone = (site: SiteId) => sites.timeZone(site);
  const protectedAddresses = currentProtectedAddresses(
    config.activity.monitors,
    (site) => [...siteList.trustedProxies, ...(siteList.find(site)?.trustedProxies ?? [])],
    clock,
  );
  const { visitors, users } = createVisitorFlags(sites, protectedAddresses);
  const isAnonymized = (site: SiteId) => sites.get(site).settings.log.anonymize_addresses === 1;
  const blocks = createCurrentBlocks({ sites: sites, store: blocked, lockedUntil: login.lockedUntil, clock });
  const findBlock = async (site: SiteId, name: string) => (await blocks.find(site, [name])).get(name) ?? null;
  const toBlockResponse = async (site: SiteId, value: 0 | 1, { name, message }: AddressOutcome) => ({
    data: { block: value, current: await findBlock(site, name) },
    message,
  });
  const lists = { blocks, store, cursors: new ListCursors(), clock, timeZone };
  const blocking: Blocking = {
    ...{ services, store: blocked, sync: blocklist, log: store, protectedAddresses },
    onTimed: log.blockEnds.planned,
  };
  const requestHostnames = async <Row extends { readonly ip: string; readonly hostname: string }>(
    site: SiteConfig,
    page: Promise<ListPage<Row>>,
  ) => {
    const { entries } = await page;
    log.lookUp(
      site.id,
      entries.filter(({ hostname }) => hostname === '').map(({ ip }) => ip),
    );
    return { data: await page, message: '' };
  };

  return {
    pages: {
      activity: ({ site }) =>
        getActivityOptions(
          { readSettings: (id) => readSiteSettings(change.settings, id), store, retention: log.retention, clock },
          site.id,
        ),
    },
    downloads: {
      activityExport: ({ list, format, exact, preset, search, ...parameters }, { site }) =>
        exportActivity(
          {
            ...{ store, timeZone, clock },
            loginAddresses: async (id) => readLoginAddresses(await settingHistory(id, 'login_url')),
          },
          { site, list, format, parameters, exact: exact === 1, preset: preset ?? null, search: search ?? '' },
        ),
    },
    handlers: {
      activityUnknown: (input, context) =>
        requestHostnames(context.site, listVisits({ ...lists, visitors }, toListQuery(input, context))),
      registeredActivity: (input, context) =>
        requestHostnames(context.site, listEvents({ ...lists, users, visitors }, toListQuery(input, context))),
      async blockedUsers(input, context) {
        const sources = { blocked, visitors: store, locks: login.lockedAddresses, ...lists };
        return { data: await listBlocked(sources, toListQuery(input, context)), message: '' };
      },
      async searchActivityFilter({ list, filter, search }, { site }) {
        const options = await searchFilter(store, { site: site.id, list, filter, search });
        return { data: { options: [...options] }, message: '' };
      },
      async activityNews({ list, since, filters, exact, preset, search }, { site }) {
        const count = list === 'unknown' ? countNewVisits : countNewEvents;
        const searchOptions = { preset: preset ?? null, search: search ?? '' };
        const query = { site: site.id, since, filters, exact: exact === 1, ...searchOptions };
        return { data: { count: await count({ store, timeZone }, query, NEWS_MAX) }, message: '' };
      },
      async activityTraffic({ from, to }, { site: { id } }) {
        const retentionDays = sites.get(id).settings.log.log_lifetime;
        const facts = { timeZone: timeZone(id), now: Math.floor(clock() / 1000), retentionDays };
        const plan = planTraffic({ from: from ?? null, to: to ?? null }, facts);
        const hours = await store.traffic(id, plan.edges[0] as number, plan.edges.at(-1) as number);
        return { data: sumTraffic(plan, hours), message: '' };
      },
      async activityAttackers({ all }, { site, actor }) {
        const sources = { store, blocks, protectedAddresses, clock, timeZone, isAnonymized };
        const { data, unnamed } = await readAttackers(sources, { site: site.id, caller: actor, all: all === 1 });
        log.lookUp(site.id, unnamed);
        return { data, message: '' };
      },
      async activityRequest({ id }, { site, actor }) {
        const sources = { store, blocks, visitors, timeZone };
        const data = await readRequestDetails(sources, { site: site.id, caller: actor, id });
        if (data.visitor.hostname === '') log.lookUp(site.id, [data.visitor.ip]);
        return { data, message: '' };
      },
      async logLifetimePreview({ log_lifetime: days }, { site: { id } }) {
        const before = Math.floor(clock() / 1000) - days * DAY;
        return { data: await countOlder(store, id, before), message: '' };
      },
      async visitorStatus({ id }, { site, actor }) {
        return { data: await visitorStatus(blocking, blocks, { site, actor, id }), message: '' };
      },
      async blockIp({ id, block: value, single, network, ...options }, { site, actor }) {
        const scope: BlockScope = network === 1 ? 'network' : single === 1 ? 'single' : 'usual';
        const terms = toTerms(options, clock());
        const outcome = await blockAddress(blocking, { site, actor, id, value, scope, terms });
        return toBlockResponse(site.id, value, outcome);
      },
      async blockUser({ id, block: value, ...options }, { site, actor }) {
        const terms = toTerms(options, clock());
        const { user, message } = await blockUser(blocking, { site, actor, id, value, terms });
        return { data: { block: value, current: await blocks.findUser(site.id, user) }, message };
      },
      async blockAddresses({ address: text, confirm, ...options }, { site, actor, visitor }) {
        const terms = toTerms(options, clock());
        const seen = visitor.sender.address;
        const change = { site, actor, seen, text, confirm: confirm === 1, terms };
        const outcome = await blockAddresses(blocking, change);
        const { data, message } = await toBlockResponse(site.id, 1, outcome);
        return { data: { visitor_id: outcome.visitorId, ...data }, message };
      },
      async blockVisitors({ ids, block: value, ...options }, { site, actor }) {
        const terms = toTerms(options, clock());
        const { done, refused } = await blockVisitors(blocking, { site, actor, ids, value, terms });
        const current = await blocks.find(
          site.id,
          done.map(({ name }) => name),
        );
        return {
          data: {
            done: done.map(({ id, name }) => ({ visitor_id: id, block: value, current: current.get(name) ?? null })),
            refused: refused.map(({ id, reason }) => ({ visitor_id: id, reason })),
          },
          message: '',
        };
      },
      async loginUnblock({ ip }, { site, actor }) {
        const removeLocks: Parameters<typeof unblockLogin>[0]['removeLocks'] = async (removal) => {
          await login.unlock(removal);
          log.onUnlocked();
        };
        return { data: { block: 0 }, message: await unblockLogin({ clock, removeLocks }, { site, actor, ip }) };
      },
    },
  };
}

type ListInput = {
  readonly limitedView?: 0 | 1 | null | undefined;
  readonly page?: number | null | undefined;
  readonly filters?: SentFilters;
  readonly cursor?: string | null | undefined;
  readonly preset?: VisitPreset | null | undefined;
  readonly search?: string | null | undefined;
  readonly exact?: 0 | 1 | null | undefined;
};

function toListQuery(input: ListInput, { site, actor }: CallContext): ListQuery {
  return {
    site,
    caller: actor,
    limited: input.limitedView === 1,
    page: input.page ?? 1,
    filters: input.filters,
    cursor: input.cursor ?? null,
    exact: input.exact === 1,
    preset: input.preset ?? null,
    search: input.search ?? '',
  };
}

const DAY = 24 * 3600;

/** Counts the entries from before a time, at a cost that does not grow with the log. Throws StorageError. */
async function countOlder(
  store: Pick<ActivityStore, 'countVisits' | 'countEvents'>,
  site: SiteId,
  before: number,
): Promise<{ visits: number; events: number; exact: 0 | 1 }> {
  const until = { from: null, to: before - 1 };
  const [visits, events] = await Promise.all([
    store.countVisits(site, { ...until, type: null, code: null, addresses: null }, null),
    store.countEvents(site, until, null),
  ]);
  return { visits: visits.rows, events: events.rows, exact: visits.exact && events.exact ? 1 : 0 };
}

/** Fetches the data of the tab Log Settings. Throws StorageError. */
async function getActivityOptions(
  deps: {
    readonly readSettings: (site: SiteId) => Promise<SiteSettings>;
    readonly store: Pick<ActivityStore, 'droppedVisits' | 'countVisits' | 'countEvents'>;
    readonly retention: Pick<Retention, 'findUndo'>;
    readonly clock: Clock;
  },
  site: SiteId,
): Promise<ActivityOptions> {
  const { log } = await deps.readSettings(site);
  const retainedFrom = Math.floor(deps.clock() / 1000) - log.log_lifetime * DAY;
  const dropped = await deps.store.droppedVisits(site, retainedFrom);
  const undo = deps.retention.findUndo(site);
  if (undo === null) return { ...toResponseValues('log', log), dropped, log_lifetime_undo: null };
  const { visits, events } = await countOlder(deps.store, site, retainedFrom);
  const log_lifetime_undo = { ...undo, deletes: visits + events > 0 ? 1 : 0 } as const;
  return { ...toResponseValues('log', log), dropped, log_lifetime_undo };
}
