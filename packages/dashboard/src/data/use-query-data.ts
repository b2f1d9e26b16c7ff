import { useCallback, useSyncExternalStore } from 'react';
import type { QueryKey } from './query-client.js';
import { useQueryClient } from './use-query.js';

/** Data that another part of the page fetches; undefined while they are not there. */
export function useQueryData<Data>(queryKey: QueryKey): Data | undefined {
  const client = useQueryClient();
  const name = JSON.stringify(queryKey);
  const subscribe = useCallback(
    (changed: () => void) => client.observe(JSON.parse(name), { changed, query: () => null }),
    [client, name],
  );
  return useSyncExternalStore(subscribe, () => client.getQueryData<Data>(queryKey));
}
