import { skipToken, useQuery } from '@tanstack/react-query';
import { loginOptions } from '../options/options-source.js';
import type { KnownLoginOptions } from '../options/read-login-options.js';

/** Time zone of the site as the login options name it; that of the browser while they are not known. */
export function useSiteZone(): string {
  const { data } = useQuery<KnownLoginOptions>({ queryKey: loginOptions.key, queryFn: skipToken });
  return data?.away_mode?.timezone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC';
}
