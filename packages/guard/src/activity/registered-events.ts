import type { RegisteredRow } from '@security-optimizer/contract/activity';
import type { SentFilters } from '@security-optimizer/contract/activity-filters';
import { eventSentence } from '@security-optimizer/contract/activity-kinds';
import type { SiteId } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { ActivityStore, EventFilter, EventRow } from './activity-store.js';
import { eventFilters } from './filters.js';
import { type ListAnswer, type ListAsk, type ListDeps, type ListSource, listActivity } from './list-activity.js';
import { localTimestamp } from './local-days.js';
import { readEventFilters } from './read-filters.js';
import { filterOptions } from './search-filter.js';
import type { VisitorFlags } from './unknown-visits.js';

export interface FlagsOfUsers {
  flags(site: SiteId, row: Pick<EventRow, 'visitorId' | 'userId' | 'login'>, caller: Actor): VisitorFlags;
}

export interface RegisteredEventsDeps extends ListDeps {
  readonly store: Pick<ActivityStore, 'newestEvent' | 'listEvents' | 'countEvents' | 'options' | 'visitor'>;
  readonly users: FlagsOfUsers;
  readonly timeZone: (site: SiteId) => string;
}

/** Who did it, where nobody was signed in. */
const NOBODY: Readonly<Record<EventRow['origin'], string>> = {
  web: 'Visitor',
  cli: 'Command line',
  cron: 'Scheduled task',
  system: 'Security Optimizer',
};

/** Nobody can be blocked for an event that no user did. */
const NO_USER: VisitorFlags = { block: 0, do_not_block: 1 };

/** The events of a store as a list. */
export function eventSource(
  store: Pick<ActivityStore, 'newestEvent' | 'listEvents' | 'countEvents'>,
): ListSource<EventFilter, EventRow> {
  return {
    name: 'registered',
    newest: (site) => store.newestEvent(site),
    rows: (window) => store.listEvents(window),
    count: (site, filter, anchor) => store.countEvents(site, filter, anchor),
  };
}

/** A page of what registered users did. @throws ApiError invalid_input; StorageError */
export function listEvents(deps: RegisteredEventsDeps, ask: ListAsk): Promise<ListAnswer<RegisteredRow>> {
  const site = ask.site.id;
  const timeZone = deps.timeZone(site);
  const flags = (row: EventRow) => (row.userId === 0 ? NO_USER : deps.users.flags(site, row, ask.caller));
  return listActivity(
    deps,
    eventSource(deps.store),
    ask,
    readEventFilters(ask.filters, { timeZone, exact: ask.exact }),
    (rows) => rows.map((row) => registeredRowOf(row, { timeZone, flags: flags(row), caller: ask.caller.id })),
    async (choices) => {
      const [user, activity] = await Promise.all([
        userOptions(deps.store, site, choices.user),
        filterOptions(deps.store, site, 'activity', ''),
      ]);
      return eventFilters(choices, { user, activity });
    },
  );
}

/** An event as the API tells it: plain text, whatever is in the names. */
export function registeredRowOf(
  row: EventRow,
  { timeZone, flags, caller }: { timeZone: string; flags: VisitorFlags; caller: number | null },
): RegisteredRow {
  const { kind, object, objectType, before, after } = row;
  return {
    id: row.id,
    ts: localTimestamp(timeZone, row.at),
    ts_unix: row.at,
    ip: row.address,
    hostname: row.hostname ?? '',
    user: row.login === '' ? NOBODY[row.origin] : row.login,
    activity: eventSentence({ kind, object, objectType, before, after }),
    actions: kind,
    words: { kind, object, object_type: objectType, before, after },
    // An event has no answer of its own; the field is there for clients that read it of every row.
    response: '',
    origin: row.origin,
    you: row.userId !== 0 && row.userId === caller ? 1 : 0,
    visitor_id: row.visitorId,
    block: flags.block,
    do_not_block: flags.do_not_block,
  };
}

/** How many events a list has gained. Counts to `most`. @throws ApiError invalid_input; StorageError */
export async function countNewEvents(
  deps: { readonly store: Pick<ActivityStore, 'newEvents'>; readonly timeZone: (site: SiteId) => string },
  ask: { readonly site: SiteId; readonly since: number; readonly filters: SentFilters; readonly exact: boolean },
  most: number,
): Promise<number> {
  const { filter } = readEventFilters(ask.filters, { timeZone: deps.timeZone(ask.site), exact: ask.exact });
  return deps.store.newEvents(ask.site, filter, ask.since, most);
}

/** The users, and the chosen one by name also when others did more. */
async function userOptions(store: Pick<ActivityStore, 'options' | 'visitor'>, site: SiteId, chosen: number | null) {
  const options = await filterOptions(store, site, 'user', '');
  if (chosen === null || options.some(({ value }) => value === chosen)) return options;
  const visitor = await store.visitor(site, chosen);
  return visitor === null ? options : [...options, { label: visitor.name, value: chosen }];
}
