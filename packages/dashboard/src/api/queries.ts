import { notifyManager, QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import type { ApiError } from './envelope.js';

declare module '@tanstack/react-query' {
  interface Register {
    /** Error type of all query functions. */
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

/** Calls `run` whenever the page becomes visible again, because another tab may have changed its data. */
export function usePageVisible(run: () => void): void {
  const latest = useRef(run);
  latest.current = run;

  useEffect(() => {
    const onChange = (): void => {
      if (document.visibilityState === 'visible') latest.current();
    };
    document.addEventListener('visibilitychange', onChange);
    return () => document.removeEventListener('visibilitychange', onChange);
  }, []);
}
