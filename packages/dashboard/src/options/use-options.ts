import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { ApiFailure } from '../api/api-failure.js';
import { useServices } from '../services.js';
import { FETCH_OPTIONS, type OptionsSource } from './options-source.js';

export type OptionsState<Options> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: ApiFailure; readonly retrying: boolean; readonly retry: () => void }
  | { readonly state: 'ready'; readonly options: Options };

export interface OptionsStore<Options> {
  /** Writes down what the server answered to a change. */
  readonly store: (change: Partial<Options>) => void;
}

/** The stored options of the page. */
export function useOptions<Options extends object>(
  source: OptionsSource<Options>,
): OptionsState<Options> & OptionsStore<Options> {
  const { run } = useServices();
  const client = useQueryClient();
  const query = useQuery<Options, ApiFailure>({
    queryKey: source.key,
    queryFn: async () => readFilled(source, await run<unknown>({ name: FETCH_OPTIONS, call: source.call })),
    staleTime: Number.POSITIVE_INFINITY,
  });

  const store = useCallback(
    (change: Partial<Options>) => {
      client.setQueryData<Options>(source.key, (options) => ({ ...options, ...change }) as Options);
    },
    [client, source],
  );

  if (query.data !== undefined) return { state: 'ready', options: query.data, store };
  if (query.error === null) return { state: 'loading', store };
  return { state: 'failed', failure: query.error, retrying: query.isFetching, retry: () => query.refetch(), store };
}

/** @throws ApiFailure when the answer holds nothing that can be used */
export function readFilled<Options extends object>(source: OptionsSource<Options>, data: unknown): Options {
  const options = source.read(data);
  if (Object.keys(options).length === 0) throw new ApiFailure('refused');
  return options;
}
