import type { ActivityOptions, BlockedRow, RegisteredRow, UnknownRow } from '@security-optimizer/contract/activity';
import type {
  activityEndpoints,
  activityTraffic,
  visitorStatus,
} from '@security-optimizer/contract/activity-endpoints';
import type { SentFilters } from '@security-optimizer/contract/activity-filters';
import type { LogLifetime } from '@security-optimizer/contract/activity-limits';
import type { z } from 'zod';
import type { ListAnswer, ListAsk } from '../activity/list-activity.js';
import type { FilterOptions } from '../activity/search-filter.js';
import { lifetimeOptions } from '../activity/set-log-settings.js';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { CallContext } from './call-context.js';
import type { HandlersOf } from './handlers.js';

type Caller = { readonly site: SiteConfig; readonly actor: Actor };
type Change<Value> = Caller & { readonly value: Value };
type WithBrowser = { readonly visitor: CallContext['visitor'] };
/** A text for the owner. */
type Text = Promise<string>;

/** The use cases behind blocking and the tab Blocked. Ids are those of visitors. */
export interface BlockingUseCases {
  readonly listBlocked: (ask: ListAsk) => Promise<ListAnswer<BlockedRow>>;
  /** Throws ApiError not_found for an unknown id. */
  readonly visitorStatus: (ask: Caller & { readonly id: number }) => Promise<z.output<typeof visitorStatus.response>>;
  /** @returns the text for the owner. Throws ApiError not_found; must_not_be_blocked with the reason */
  readonly blockAddress: (change: Change<0 | 1> & { readonly id: number; readonly single: boolean }) => Text;
  /** The same for a user, whose sessions end at once. */
  readonly blockUser: (change: Change<0 | 1> & WithBrowser & { readonly id: number }) => Text;
  /** Blocks an address or range by its text. Throws ApiError invalid_input naming `address`. */
  readonly blockAddresses: (
    change: Caller & { readonly text: string },
  ) => Promise<{ readonly visitorId: number; readonly message: string }>;
  /** Ends a lock by failed log-ins. Throws ApiError invalid_input naming `ip`. */
  readonly unblockLogin: (change: Caller & { readonly ip: string }) => Text;
}

/** The use cases behind the lists, the chart and the settings of the log. */
export interface LogUseCases {
  readonly listVisits: (ask: ListAsk) => Promise<ListAnswer<UnknownRow>>;
  readonly listEvents: (ask: ListAsk) => Promise<ListAnswer<RegisteredRow>>;
  readonly searchFilter: (ask: {
    readonly site: SiteConfig;
    readonly list: 'unknown' | 'registered';
    readonly filter: string;
    readonly search: string;
  }) => Promise<FilterOptions>;
  readonly countNews: (ask: {
    readonly site: SiteConfig;
    readonly list: 'unknown' | 'registered';
    readonly since: number;
    readonly filters: SentFilters;
    readonly exact: boolean;
  }) => Promise<number>;
  readonly traffic: (ask: {
    readonly site: SiteConfig;
    readonly from: number | null;
    readonly to: number | null;
  }) => Promise<z.output<typeof activityTraffic.response>>;
  readonly fetchActivityOptions: (site: SiteConfig) => Promise<ActivityOptions>;
  readonly setDisableActivityLog: (change: Change<0 | 1>) => Text;
  readonly setLogLifetime: (change: Change<LogLifetime>) => Text;
  readonly setAnonymizeAddresses: (change: Change<0 | 1>) => Text;
}

/** The use cases behind the page Activity Log. */
export interface ActivityUseCases extends LogUseCases, BlockingUseCases {}

type ActivityHandlers = HandlersOf<(typeof activityEndpoints)[number]>;

/** Connects each call of the page Activity Log with its use case. */
export function createActivityHandlers(useCases: ActivityUseCases): ActivityHandlers {
  return {
    activityUnknown: async (input, context) => ({
      data: await useCases.listVisits(listAsk(input, context)),
      message: '',
    }),
    registeredActivity: async (input, context) => ({
      data: await useCases.listEvents(listAsk(input, context)),
      message: '',
    }),
    blockedUsers: async (input, context) => ({
      data: await useCases.listBlocked(listAsk(input, context)),
      message: '',
    }),
    async searchActivityFilter({ list, filter, search }, { site }) {
      return { data: { options: [...(await useCases.searchFilter({ site, list, filter, search }))] }, message: '' };
    },
    async activityNews({ list, since, filters, exact }, { site }) {
      const count = await useCases.countNews({ site, list, since, filters, exact: exact === 1 });
      return { data: { count }, message: '' };
    },
    async activityTraffic({ from, to }, { site }) {
      return { data: await useCases.traffic({ site, from: from ?? null, to: to ?? null }), message: '' };
    },
    async visitorStatus({ id }, { site, actor }) {
      return { data: await useCases.visitorStatus({ site, actor, id }), message: '' };
    },
    async blockIp({ id, block: value, single = 0 }, { site, actor }) {
      const message = await useCases.blockAddress({ site, actor, id, value, single: single === 1 });
      return { data: { block: value }, message };
    },
    async blockUser({ id, block: value }, { site, actor, visitor }) {
      return { data: { block: value }, message: await useCases.blockUser({ site, actor, id, value, visitor }) };
    },
    async blockAddresses({ address: text }, { site, actor }) {
      const { visitorId, message } = await useCases.blockAddresses({ site, actor, text });
      return { data: { visitor_id: visitorId, block: 1 }, message };
    },
    async loginUnblock({ ip }, { site, actor }) {
      return { data: { block: 0 }, message: await useCases.unblockLogin({ site, actor, ip }) };
    },
    async 'update:disable_activity_log'({ disable_activity_log: value }, { site, actor }) {
      const message = await useCases.setDisableActivityLog({ site, actor, value });
      return { data: { disable_activity_log: value }, message };
    },
    async 'update:log_lifetime'({ log_lifetime: value }, { site, actor }) {
      const message = await useCases.setLogLifetime({ site, actor, value });
      return { data: { log_lifetime: lifetimeOptions(value) }, message };
    },
    async 'update:anonymize_addresses'({ anonymize_addresses: value }, { site, actor }) {
      const message = await useCases.setAnonymizeAddresses({ site, actor, value });
      return { data: { anonymize_addresses: value }, message };
    },
  };
}

type ListInput = {
  readonly limitedView?: 0 | 1 | null | undefined;
  readonly page?: number | null | undefined;
  readonly filters?: SentFilters;
  readonly cursor?: string | null | undefined;
  readonly exact?: 0 | 1 | null | undefined;
};

function listAsk(input: ListInput, { site, actor }: CallContext): ListAsk {
  return {
    site,
    caller: actor,
    limited: input.limitedView === 1,
    page: input.page ?? 1,
    filters: input.filters,
    cursor: input.cursor ?? null,
    exact: input.exact === 1,
  };
}
