import type { CurrentBlock } from '@security-optimizer/contract/activity/blocks';
import type { SentFilters } from '@security-optimizer/contract/activity/requests';
import { ruleReason } from '@security-optimizer/contract/activity/rule-reasons';
import type { UnknownRow } from '@security-optimizer/contract/activity/schemas';
import { toLocalTimestamp } from '../lib/time-zone.js';
import type { Actor } from '../settings/audit-store.js';
import type { SiteId } from '../site.js';
import type { ActivityStore, VisitFilter, VisitRow } from './activity-store.js';
import type { CurrentBlocks } from './blocklist/current-blocks.js';
import { type FilterOptions, filterOptions, parseVisitFilters, type VisitSearch, visitFilters } from './filters.js';
import { toFoldedNetwork } from './fold-visits.js';
import { type ListContext, type ListPage, type ListQuery, type ListSource, listActivity } from './list-activity.js';

/** Whether a visitor is blocked, and whether it must not be blocked. Computed from memory, once per row. */
export interface VisitorFlags {
  readonly block: 0 | 1;
  readonly do_not_block: 0 | 1;
}

export interface VisitFlags {
  flags(site: SiteId, row: Pick<VisitRow, 'visitorId' | 'address' | 'type'>, caller: Actor): VisitorFlags;
}

export interface VisitListContext extends ListContext {
  readonly store: Pick<ActivityStore, 'newestVisit' | 'listVisits' | 'searchVisits' | 'countVisits' | 'options'>;
  readonly visitors: VisitFlags;
  readonly blocks: CurrentBlocks;
  readonly timeZone: (site: SiteId) => string;
}

/** Returns the visits of a store as the source of a list. */
export function visitSource(
  store: Pick<ActivityStore, 'newestVisit' | 'listVisits' | 'searchVisits' | 'countVisits'>,
): ListSource<VisitFilter, VisitRow> {
  return {
    name: 'unknown',
    newest: (site) => store.newestVisit(site),
    rows: async (window) =>
      window.filter.search == null
        ? { rows: await store.listVisits(window), stoppedAt: null }
        : store.searchVisits(window),
    count: (site, filter, anchor) => store.countVisits(site, filter, anchor),
  };
}

/**
 * Returns a page of the list of anonymous clients' visits.
 * @throws ApiError invalid_input
 * @throws StorageError
 */
export function listVisits(deps: VisitListContext, query: ListQuery): Promise<ListPage<UnknownRow>> {
  const site = query.site.id;
  const timeZone = deps.timeZone(site);
  const read = parseVisitFilters(query.filters, { timeZone, exact: query.exact }, query);
  return listActivity(
    deps,
    visitSource(deps.store),
    query,
    read,
    async (rows) => {
      const blocks = await deps.blocks.find(
        site,
        rows.map(({ address }) => address),
      );
      return rows.map((row) =>
        toUnknownRow(row, timeZone, deps.visitors.flags(site, row, query.caller), blocks.get(row.address) ?? null),
      );
    },
    async (choices) => visitFilters(choices, await visitOptions(deps.store, site)),
  );
}

/** Converts a visit to a row of the API. All untrusted text is plain text. */
export function toUnknownRow(
  row: VisitRow,
  timeZone: string,
  flags: VisitorFlags,
  currentBlock: CurrentBlock | null,
): UnknownRow {
  return {
    id: row.id,
    ts: toLocalTimestamp(timeZone, row.at),
    ts_unix: row.at,
    ip: row.address,
    hostname: row.hostname ?? '',
    type: row.type,
    page_visited: row.target,
    response: responseText(row),
    code: row.status,
    rule: row.rule,
    reason: ruleReason(row.rule),
    goal: row.goal,
    failed_login: row.failedLogins > 0 ? 1 : 0,
    tried: row.tried,
    current_block: currentBlock,
    count: row.moreBits === null ? row.count - row.more : row.count,
    more: row.more,
    more_from: toFoldedNetwork(row.address, row),
    visitor_id: row.visitorId,
    block: flags.block,
    do_not_block: flags.do_not_block,
  };
}

/** Returns `200`, for example, or `403 Blocked` if a rule refused the request. */
export function responseText({ status, rule }: Pick<VisitRow, 'status' | 'rule'>): string {
  return rule === null ? String(status) : `${status} Blocked`;
}

/**
 * Counts the new visits of a list, up to `limit`.
 * @throws ApiError invalid_input
 * @throws StorageError
 */
export async function countNewVisits(
  deps: { readonly store: Pick<ActivityStore, 'newVisits'>; readonly timeZone: (site: SiteId) => string },
  query: {
    readonly site: SiteId;
    readonly since: number;
    readonly filters: SentFilters;
    readonly exact: boolean;
  } & VisitSearch,
  limit: number,
): Promise<number> {
  const { filter } = parseVisitFilters(
    query.filters,
    { timeZone: deps.timeZone(query.site), exact: query.exact },
    query,
  );
  return deps.store.newVisits(query.site, filter, query.since, limit);
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
