import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import { useServices } from '../services.js';
import type { Query, QueryClient, QueryState } from './query-client.js';

export interface QueryOptions<Data> extends Query<Data> {
  /** False: shows what others fetch, and fetches nothing itself. */
  readonly enabled?: boolean;
  /** Shows the data of the last key until those of a new one are there. */
  readonly keepPrevious?: boolean;
}

export interface QueryResult<Data, Failure> {
  readonly data: Data | undefined;
  readonly error: Failure | null;
  readonly isError: boolean;
  readonly isFetching: boolean;
  readonly refetch: () => Promise<void>;
}

/** The page's store of fetched data. */
export function useQueryClient(): QueryClient {
  return useServices().queries;
}

/**
 * Data from the server, fetched when they are not there or not fresh, and drawn again whenever they change.
 *
 * @typeParam Failure what the query's function throws
 */
export function useQuery<Data, Failure = unknown>(options: QueryOptions<Data>): QueryResult<Data, Failure> {
  const client = useQueryClient();
  const { queryKey, enabled = true, retryOnMount = true, keepPrevious = false } = options;
  const name = JSON.stringify(queryKey);
  const latest = useRef(options);
  latest.current = options;
  const asked = useRef<string | null>(null);
  const previous = useRef<Data | undefined>(undefined);

  const subscribe = useCallback(
    (changed: () => void) =>
      client.observe(JSON.parse(name), {
        changed,
        query: () => (latest.current.enabled === false ? null : latest.current),
      }),
    [client, name],
  );
  const stored = useSyncExternalStore(subscribe, () => client.state<Data>(queryKey));

  useEffect(() => {
    asked.current = name;
    if (enabled) void client.prefetchQuery(latest.current);
  }, [client, name, enabled]);

  // An old failure that is about to be tried again is not shown first.
  const isRetried = asked.current !== name && enabled && retryOnMount && stored.data === undefined;
  const state: QueryState<Data> = isRetried ? { data: undefined, error: null, isFetching: true } : stored;
  if (state.data !== undefined) previous.current = state.data;
  const isWaiting = state.data === undefined && state.error === null;

  return {
    data: keepPrevious && isWaiting ? previous.current : state.data,
    error: state.error as Failure | null,
    isError: state.error !== null,
    isFetching: state.isFetching,
    refetch: () => client.refetch(latest.current),
  };
}
