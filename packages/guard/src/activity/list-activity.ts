import { LIMITED_ROWS, PAGE_ROWS } from '@security-optimizer/contract/activity/limits';
import type { SentFilters } from '@security-optimizer/contract/activity/requests';
import type { ActivityFilter, VisitPreset } from '@security-optimizer/contract/activity/schemas';
import { ApiError } from '../lib/api-error.js';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/collections.js';
import type { Actor } from '../settings/audit-store.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { Counted, FoundRows, Window } from './activity-store.js';
import type { ParsedFilters } from './filters.js';
import { toSecond } from './store/row-keys.js';

/** A request for one page of a list. */
export interface ListQuery {
  readonly site: SiteConfig;
  readonly caller: Actor;
  /** Five rows on a single page, for the overview. */
  readonly limited: boolean;
  /** Page number, from 1. */
  readonly page: number;
  readonly filters: SentFilters;
  readonly cursor: string | null;
  /** Whether the end of the date filter is a time, not a day. */
  readonly exact: boolean;
  readonly preset?: VisitPreset | null;
  /** An address or network, part of a path, a login, or a reference; empty for none. */
  readonly search?: string;
}

export interface ListPage<Row> {
  entries: Row[];
  filters: ActivityFilter[];
  page: number;
  pages: number;
  cursor: string | null;
  total: number | null;
  /** When a text search stopped before the page was full: Unix seconds back to which it has searched. */
  searched_to?: number | null;
}

/** The source of a list: one of the two kinds of rows of the store. */
export interface ListSource<Filter, Row extends { readonly id: number }> {
  readonly name: 'unknown' | 'registered';
  readonly newest: (site: SiteId) => Promise<number>;
  readonly rows: (window: Window<Filter>) => Promise<FoundRows<Row>>;
  readonly count: (site: SiteId, filter: Filter, anchor: number) => Promise<Counted>;
}

export interface ListContext {
  readonly cursors: ListCursors;
  readonly clock: Clock;
}

/**
 * Returns one page of a list, newest first. A list is anchored at its first page, so that rows that are added later do
 * not shift its pages; see docs/developer/activity-log.md.
 *
 * @param show converts rows for the response
 * @param panel creates the filters of the response
 * @throws ApiError invalid_input naming `cursor`
 * @throws StorageError
 */
export async function listActivity<Choices, Filter, Row extends { readonly id: number }, Shown>(
  deps: ListContext,
  source: ListSource<Filter, Row>,
  query: ListQuery,
  { choices, filter }: ParsedFilters<Choices, Filter>,
  show: (rows: readonly Row[]) => Promise<Shown[]>,
  panel: (choices: Choices) => Promise<ActivityFilter[]>,
): Promise<ListPage<Shown>> {
  const site = query.site.id;
  if (query.limited) {
    const window = { site, filter, anchor: null, before: null, skip: 0, limit: LIMITED_ROWS };
    const [{ rows }, filters] = await Promise.all([source.rows(window), panel(choices)]);
    return { entries: await show(rows), filters, page: 1, pages: 1, cursor: null, total: null };
  }
  const key = JSON.stringify([site, source.name, query.caller.id, filter]);
  const { page, position } = await findPosition(deps, source, query, key);
  const [{ rows, stoppedAt }, counted, filters] = await Promise.all([
    source.rows({ site, filter, ...position, limit: PAGE_ROWS + 1 }),
    countRows(deps, source, { site, filter, anchor: position.anchor, key }),
    panel(choices),
  ]);
  const shown = rows.slice(0, PAGE_ROWS);
  const isFull = rows.length > PAGE_ROWS;
  // A text search stops after a bounded number of rows; the next page continues there.
  const last = isFull || stoppedAt === null ? shown.at(-1)?.id : stoppedAt;
  const more = (isFull || stoppedAt !== null) && last !== undefined;
  if (last !== undefined) deps.cursors.recordPageEnd(key, position.anchor, page, last, deps.clock());
  return {
    entries: await show(shown),
    filters,
    page,
    pages: countPages(page, { more, empty: shown.length === 0 }, counted),
    cursor: more ? writeCursor(position.anchor, last, page + 1) : null,
    total: counted.exact ? counted.rows : null,
    searched_to: more && !isFull ? toSecond(last) : null,
  };
}

async function findPosition<Filter, Row extends { readonly id: number }>(
  { cursors, clock }: ListContext,
  source: ListSource<Filter, Row>,
  { site, page, cursor }: ListQuery,
  key: string,
): Promise<{ readonly page: number; readonly position: ListPosition }> {
  if (cursor !== null && cursor !== '') {
    const { anchor, before, page: next } = readCursor(cursor);
    // After a restart only the cursor identifies the list.
    if (cursors.findPosition(key, next, PAGE_ROWS, clock()) === null) cursors.begin(key, anchor, clock());
    return { page: next, position: { anchor, before, skip: 0 } };
  }
  const known = page === 1 ? null : cursors.findPosition(key, page, PAGE_ROWS, clock());
  if (known !== null) return { page, position: known };
  const anchor = await source.newest(site.id);
  cursors.begin(key, anchor, clock());
  return { page, position: { anchor, before: null, skip: (page - 1) * PAGE_ROWS } };
}

