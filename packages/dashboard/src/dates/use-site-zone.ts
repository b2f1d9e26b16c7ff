import { useQueryData } from '../data/use-query-data.js';
import { loginOptions } from '../options/options-source.js';
import type { KnownLoginOptions } from '../options/read-login-options.js';

/** Time zone of the site as the login options name it; that of the browser while they are not known. */
export function useSiteZone(): string {
  const options = useQueryData<KnownLoginOptions>(loginOptions.key);
  return options?.away_mode?.timezone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC';
}
