import type { SentFilters } from '@security-optimizer/contract/activity/filters';
import { LIMITED_ROWS, PAGE_ROWS } from '@security-optimizer/contract/activity/limits';
import type { ActivityFilter, VisitPreset } from '@security-optimizer/contract/activity/schemas';
import { ApiError } from '../lib/api-error.js';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/collections.js';
import type { Actor } from '../settings/audit-store.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { Counted, FoundRows, Window } from './activity-store.js';
import type { ParsedFilters } from './filters.js';
import { toSecond } from './store/row-keys.js';

/** A call for one page of a list. */
export interface ListQuery {
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
  /** Unix seconds back to which a text was looked for, when that stopped before the page was full. */
  searched_to?: number | null;
}

/** What a list is read from; one of the two kinds of rows of the store. */
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
 * One page of a list, newest first. A list is anchored at its first page, so that rows which arrive meanwhile shift
 * nothing; see docs/developer/activity-log.md.
 *
 * @param show makes the rows of the answer
 * @param panel makes the filters of the answer
 * @throws ApiError invalid_input naming `cursor`; StorageError
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
  // Looking for a text stops after a bounded number of rows; the next page goes on there.
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
    // After a restart the list is known by its cursor alone.
    if (cursors.findPosition(key, next, PAGE_ROWS, clock()) === null) cursors.begin(key, anchor, clock());
    return { page: next, position: { anchor, before, skip: 0 } };
  }
  const known = page === 1 ? null : cursors.findPosition(key, page, PAGE_ROWS, clock());
  if (known !== null) return { page, position: known };
  const anchor = await source.newest(site.id);
  cursors.begin(key, anchor, clock());
  return { page, position: { anchor, before: null, skip: (page - 1) * PAGE_ROWS } };
}

/** Counted once per list that is being read: below its anchor nothing is added. */
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
 * Never fewer pages than there are rows to load, and never more to load than there are: what was counted may have been
 * cleared up since, or have been too much to be counted to its end.
 */
function countPages(page: number, { more, empty }: { more: boolean; empty: boolean }, { rows }: Counted): number {
  const counted = Math.max(1, Math.ceil(rows / PAGE_ROWS));
  if (more) return Math.max(page + 1, counted);
  return empty ? Math.min(page, counted) : page;
}

/**
 * Where pages of a list begin and end. A list is anchored at the newest row of its first page: rows that arrive later
 * are not part of it, so its pages do not shift while more of them are loaded.
 */
export interface ListPosition {
  readonly anchor: number;
  /** Rows before this id; null = from the anchor on. */
  readonly before: number | null;
  readonly skip: number;
}

/** A list that somebody is reading. */
interface OpenList {
  readonly anchor: number;
  /** Id of the last row of a page, by page. */
  readonly ends: Map<number, number>;
  counted: Counted | null;
  at: number;
}

/** Lists that are remembered, all sites and users together, and page ends of each. */
const LISTS_MAX = 1000;
const ENDS_MAX = 500;
/** A list that nobody went on with for so long begins anew, milliseconds. */
const FORGET_MS = 60 * 60_000;

/** Page and place of our own client's cursor: `<anchor>.<before>.<page>`. */
export function writeCursor(anchor: number, before: number, page: number): string {
  return `${anchor}.${before}.${page}`;
}

/** @throws ApiError invalid_input */
export function readCursor(text: string): { readonly anchor: number; readonly before: number; readonly page: number } {
  const [, anchor, before, page] = /^(\d{1,15})\.(\d{1,15})\.(\d{1,9})$/.exec(text) ?? [];
  if (anchor === undefined) throw new ApiError('invalid_input', { fields: { cursor: 'Use the cursor of an answer.' } });
  return { anchor: Number(anchor), before: Number(before), page: Number(page) };
}

/**
 * Remembers, within bounds, where the pages of lists ended that are being read, for clients that send nothing but
 * `page`. What is forgotten costs no correctness but time: the page is then found by skipping.
 */
export class ListCursors {
  readonly #lists = new Map<string, OpenList>();

  /** A list is read from its first page on. */
  begin(key: string, anchor: number, now: number): void {
    this.#lists.delete(key);
    setBounded(this.#lists, key, { anchor, ends: new Map(), counted: null, at: now }, LISTS_MAX);
  }

  /** Where a page begins, or null for a list that is not being read. */
  findPosition(key: string, page: number, pageRows: number, now: number): ListPosition | null {
    const list = this.#getOpen(key, now);
    if (list === null) return null;
    let known = 0;
    for (const end of list.ends.keys()) if (end < page && end > known) known = end;
    const before = list.ends.get(known) ?? null;
    return { anchor: list.anchor, before, skip: (page - 1 - known) * pageRows };
  }

  /** Notes where a page ended. */
  recordPageEnd(key: string, anchor: number, page: number, last: number, now: number): void {
    const list = this.#getOpen(key, now);
    if (list === null || list.anchor !== anchor) return;
    setBounded(list.ends, page, last, ENDS_MAX);
  }

  /** How many rows the list has, when they were counted at this anchor. */
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
