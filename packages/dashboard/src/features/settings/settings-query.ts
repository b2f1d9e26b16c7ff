import { type ActivityOptions, activityOptionsSchema } from '@security-optimizer/contract/activity/schemas';
import { type LoginOptions, loginOptionsSchema } from '@security-optimizer/contract/login/schemas';
import { postHackJobs } from '@security-optimizer/contract/post-hack/endpoints';
import { fetchOptions } from '@security-optimizer/contract/settings/endpoints';
import { securityOptionsSchema } from '@security-optimizer/contract/settings/options';
import type { SecurityOptions } from '@security-optimizer/contract/settings/protections';
import { queryOptions } from '@tanstack/react-query';
import { type ApiCall, type ApiClient, TRACKED, toCall } from '../../api/client.js';
import { ApiError } from '../../api/envelope.js';
import { readKnown } from '../../api/tolerant-schemas.js';
import { isRecord } from '../../i18n/locale.js';

/** How the settings of a page are fetched and parsed. */
export interface SettingsSource<Values extends object> {
  readonly key: readonly string[];
  readonly call: ApiCall;
  /** Parses a response; drops invalid fields. */
  readonly read: (data: unknown) => Values;
}

/** The settings that the server knows; an older server may lack some. */
export type SecuritySettings = Readonly<Partial<SecurityOptions>>;
export type LoginSettings = Readonly<Partial<LoginOptions>>;
export type ActivitySettings = Readonly<Partial<ActivityOptions>>;

export const securitySettings: SettingsSource<SecuritySettings> = {
  key: ['settings', 'security'],
  call: toCall(fetchOptions, { page: 'security' }),
  read: (data) => readKnown(securityOptionsSchema, data),
};

export const loginSettings: SettingsSource<LoginSettings> = {
  key: ['settings', 'login'],
  call: toCall(fetchOptions, { page: 'login' }),
  read: (data) => readKnown(loginOptionsSchema, data),
};

export const activitySettings: SettingsSource<ActivitySettings> = {
  key: ['settings', 'activity'],
  call: toCall(fetchOptions, { page: 'activity' }),
  read: (data) => readKnown(activityOptionsSchema, data),
};

/** The jobs of Post-hack Actions. That page parses them, so that the schema is not part of every page. */
export const postHackSource: SettingsSource<{ readonly jobs?: unknown; readonly facts?: unknown }> = {
  key: ['post-hack'],
  call: toCall(postHackJobs, {}),
  read: (data) => (isRecord(data) && 'jobs' in data ? data : {}),
};

/**
 * Query for settings. Fetched once; refetched only on request. The first fetch is tracked unless it is `silent`. Nobody
 * is told about later ones, because the known settings stay.
 */
export function settingsQuery<Values extends object>(source: SettingsSource<Values>, api: ApiClient, silent = false) {
  return queryOptions({
    queryKey: source.key,
    queryFn: async ({ client, signal }): Promise<Values> => {
      const isKnown = client.getQueryData(source.key) !== undefined;
      const tracking = silent || isKnown ? undefined : TRACKED;
      return parseNonEmpty(source, (await api.call<unknown>({ ...source.call, signal }, tracking)).data);
    },
    staleTime: Number.POSITIVE_INFINITY,
    // The response may arrive before the page is drawn; a failure has then been reported.
    retryOnMount: false,
  });
}

/** @throws ApiError if no field is valid */
function parseNonEmpty<Values extends object>(source: SettingsSource<Values>, data: unknown): Values {
  const values = source.read(data);
  if (Object.keys(values).length === 0) throw new ApiError('refused');
  return values;
}
