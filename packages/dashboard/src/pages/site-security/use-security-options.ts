import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { ApiFailure } from '../../api/api-failure.js';
import type { ApiCall } from '../../api/send.js';
import { useServices } from '../../services.js';
import { type KnownOptions, readSecurityOptions } from './read-security-options.js';

const QUERY_KEY = ['options', 'security'] as const;

/** Name and call of the contract's `fetchOptions`. The contract's own module would bring Zod into the browser. */
export const FETCH_OPTIONS = 'fetchOptions';
export const fetchOptionsCall: ApiCall = { suffix: '/fetch-options', body: { page: 'security' } };

export type SecurityOptionsState =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: ApiFailure; readonly retrying: boolean; readonly retry: () => void }
  | { readonly state: 'ready'; readonly options: KnownOptions };

/** The stored options of the page, and a way to write down what the server answered to a change. */
export function useSecurityOptions(): SecurityOptionsState & { readonly store: (change: KnownOptions) => void } {
  const { run } = useServices();
  const client = useQueryClient();
  const query = useQuery<KnownOptions, ApiFailure>({
    queryKey: QUERY_KEY,
    queryFn: async () => {
      const options = readSecurityOptions(await run<unknown>({ name: FETCH_OPTIONS, call: fetchOptionsCall }));
      if (Object.keys(options).length === 0) throw new ApiFailure('refused');
      return options;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

  const store = useCallback(
    (change: KnownOptions) => {
      client.setQueryData<KnownOptions>(QUERY_KEY, (options) => ({ ...options, ...change }));
    },
    [client],
  );

  if (query.data !== undefined) return { state: 'ready', options: query.data, store };
  if (query.error === null) return { state: 'loading', store };
  return { state: 'failed', failure: query.error, retrying: query.isFetching, retry: () => query.refetch(), store };
}
