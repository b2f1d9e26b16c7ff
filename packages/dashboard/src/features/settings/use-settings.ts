import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import { type ApiError, ignoreApiError } from '../../api/envelope.js';
import { usePageVisible, useQueryData } from '../../api/queries.js';
import { useSite } from '../../api/site-context.js';
import { useRequestRunners } from '../../forms/tracked-requests.js';
import {
  type ActivitySettings,
  type LoginSettings,
  loginSettings,
  type SettingsSource,
  settingsQuery,
} from './settings-query.js';

/** Retention of the log in days; null if unknown. */
export function getKeptDays({ log_lifetime }: ActivitySettings): number | null {
  return log_lifetime?.find(({ selected }) => selected === 1)?.value ?? null;
}

export type SettingsState<Values> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: ApiError; readonly retrying: boolean; readonly retry: () => void }
  | { readonly state: 'ready'; readonly values: Values };

export interface SettingsStore<Values> {
  /** Stores the response to a change. */
  readonly store: (change: Partial<Values>) => void;
  /** Fetches them again in the background; a failure changes nothing. */
  readonly reload: () => Promise<void>;
}

/** Known settings, and the functions that change them. */
export interface StoredSettings<Values> extends SettingsStore<Values> {
  readonly values: Values;
}

/** Fetches the settings of a page, and again when the page becomes visible. */
export function useSettings<Values extends object>(
  source: SettingsSource<Values>,
): SettingsState<Values> & SettingsStore<Values> {
  const { api } = useSite();
  const { run } = useRequestRunners();
  const client = useQueryClient();
  const query = useQuery(settingsQuery(source, run));

  /** Number of stored changes. */
  const stored = useRef(0);

  const store = useCallback(
    (change: Partial<Values>) => {
      stored.current += 1;
      client.setQueryData<Values>(source.key, (values) => ({ ...values, ...change }) as Values);
    },
    [client, source],
  );

  async function reload(): Promise<void> {
    const before = stored.current;
    const response = await api.call<unknown>(source.call).catch(ignoreApiError);
    // A change that was stored after the request is newer than this response.
    if (response !== undefined && stored.current === before) store(source.read(response.data));
  }

  usePageVisible(() => {
    if (query.data !== undefined) void reload();
  });

  const actions = { store, reload };
  if (query.data !== undefined) return { state: 'ready', values: query.data, ...actions };
  if (query.error === null) return { state: 'loading', ...actions };
  return {
    state: 'failed',
    failure: query.error,
    retrying: query.isFetching,
    retry: () => query.refetch(),
    ...actions,
  };
}

/** Time zone of the site from the login settings; the browser's until they are known. */
export function useSiteTimeZone(): string {
  const settings = useQueryData<LoginSettings>(loginSettings.key);
  return settings?.away_mode?.timezone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC';
}
