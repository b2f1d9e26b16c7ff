import {
  activityNews,
  activityTraffic,
  activityUnknown,
  blockedUsers,
  registeredActivity,
} from '@security-optimizer/contract/activity/endpoints';
import {
  type ActivityFilter,
  type BlockedRow,
  blockedList,
  blockedRow,
  type RegisteredRow,
  registeredList,
  registeredRow,
  type Traffic,
  trafficSchema,
  type UnknownRow,
  unknownList,
  unknownRow,
} from '@security-optimizer/contract/activity/schemas';
import type { Endpoint } from '@security-optimizer/contract/endpoint';
import {
  infiniteQueryOptions,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import * as z from 'zod/mini';
import { TRACKED, toCall } from '../../api/client.js';
import { ApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { tolerant } from '../../api/tolerant-schemas.js';
import { __ } from '../../i18n/translate.js';
import { type AppliedFilters, toFilterBody } from './applied-filters.js';

/** The pages of a list that were loaded. */
export interface LogRows<Row> {
  readonly entries: readonly Row[];
  readonly filters: readonly ActivityFilter[];
  readonly page: number;
  readonly pages: number;
  /** Cursor of the next page, if the server sent one. */
  readonly cursor: string | null;
  readonly total: number | null;
  /** If a search ended before the page was full: the time of the oldest row that it read, Unix seconds. */
  readonly searched_to?: number | null | undefined;
  /**
   * Whether the server has presets, search, details of a row and blocks with an end. An older one ignores them, so they
   * are not offered.
   */
  readonly isFull: boolean;
}

/** A list endpoint of the contract. */
export interface ListSource<Row> {
  readonly endpoint: Endpoint;
  readonly read: (data: unknown) => LogRows<Row> | null;
}

const NO_WORDS = { kind: '', object: '', object_type: '', before: null, after: null };
const ONE_PAGE = { page: 1, pages: 1 };

const unknownSchema = tolerant(
  z.extend(unknownList, { entries: z.array(tolerant(unknownRow, { count: 1 })) }),
  ONE_PAGE,
);
const registeredSchema = tolerant(
  z.extend(registeredList, { entries: z.array(tolerant(registeredRow, { words: NO_WORDS, origin: 'web' })) }),
  ONE_PAGE,
);
const blockedSchema = tolerant(
  z.extend(blockedList, { entries: z.array(tolerant(blockedRow, { type: 'ip', by: 'owner' })) }),
  ONE_PAGE,
);

/** Parses a list of anonymous visits. @returns null for anything else */
function readUnknownList(data: unknown): LogRows<UnknownRow> | null {
  return withRows(readList(unknownSchema, data), (row, index) => ({
    ...withId(row, index),
    code: row.code || Number.parseInt(row.response, 10) || 0,
  }));
}

/** Parses a list of events of registered users. @returns null for anything else */
function readRegisteredList(data: unknown): LogRows<RegisteredRow> | null {
  return withRows(readList(registeredSchema, data), withId);
}

/** Parses a list of blocked visitors. @returns null for anything else */
export function readBlockedList(data: unknown): LogRows<BlockedRow> | null {
  return withRows(readList(blockedSchema, data), (row, index) => ({ ...row, id: row.id || `row-${index}` }));
}

/** Fields of the rows that only newer servers send. */
const FULL = ['current_block', 'ip_block', 'until_unix'];

function readList<List extends object>(
  schema: z.ZodMiniType<List>,
  data: unknown,
): (List & { readonly isFull: boolean }) | undefined {
  const { data: given } = z.safeParse(z.looseObject({ entries: z.array(z.unknown()) }), data);
  const list = given === undefined ? undefined : z.safeParse(schema, data).data;
  if (given === undefined || list === undefined) return undefined;
  const [first] = given.entries;
  const isFull = typeof first !== 'object' || first === null || FULL.some((name) => name in first);
  return { ...list, isFull };
}

function withRows<Row, List extends LogRows<Row>>(
  list: List | undefined,
  withIndex: (row: Row, index: number) => Row,
): LogRows<Row> | null {
  return list === undefined ? null : { ...list, entries: list.entries.map(withIndex) };
}

/** Numbers rows without an id by their position. */
function withId<Row extends { readonly id: number }>(row: Row, index: number): Row {
  return row.id === 0 ? { ...row, id: -1 - index } : row;
}

export const unknownSource: ListSource<UnknownRow> = {
  endpoint: activityUnknown,
  read: readUnknownList,
};

export const registeredSource: ListSource<RegisteredRow> = {
  endpoint: registeredActivity,
  read: readRegisteredList,
};

/** The running request: the first page for new filters, a reload, or the next page. */
export type Fetching = 'first' | 'again' | 'more' | null;

export interface LogList<Row> {
  /** Null until the first response. The previous rows stay while new filters load. */
  readonly rows: LogRows<Row> | null;
  /** Whether the rows belong to the applied filters. */
  readonly isCurrent: boolean;
  readonly fetching: Fetching;
  /** Why the rows or the next page could not be loaded. */
  readonly failure: ApiError | null;
  /** Id of the first row that the last "Load More" added; null for none. */
  readonly firstAdded: string | null;
  /** When the first page was loaded, milliseconds since 1970. */
  readonly loadedAt: number;
  /** Reloads the first page and keeps the rows visible. */
  readonly reload: () => void;
  /** Loads the first page after a failure. */
  readonly retry: () => void;
  readonly loadMore: () => void;
  /** Loads the next page without moving the focus. */
  readonly loadMoreQuietly: () => void;
}

interface Page<Row> extends LogRows<Row> {
  /** When it was requested, milliseconds since 1970. */
  readonly startedAt: number;
}

const FIRST_PAGE: { readonly page: number; readonly cursor: string | null } = { page: 1, cursor: null };

/** The rows of a list for the applied filters. A new request cancels the running one, as does unmounting. */
export function useLogList<Row extends { readonly id: string | number }>(
  source: ListSource<Row>,
  applied: AppliedFilters,
): LogList<Row> {
  const { api } = useSite();
  const client = useQueryClient();
  const filters = toFilterBody(applied);
  const [firstAdded, setFirstAdded] = useState<{ readonly id: string; readonly of: AppliedFilters } | null>(null);

  const options = infiniteQueryOptions({
    queryKey: ['log', source.endpoint.name, filters],
    queryFn: async ({ pageParam: { page, cursor }, signal }): Promise<Page<Row>> => {
      const startedAt = Date.now();
      const request = { page, ...filters, ...(cursor ? { cursor } : {}) };
      const { data } = await api.call<unknown>({ endpoint: source.endpoint, request, signal }, TRACKED);
      const loaded = source.read(data);
      if (loaded === null) throw new ApiError('refused');
      return { ...loaded, startedAt };
    },
    initialPageParam: FIRST_PAGE,
    getNextPageParam: ({ page, pages, cursor }) => (page < pages ? { page: page + 1, cursor } : undefined),
    staleTime: Number.POSITIVE_INFINITY,
    // The list is loaded whenever its tab or its filters are opened.
    gcTime: 0,
  });
  const query = useInfiniteQuery({ ...options, placeholderData: keepPreviousData });
  const { data, isFetching, isFetchingNextPage, isFetchNextPageError, isPlaceholderData } = query;
  const rows = useMemo(() => data && joinPages(data.pages), [data]);
  const isCurrent = data !== undefined && !isPlaceholderData;
  // The filters of earlier rows stay open to change if the new ones can't be loaded.
  const last = useRef<LogRows<Row> | null>(null);
  last.current = rows ?? last.current;

  async function loadMore(quietly: boolean): Promise<void> {
    const count = rows?.entries.length ?? 0;
    setFirstAdded(null);
    const { data: loaded, isSuccess } = await query.fetchNextPage();
    const added = isSuccess && !quietly ? joinPages(loaded.pages).entries[count] : undefined;
    if (added !== undefined) setFirstAdded({ id: String(added.id), of: applied });
  }

  function reload(): void {
    setFirstAdded(null);
    void client.cancelQueries({ queryKey: options.queryKey, exact: true });
    // The toast of the request reports a failure; the rows stay.
    client.fetchInfiniteQuery({ ...options, pages: 1, staleTime: 0 }).catch(() => undefined);
  }

  return {
    rows: rows ?? last.current,
    isCurrent,
    fetching: isFetchingNextPage ? 'more' : !isFetching ? null : isCurrent ? 'again' : 'first',
    failure: isFetchNextPageError || data === undefined ? query.error : null,
    firstAdded: firstAdded?.of === applied ? firstAdded.id : null,
    loadedAt: data?.pages[0]?.startedAt ?? 0,
    reload,
    retry: () => void query.refetch(),
    loadMore: () => void loadMore(false),
    loadMoreQuietly: () => void loadMore(true),
  };
}

/** The rows of all pages without duplicates. */
function joinPages<Row extends { readonly id: string | number }>(pages: readonly Page<Row>[]): LogRows<Row> {
  const last = pages[pages.length - 1] as Page<Row>;
  const rows = new Map<string | number, Row>();
  for (const { entries } of pages) {
    for (const row of entries) if (!rows.has(row.id)) rows.set(row.id, row);
  }
  return { ...last, entries: Array.from(rows.values()) };
}

/** Polling interval, milliseconds. */
const POLL_MS = 15_000;

/**
 * Number of new rows since the list was loaded. Polls while the page is visible and ignores failures.
 *
 * @param since id of the newest loaded row, 0 for an empty list, null before the list is loaded
 */
export function useNewRowCount(list: 'unknown' | 'registered', applied: AppliedFilters, since: number | null): number {
  const { api } = useSite();
  const request = { list, since: since ?? 0, ...toFilterBody(applied) };
  const { data } = useQuery({
    queryKey: ['activity-news', request],
    queryFn: async ({ signal }) => {
      const response = await api.call<unknown>(toCall(activityNews, request, { signal }));
      const news = z.safeParse(activityNews.response, response.data);
      if (!news.success) throw new ApiError('refused');
      return news.data.count;
    },
    enabled: since !== null,
    // A list that was just loaded has no new rows.
    initialData: 0,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchInterval: POLL_MS,
  });
  return data;
}

export const BLOCKED_COUNT_KEY = ['blocked-count'];

/** Number of blocked visitors for the counter on the tab; undefined while unknown. */
export function useBlockedCount(): number | undefined {
  const { api } = useSite();
  const { data } = useQuery({
    queryKey: BLOCKED_COUNT_KEY,
    queryFn: async () => {
      const response = await api.call<unknown>(toCall(blockedUsers, { limitedView: 1 }));
      return readBlockedList(response.data)?.total ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? undefined;
}

/** The tabs in their order; each id is also the hash that opens the tab in links of earlier versions. */
export const TAB_IDS = ['unknown', 'registered', 'blocked', 'weekly-reports', 'log-settings'] as const;
export type TabId = (typeof TAB_IDS)[number];

export function tabText(id: TabId): string {
  switch (id) {
    case 'unknown':
      return __('Unknown', 'security-optimizer');
    case 'registered':
      return __('Registered', 'security-optimizer');
    case 'blocked':
      return __('Blocked', 'security-optimizer');
    case 'weekly-reports':
      return __('Weekly Reports', 'security-optimizer');
    case 'log-settings':
      return __('Log Settings', 'security-optimizer');
  }
}

export interface TrafficPeriod {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Prefix of the query keys of all periods. */
export const TRAFFIC_KEY = 'traffic';

/**
 * Traffic of a period. Default: the whole log. Failures are not reported.
 *
 * @param period Unix seconds, end exclusive
 * @returns undefined while loading, null if unknown
 */
export function useTraffic({ from, to }: TrafficPeriod): Traffic | null | undefined {
  const { api } = useSite();
  const { data, isError } = useQuery({
    queryKey: [TRAFFIC_KEY, from ?? null, to ?? null],
    queryFn: async ({ signal }) => {
      const response = await api.call<unknown>(toCall(activityTraffic, { from, to }, { signal }));
      return readTraffic(response.data);
    },
    staleTime: 60_000,
    // Keep the previous chart while a new period loads.
    placeholderData: keepPreviousData,
  });
  return isError ? null : data;
}

const trafficData = tolerant(trafficSchema, { step: 'day' });

/** @returns null for an invalid response, or if there were no visits */
function readTraffic(data: unknown): Traffic | null {
  const { data: read } = z.safeParse(trafficData, data);
  if (read === undefined) return null;
  const sum = (name: 'humans' | 'bots' | 'blocked'): number => read.bars.reduce((all, bar) => all + bar[name], 0);
  const totals = { humans: sum('humans'), bots: sum('bots'), blocked: sum('blocked') };
  return totals.humans + totals.bots + totals.blocked === 0 ? null : { ...read, ...totals };
}