/** Returns the number of rows, counted once per list that is being read: no rows are added below its anchor. */
async function countRows<Filter, Row extends { readonly id: number }>(
  { cursors, clock }: ListContext,
  source: ListSource<Filter, Row>,
  { site, filter, anchor, key }: { site: SiteId; filter: Filter; anchor: number; key: string },
): Promise<Counted> {
  const known = cursors.getCount(key, anchor, clock());
  if (known !== null) return known;
  const counted = await source.count(site, filter, anchor);
  cursors.recordCount(key, anchor, counted, clock());
  return counted;
}

/**
 * Returns the number of pages: never fewer than there are rows to load, and never more. Rows may have been deleted
 * since they were counted, or were too many to be counted completely.
 */
function countPages(page: number, { more, empty }: { more: boolean; empty: boolean }, { rows }: Counted): number {
  const counted = Math.max(1, Math.ceil(rows / PAGE_ROWS));
  if (more) return Math.max(page + 1, counted);
  return empty ? Math.min(page, counted) : page;
}

/**
 * Where a page of a list begins. A list is anchored at the newest row of its first page: rows that are added later are
 * not part of it, so its pages do not shift while they are loaded.
 */
export interface ListPosition {
  readonly anchor: number;
  /** Rows before this id; null = from the anchor on. */
  readonly before: number | null;
  readonly skip: number;
}

/** A list that is being read. */
interface OpenList {
  readonly anchor: number;
  /** Id of the last row of a page, by page. */
  readonly ends: Map<number, number>;
  counted: Counted | null;
  at: number;
}

/** Lists that are kept, of all sites and users, and page ends of each. */
const LISTS_MAX = 1000;
const ENDS_MAX = 500;
/** A list that was not read for this long begins anew, milliseconds. */
const FORGET_MS = 60 * 60_000;

/** Formats the cursor of the dashboard: `<anchor>.<before>.<page>`. */
export function writeCursor(anchor: number, before: number, page: number): string {
  return `${anchor}.${before}.${page}`;
}

/**
 * Parses the cursor of the dashboard.
 * @throws ApiError invalid_input
 */
export function readCursor(text: string): { readonly anchor: number; readonly before: number; readonly page: number } {
  const [, anchor, before, page] = /^(\d{1,15})\.(\d{1,15})\.(\d{1,9})$/.exec(text) ?? [];
  if (anchor === undefined) throw new ApiError('invalid_input', { fields: { cursor: 'Use the cursor of an answer.' } });
  return { anchor: Number(anchor), before: Number(before), page: Number(page) };
}

/**
 * Keeps the page ends of lists that are being read, within bounds, for clients that send `page` only. A page whose
 * predecessor was dropped is found by skipping rows: that takes longer but is as correct.
 */
export class ListCursors {
  readonly #lists = new Map<string, OpenList>();

  /** Begins a list at its first page. */
  begin(key: string, anchor: number, now: number): void {
    this.#lists.delete(key);
    setBounded(this.#lists, key, { anchor, ends: new Map(), counted: null, at: now }, LISTS_MAX);
  }

  /** Returns where a page begins, or null for a list that is not being read. */
  findPosition(key: string, page: number, pageRows: number, now: number): ListPosition | null {
    const list = this.#getOpen(key, now);
    if (list === null) return null;
    let known = 0;
    for (const end of list.ends.keys()) if (end < page && end > known) known = end;
    const before = list.ends.get(known) ?? null;
    return { anchor: list.anchor, before, skip: (page - 1 - known) * pageRows };
  }

  /** Records where a page ended. */
  recordPageEnd(key: string, anchor: number, page: number, last: number, now: number): void {
    const list = this.#getOpen(key, now);
    if (list === null || list.anchor !== anchor) return;
    setBounded(list.ends, page, last, ENDS_MAX);
  }

  /** Returns the number of rows of the list if they were counted at this anchor. */
  getCount(key: string, anchor: number, now: number): Counted | null {
    const list = this.#getOpen(key, now);
    return list?.anchor === anchor ? list.counted : null;
  }

  recordCount(key: string, anchor: number, counted: Counted, now: number): void {
    const list = this.#getOpen(key, now);
    if (list?.anchor === anchor) list.counted = counted;
  }

  #getOpen(key: string, now: number): OpenList | null {
    const list = this.#lists.get(key);
    if (list === undefined || Math.abs(now - list.at) > FORGET_MS) return null;
    list.at = now;
    this.#lists.delete(key);
    this.#lists.set(key, list);
    return list;
  }
}
