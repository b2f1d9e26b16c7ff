import type { Endpoint } from '@security-optimizer/contract/endpoint';
import {
  type Ebook,
  eBook,
  ebook,
  type HardeningItem,
  hardening,
  hardeningItem,
  type Notification,
  notification,
  notifications,
  protectionFacts,
  protectionFactsSchema,
  type RateState,
  rate,
  rateState,
} from '@security-optimizer/contract/overview/endpoints';
import { queryOptions, useQuery } from '@tanstack/react-query';
import * as z from 'zod/mini';
import { type ApiClient, SILENT } from '../../api/client.js';
import type { ApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { readItems, tolerant } from '../../api/tolerant-schemas.js';

/** A section with an endpoint of its own. */
export interface OverviewSource<Part> {
  readonly endpoint: Endpoint;
  readonly read: (data: unknown) => Part;
}

export interface OverviewPart<Part> {
  /** Undefined while it loads. */
  readonly part: Part | undefined;
  /** Why it could not be loaded; null if the server lacks the endpoint. */
  readonly failure: ApiError | null;
  /** Whether it is unknown and no request is running. */
  readonly missing: boolean;
  readonly retrying: boolean;
  readonly retry: () => void;
}

/** Prefix of query keys that are invalidated after each change of a setting. */
export const OVERVIEW_KEY = 'overview';

const notificationSchema = tolerant(notification, { level: 'warning' });
const cardSchema = tolerant(hardeningItem, { icon: 'shield' });
const ebookSchema = tolerant(ebook);
const rateSchema = tolerant(rateState);
const factsSchema = tolerant(protectionFactsSchema);

/** Important notifications. Entries without a title are dropped. */
export const notificationsSource = {
  endpoint: notifications,
  read: (data: unknown): readonly Notification[] =>
    readItems(notificationSchema, data)
      .filter(({ title }) => title !== '')
      .map((item, index) => ({ ...item, id: item.id || `notice-${index}` })),
};

/** A card for each page with essentials. The count of essentials is optional. */
export const hardeningSource = {
  endpoint: hardening,
  read: (data: unknown): readonly HardeningItem[] =>
    readItems(cardSchema, data)
      .filter(({ title }) => title !== '')
      .map((item, index) => ({ ...item, id: item.id || `card-${index}` })),
};

/** The provider's e-book, or null if there is none. */
export const ebookSource = {
  endpoint: eBook,
  read: (data: unknown): Ebook | null => {
    const { data: book } = z.safeParse(ebookSchema, data);
    return book === undefined || book.title === '' ? null : book;
  },
};

export const rateSource = {
  endpoint: rate,
  read: (data: unknown): RateState => z.safeParse(rateSchema, data).data ?? { show: 0, link: '' },
};

/** Figures below the score; null if unknown. */
export const factsSource = {
  endpoint: protectionFacts,
  read: (data: unknown) =>
    z.safeParse(factsSchema, data).data ?? { blocked: null, block_list: null, failed_logins: null },
};

export function overviewQuery<Part>({ endpoint, read }: OverviewSource<Part>, api: ApiClient) {
  return queryOptions({
    queryKey: [OVERVIEW_KEY, endpoint.name],
    queryFn: async ({ signal }) => read((await api.call<unknown>({ endpoint, request: {}, signal }, SILENT)).data),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Fetches a section. A failure is shown in its place, not as a toast. */
export function useOverview<Part>(source: OverviewSource<Part>): OverviewPart<Part> {
  const { api } = useSite();
  const query = useQuery(overviewQuery(source, api));
  const isKnown = query.data !== undefined;
  return {
    part: query.data,
    failure: isKnown || query.error?.status === 404 ? null : query.error,
    missing: !isKnown && query.error !== null,
    retrying: query.isFetching,
    retry: () => void query.refetch(),
  };
}
