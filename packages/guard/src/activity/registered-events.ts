import type { CurrentBlock } from '@security-optimizer/contract/activity/blocks';
import { eventSentence } from '@security-optimizer/contract/activity/event-kinds';
import type { SentFilters } from '@security-optimizer/contract/activity/requests';
import type { RegisteredRow } from '@security-optimizer/contract/activity/schemas';
import { toLocalTimestamp } from '../lib/time-zone.js';
import type { Actor } from '../settings/audit-store.js';
import type { SiteId } from '../site.js';
import type { ActivityStore, EventFilter, EventRow } from './activity-store.js';
import type { VisitFlags, VisitorFlags } from './anonymous-visits.js';
import type { CurrentBlocks } from './blocklist/current-blocks.js';
import { eventFilters, filterOptions, parseEventFilters } from './filters.js';
import { type ListContext, type ListPage, type ListQuery, type ListSource, listActivity } from './list-activity.js';

export interface UserFlags {
  flags(site: SiteId, row: Pick<EventRow, 'visitorId' | 'userId' | 'login'>, caller: Actor): VisitorFlags;
}

export interface EventListContext extends ListContext {
  readonly store: Pick<ActivityStore, 'newestEvent' | 'searchEvents' | 'countEvents' | 'options' | 'visitor'>;
  readonly users: UserFlags;
  readonly visitors: VisitFlags;
  readonly blocks: CurrentBlocks;
  readonly timeZone: (site: SiteId) => string;
}

/** The actor of an event without a user. */
const ORIGIN_NAMES: Readonly<Record<EventRow['origin'], string>> = {
  web: 'Visitor',
  cli: 'Command line',
  cron: 'Scheduled task',
  system: 'Security Optimizer',
};

/** An event without a user has nobody to block. */
const NO_USER: VisitorFlags = { block: 0, do_not_block: 1 };

/** Returns the events of a store as the source of a list. */
export function eventSource(
  store: Pick<ActivityStore, 'newestEvent' | 'searchEvents' | 'countEvents'>,
): ListSource<EventFilter, EventRow> {
  return {
    name: 'registered',
    newest: (site) => store.newestEvent(site),
    rows: (window) => store.searchEvents(window),
    count: (site, filter, anchor) => store.countEvents(site, filter, anchor),
  };
}

/**
 * Returns a page of the registered users' list.
 * @throws ApiError invalid_input
 * @throws StorageError
 */
export function listEvents(deps: EventListContext, query: ListQuery): Promise<ListPage<RegisteredRow>> {
  const site = query.site.id;
  const timeZone = deps.timeZone(site);
  const flags = (row: EventRow) => (row.userId === 0 ? NO_USER : deps.users.flags(site, row, query.caller));
  const show = async (rows: readonly EventRow[]) => {
    const blocks = await deps.blocks.find(
      site,
      rows.map(({ address }) => address),
    );
    return rows.map((row) => {
      const { address, addressVisitorId: visitorId } = row;
      const ofAddress = { flags: deps.visitors.flags(site, { address, visitorId, type: '' }, query.caller) };
      const block = blocks.get(address) ?? null;
      return toRegisteredRow(row, {
        timeZone,
        flags: flags(row),
        caller: query.caller.id,
        address: { ...ofAddress, block },
      });
    });
  };
  return listActivity(
    deps,
    eventSource(deps.store),
    query,
    parseEventFilters(query.filters, { timeZone, exact: query.exact }, query.search),
    show,
    async (choices) => {
      const [user, activity] = await Promise.all([
        userOptions(deps.store, site, choices.user),
        filterOptions(deps.store, site, 'activity', ''),
      ]);
      return eventFilters(choices, { user, activity });
    },
  );
}

/** Converts an event to a row of the API. All untrusted text is plain text. */
export function toRegisteredRow(
  row: EventRow,
  {
    timeZone,
    flags,
    caller,
    address,
  }: {
    readonly timeZone: string;
    readonly flags: VisitorFlags;
    readonly caller: number | null;
    readonly address: { readonly flags: VisitorFlags; readonly block: CurrentBlock | null };
  },
): RegisteredRow {
  const { kind, object, objectType, before, after } = row;
  return {
    id: row.id,
    ts: toLocalTimestamp(timeZone, row.at),
    ts_unix: row.at,
    ip: row.address,
    hostname: row.hostname ?? '',
    user: row.login === '' ? ORIGIN_NAMES[row.origin] : row.login,
    activity: eventSentence({ kind, object, objectType, before, after }),
    actions: kind,
    words: { kind, object, object_type: objectType, before, after },
    // Events have no response. The field exists for clients that read it from every row.
    response: '',
    origin: row.origin,
    // A client that failed to log in as the caller need not be the caller.
    you: row.userId !== 0 && row.userId === caller && kind !== 'login.failed' ? 1 : 0,
    visitor_id: row.visitorId,
    block: flags.block,
    do_not_block: flags.do_not_block,
    ip_visitor_id: row.addressVisitorId,
    ip_block: address.block,
    ip_do_not_block: row.address === '' ? 1 : address.flags.do_not_block,
  };
}

/**
 * Counts the new events of a list, up to `limit`.
 * @throws ApiError invalid_input
 * @throws StorageError
 */
export async function countNewEvents(
  deps: { readonly store: Pick<ActivityStore, 'newEvents'>; readonly timeZone: (site: SiteId) => string },
  query: {
    readonly site: SiteId;
    readonly since: number;
    readonly filters: SentFilters;
    readonly exact: boolean;
    readonly search?: string;
  },
  limit: number,
): Promise<number> {
  const { filter } = parseEventFilters(
    query.filters,
    { timeZone: deps.timeZone(query.site), exact: query.exact },
    query.search,
  );
  return deps.store.newEvents(query.site, filter, query.since, limit);
}

/** Returns the users as options, including the chosen one when others did more. */
async function userOptions(store: Pick<ActivityStore, 'options' | 'visitor'>, site: SiteId, chosen: number | null) {
  const options = await filterOptions(store, site, 'user', '');
  if (chosen === null || options.some(({ value }) => value === chosen)) return options;
  const visitor = await store.visitor(site, chosen);
  return visitor === null ? options : [...options, { label: visitor.name, value: chosen }];
}
