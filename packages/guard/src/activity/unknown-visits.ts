import type { UnknownRow } from '@security-optimizer/contract/activity';
import type { SentFilters } from '@security-optimizer/contract/activity-filters';
import type { SiteId } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { ActivityStore, VisitFilter, VisitRow } from './activity-store.js';
import { visitFilters } from './filters.js';
import { moreFrom } from './fold-visits.js';
import { type ListAnswer, type ListAsk, type ListDeps, type ListSource, listActivity } from './list-activity.js';
import { localTimestamp } from './local-days.js';
import { readVisitFilters } from './read-filters.js';
import { type FilterOptions, filterOptions } from './search-filter.js';

/** Whether a visitor is blocked now, and must not be blocked. Answered from memory, once per row. */
export interface VisitorFlags {
  readonly block: 0 | 1;
  readonly do_not_block: 0 | 1;
}

export interface FlagsOfVisits {
  flags(site: SiteId, row: Pick<VisitRow, 'visitorId' | 'address' | 'type'>, caller: Actor): VisitorFlags;
}

export interface UnknownVisitsDeps extends ListDeps {
  readonly store: Pick<ActivityStore, 'newestVisit' | 'listVisits' | 'countVisits' | 'options'>;
  readonly visitors: FlagsOfVisits;
  readonly timeZone: (site: SiteId) => string;
}

/** The visits of a store as a list. */
export function visitSource(
  store: Pick<ActivityStore, 'newestVisit' | 'listVisits' | 'countVisits'>,
): ListSource<VisitFilter, VisitRow> {
  return {
    name: 'unknown',
    newest: (site) => store.newestVisit(site),
    rows: (window) => store.listVisits(window),
    count: (site, filter, anchor) => store.countVisits(site, filter, anchor),
  };
}

/** A page of what visitors without a session asked for. @throws ApiError invalid_input; StorageError */
export function listVisits(deps: UnknownVisitsDeps, ask: ListAsk): Promise<ListAnswer<UnknownRow>> {
  const site = ask.site.id;
  const timeZone = deps.timeZone(site);
  const read = readVisitFilters(ask.filters, { timeZone, exact: ask.exact });
  return listActivity(
    deps,
    visitSource(deps.store),
    ask,
    read,
    (rows) => rows.map((row) => unknownRowOf(row, timeZone, deps.visitors.flags(site, row, ask.caller))),
    async (choices) => visitFilters(choices, await visitOptions(deps.store, site)),
  );
}

/** A visit as the API tells it: plain text, whatever strangers wrote. */
export function unknownRowOf(row: VisitRow, timeZone: string, flags: VisitorFlags): UnknownRow {
  return {
    id: row.id,
    ts: localTimestamp(timeZone, row.at),
    ts_unix: row.at,
    ip: row.address,
    hostname: row.hostname ?? '',
    type: row.type,
    page_visited: row.target,
    response: responseText(row),
    code: row.status,
    rule: row.rule,
    count: row.moreBits === null ? row.count - row.more : row.count,
    more: row.more,
    more_from: moreFrom(row.address, row),
    visitor_id: row.visitorId,
    block: flags.block,
    do_not_block: flags.do_not_block,
  };
}

/** `200`, or `403 Blocked` when a rule refused it. */
function responseText({ status, rule }: Pick<VisitRow, 'status' | 'rule'>): string {
  return rule === null ? String(status) : `${status} Blocked`;
}

/** How many visits a list has gained. Counts to `most`. @throws ApiError invalid_input; StorageError */
export async function countNewVisits(
  deps: { readonly store: Pick<ActivityStore, 'newVisits'>; readonly timeZone: (site: SiteId) => string },
  ask: { readonly site: SiteId; readonly since: number; readonly filters: SentFilters; readonly exact: boolean },
  most: number,
): Promise<number> {
  const { filter } = readVisitFilters(ask.filters, { timeZone: deps.timeZone(ask.site), exact: ask.exact });
  return deps.store.newVisits(ask.site, filter, ask.since, most);
}

async function visitOptions(
  store: Pick<ActivityStore, 'options'>,
  site: SiteId,
): Promise<Record<'type' | 'code' | 'ip', FilterOptions>> {
  const [type, code, ip] = await Promise.all([
    filterOptions(store, site, 'type', ''),
    filterOptions(store, site, 'code', ''),
    filterOptions(store, site, 'ip', ''),
  ]);
  return { type, code, ip };
}
