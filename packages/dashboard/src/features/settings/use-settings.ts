import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ApiError } from '../../api/envelope.js';
import { REFETCH_WHEN_VISIBLE, useQueryData } from '../../api/queries.js';
import { useSite } from '../../api/site-context.js';
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
  | {
      readonly state: 'ready';
      readonly values: Values;
      /** Why the last refetch failed. */
      readonly failure: ApiError | null;
    };

/**
 * Fetches the settings of a page, and again when the page becomes visible.
 *
 * @param getPollMs returns the interval in which they are fetched again, also in the background; false for never
 */
export function useSettings<Values extends object>(
  source: SettingsSource<Values>,
  getPollMs?: (values: Values, failed: boolean) => number | false,
): SettingsState<Values> {
  const { api } = useSite();
  const { data, error, isFetching, refetch } = useQuery({
    ...settingsQuery(source, api),
    ...REFETCH_WHEN_VISIBLE,
    refetchInterval: ({ state }) =>
      state.data === undefined ? false : (getPollMs?.(state.data, state.status === 'error') ?? false),
    refetchIntervalInBackground: true,
  });
  if (data !== undefined) return { state: 'ready', values: data, failure: error };
  if (error === null) return { state: 'loading' };
  return { state: 'failed', failure: error, retrying: isFetching, retry: () => void refetch() };
}

/** The settings for parts that are drawn only while they are known. */
export function useKnownSettings<Values extends object>(source: SettingsSource<Values>): Values {
  const values = useQueryData<Values>(source.key);
  if (values === undefined) throw new Error(`The settings ${source.key.join()} are not known yet.`);
  return values;
}

export interface SettingsCache<Values> {
  /** Stores the response to a change. Unknown settings stay unknown. */
  readonly store: (change: Partial<Values>) => void;
  /** Fetches known settings again. A failure changes nothing. */
  readonly refetch: () => Promise<void>;
}

/** Functions that change the known settings. */
export function useSettingsCache<Values extends object>({ key }: SettingsSource<Values>): SettingsCache<Values> {
  const client = useQueryClient();
  return useMemo(
    () => ({
      store(change) {
        // The response to a running request may be older than the change.
        void client.cancelQueries({ queryKey: key });
        client.setQueryData<Values>(key, (values) => values && { ...values, ...change });
      },
      refetch: () => client.refetchQueries({ queryKey: key }),
    }),
    [client, key],
  );
}

/** Time zone of the site from the login settings; the browser's until they are known. */
export function useSiteTimeZone(): string {
  const settings = useQueryData<LoginSettings>(loginSettings.key);
  return settings?.away_mode?.timezone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC';
}
