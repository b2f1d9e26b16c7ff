import { useCallback, useRef } from 'react';
import type { ApiFailure } from '../api/api-failure.js';
import { useQuery, useQueryClient } from '../data/use-query.js';
import { useShownAgain } from '../data/use-shown-again.js';
import { useServices } from '../services.js';
import { optionsQuery } from './options-query.js';
import type { OptionsSource } from './options-source.js';
import { ignoreFailure } from './use-changes.js';

export type OptionsState<Options> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: ApiFailure; readonly retrying: boolean; readonly retry: () => void }
  | { readonly state: 'ready'; readonly options: Options };

export interface OptionsStore<Options> {
  /** Writes down what the server answered to a change. */
  readonly store: (change: Partial<Options>) => void;
  /** Reads them again, without a word; when that fails they stay as they are. */
  readonly readAgain: () => Promise<void>;
}

/** The stored options of the page. */
export function useOptions<Options extends object>(
  source: OptionsSource<Options>,
): OptionsState<Options> & OptionsStore<Options> {
  const { run, api } = useServices();
  const client = useQueryClient();
  const query = useQuery<Options, ApiFailure>(optionsQuery(source, run));

  /** Grows with each change that is written down. */
  const stored = useRef(0);

  const store = useCallback(
    (change: Partial<Options>) => {
      stored.current += 1;
      client.setQueryData<Options>(source.key, (options) => ({ ...options, ...change }) as Options);
    },
    [client, source],
  );

  async function readAgain(): Promise<void> {
    const before = stored.current;
    const answer = await api.call<unknown>(source.call).catch(ignoreFailure);
    // What was changed meanwhile is newer than what was read.
    if (answer !== undefined && stored.current === before) store(source.read(answer.data));
  }

  useShownAgain(() => {
    if (query.data !== undefined) void readAgain();
  });

  const acts = { store, readAgain };
  if (query.data !== undefined) return { state: 'ready', options: query.data, ...acts };
  if (query.error === null) return { state: 'loading', ...acts };
  return { state: 'failed', failure: query.error, retrying: query.isFetching, retry: () => query.refetch(), ...acts };
}
