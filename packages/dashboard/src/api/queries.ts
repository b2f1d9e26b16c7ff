import { notifyManager, QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import type { ApiError } from './envelope.js';

declare module '@tanstack/react-query' {
  interface Register {
    /** Error type of all queries and mutations. */
    defaultError: ApiError;
  }
}

/**
 * Creates the cache of fetched data for one page view. Nothing is refetched automatically: not after a failure, on
 * window focus, or on reconnect. The owner retries.
 */
export function createQueryClient(): QueryClient {
  // Notify before the browser paints. The default is a timer, which would show a frame with old data.
  notifyManager.setScheduler((notify) => queueMicrotask(notify));
  return new QueryClient({
    defaultOptions: {
      queries: {
        gcTime: Number.POSITIVE_INFINITY,
        // Offline requests fail at once with their own error.
        networkMode: 'always',
        retry: false,
        refetchOnReconnect: false,
        refetchOnWindowFocus: false,
      },
      mutations: { networkMode: 'always' },
    },
  });
}

/**
 * Invalidates all queries whose key starts with `queryKey`: visible ones are refetched at once. Responses to running
 * requests are discarded, because they may be older than the change.
 */
export async function invalidate(client: QueryClient, queryKey: QueryKey): Promise<void> {
  void client.cancelQueries({ queryKey });
  await client.invalidateQueries({ queryKey });
}

/** Data that another component fetches; undefined until it arrives. */
export function useQueryData<Data>(queryKey: QueryKey): Data | undefined {
  const client = useQueryClient();
  // Not `useQuery`, whose options would replace those of the component that fetches.
  const subscribe = useCallback(
    (changed: () => void) => client.getQueryCache().subscribe(notifyManager.batchCalls(changed)),
    [client],
  );
  return useSyncExternalStore(subscribe, () => client.getQueryData<Data>(queryKey));
}

/**
 * Option of a query whose data another tab may have changed: refetches it when the page becomes visible. Data that could
 * not be loaded are not fetched again, because the owner retries.
 */
export const REFETCH_WHEN_VISIBLE = {
  refetchOnWindowFocus: ({ state }: { readonly state: { readonly data: unknown } }) =>
    state.data === undefined ? false : 'always',
} as const;
