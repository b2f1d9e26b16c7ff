import type { ActivityFilter } from '@security-optimizer/contract/activity';
import type { SentFilters } from '@security-optimizer/contract/activity-filters';
import { LIMITED_ROWS, PAGE_ROWS } from '@security-optimizer/contract/activity-limits';
import type { Clock } from '../lib/clock.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { Counted, Window } from './activity-store.js';
import { type ListReadings, type Place, readCursor, writeCursor } from './cursors.js';
import type { ReadFilters } from './read-filters.js';

/** A call for one page of a list. */
export interface ListAsk {
  readonly site: SiteConfig;
  readonly caller: Actor;
  /** Five rows and no more pages, for the overview. */
  readonly limited: boolean;
  /** From 1. */
  readonly page: number;
  readonly filters: SentFilters;
  readonly cursor: string | null;
  /** The To of the date filter is a moment, not a day. */
  readonly exact: boolean;
}

export interface ListAnswer<Row> {
  entries: Row[];
  filters: ActivityFilter[];
  page: number;
  pages: number;
  cursor: string | null;
  total: number | null;
}

/** What a list is read from; one of the two kinds of rows of the store. */
export interface ListSource<Filter, Row extends { readonly id: number }> {
  readonly name: 'unknown' | 'registered';
  readonly newest: (site: SiteId) => Promise<number>;
  readonly rows: (window: Window<Filter>) => Promise<readonly Row[]>;
  readonly count: (site: SiteId, filter: Filter, anchor: number) => Promise<Counted>;
}

export interface ListDeps {
  readonly readings: ListReadings;
  readonly clock: Clock;
}

/**
 * One page of a list, newest first. A list is anchored at its first page, so that rows which arrive meanwhile shift
 * nothing; see docs/activity-log.md.
 *
 * @param show makes the rows of the answer
 * @param panel makes the filters of the answer
 * @throws ApiError invalid_input naming `cursor`; StorageError
 */
export async function listActivity<Choices, Filter, Row extends { readonly id: number }, Shown>(
  deps: ListDeps,
  source: ListSource<Filter, Row>,
  ask: ListAsk,
  { choices, filter }: ReadFilters<Choices, Filter>,
  show: (rows: readonly Row[]) => Shown[],
  panel: (choices: Choices) => Promise<ActivityFilter[]>,
): Promise<ListAnswer<Shown>> {
  const site = ask.site.id;
  if (ask.limited) {
    const window = { site, filter, anchor: null, before: null, skip: 0, limit: LIMITED_ROWS };
    const [rows, filters] = await Promise.all([source.rows(window), panel(choices)]);
    return { entries: show(rows), filters, page: 1, pages: 1, cursor: null, total: null };
  }
  const key = JSON.stringify([site, source.name, ask.caller.id, filter]);
  const { page, place } = await placeOf(deps, source, ask, key);
  const [rows, counted, filters] = await Promise.all([
    source.rows({ site, filter, ...place, limit: PAGE_ROWS + 1 }),
    countOf(deps, source, { site, filter, anchor: place.anchor, key }),
    panel(choices),
  ]);
  const shown = rows.slice(0, PAGE_ROWS);
  const last = shown.at(-1)?.id;
  const more = rows.length > PAGE_ROWS && last !== undefined;
  if (last !== undefined) deps.readings.ended(key, place.anchor, page, last, deps.clock());
  return {
    entries: show(shown),
    filters,
    page,
    pages: pagesOf(page, { more, empty: shown.length === 0 }, counted),
    cursor: more ? writeCursor(place.anchor, last, page + 1) : null,
    total: counted.exact ? counted.rows : null,
  };
}

async function placeOf<Filter, Row extends { readonly id: number }>(
  { readings, clock }: ListDeps,
  source: ListSource<Filter, Row>,
  { site, page, cursor }: ListAsk,
  key: string,
): Promise<{ readonly page: number; readonly place: Place }> {
  if (cursor !== null && cursor !== '') {
    const { anchor, before, page: next } = readCursor(cursor);
    // After a restart the list is known by its cursor alone.
    if (readings.place(key, next, PAGE_ROWS, clock()) === null) readings.begin(key, anchor, clock());
    return { page: next, place: { anchor, before, skip: 0 } };
  }
  const known = page === 1 ? null : readings.place(key, page, PAGE_ROWS, clock());
  if (known !== null) return { page, place: known };
  const anchor = await source.newest(site.id);
  readings.begin(key, anchor, clock());
  return { page, place: { anchor, before: null, skip: (page - 1) * PAGE_ROWS } };
}

/** Counted once per list that is being read: below its anchor nothing is added. */
async function countOf<Filter, Row extends { readonly id: number }>(
  { readings, clock }: ListDeps,
  source: ListSource<Filter, Row>,
  { site, filter, anchor, key }: { site: SiteId; filter: Filter; anchor: number; key: string },
): Promise<Counted> {
  const known = readings.counted(key, anchor, clock());
  if (known !== null) return known;
  const counted = await source.count(site, filter, anchor);
  readings.noteCount(key, anchor, counted, clock());
  return counted;
}

/**
 * Never fewer pages than there are rows to load, and never more to load than there are: what was counted may have been
 * cleared up since, or have been too much to be counted to its end.
 */
function pagesOf(page: number, { more, empty }: { more: boolean; empty: boolean }, { rows }: Counted): number {
  const counted = Math.max(1, Math.ceil(rows / PAGE_ROWS));
  if (more) return Math.max(page + 1, counted);
  return empty ? Math.min(page, counted) : page;
}
