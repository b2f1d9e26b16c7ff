import type { ApiFailure } from '../api/api-failure.js';
import type { Query } from '../data/query-client.js';
import { useQuery } from '../data/use-query.js';
import type { RunRequest } from '../requests/run-request.js';
import { useServices } from '../services.js';
import { readEbook, readFacts, readHardening, readNotifications, readRate } from './read-overview.js';

/** A part of the dashboard that has a call of its own. */
export interface OverviewSource<Part> {
  readonly name: string;
  readonly suffix: string;
  readonly read: (data: unknown) => Part;
}

export interface OverviewPart<Part> {
  /** Undefined until it is there. */
  readonly part: Part | undefined;
  /** Why it could not be read. A server that has no such call is no failure of this kind: there is nothing to show. */
  readonly failure: ApiFailure | null;
  /** It is not there and will not come by itself. */
  readonly missing: boolean;
  readonly retrying: boolean;
  readonly retry: () => void;
}

/** Begins the keys of what is read anew after each change: it speaks of the settings. */
export const OVERVIEW_KEY = 'overview';

export const notificationsSource = { name: 'notifications', suffix: '/notifications', read: readNotifications };
export const hardeningSource = { name: 'hardening', suffix: '/hardening', read: readHardening };
export const ebookSource = { name: 'ebook', suffix: '/e-book', read: readEbook };
export const rateSource = { name: 'rate', suffix: '/rate', read: readRate };
export const factsSource = { name: 'protectionFacts', suffix: '/protection-facts', read: readFacts };

export function overviewQuery<Part>({ name, suffix, read }: OverviewSource<Part>, runQuietly: RunRequest): Query<Part> {
  return {
    queryKey: [OVERVIEW_KEY, name],
    queryFn: async ({ signal }) => read(await runQuietly<unknown>({ name, call: { suffix, signal } })),
    staleTime: Number.POSITIVE_INFINITY,
  };
}

/** Reads a part of the dashboard. A failure is shown where the part would stand, or not at all: never as a message. */
export function useOverview<Part>(source: OverviewSource<Part>): OverviewPart<Part> {
  const { runQuietly } = useServices();
  const query = useQuery<Part, ApiFailure>(overviewQuery(source, runQuietly));
  const isKnown = query.data !== undefined;
  return {
    part: query.data,
    failure: isKnown || query.error?.status === 404 ? null : query.error,
    missing: !isKnown && query.error !== null,
    retrying: query.isFetching,
    retry: () => void query.refetch(),
  };
}
