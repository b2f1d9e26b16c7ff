import type { LoginOptions } from '@security-optimizer/contract/login';
import type { Clock } from '../lib/clock.js';
import type { SiteSettings } from '../settings/site-settings.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { LoginData } from '../wordpress/connector-answers.js';
import { awayStateOf } from './away-state.js';
import { loginAttemptOptions } from './login-attempt-options.js';
import { loginUrlOptions, twoFactorSetupUrl } from './login-url-options.js';

/** What only WordPress knows, and what is stored. */
export interface LoginOptionsDeps {
  readonly readSettings: (site: SiteId) => Promise<SiteSettings>;
  readonly loginData: (site: SiteConfig) => Promise<LoginData>;
  readonly listEnrolled: (site: SiteId) => Promise<LoginOptions['reset_2fa']>;
  /** Address of the site as WordPress knows it, or null while it is not known. */
  readonly homeUrl: (site: SiteId) => string | null;
  readonly timeZone: (site: SiteId) => string;
  readonly clock: Clock;
}

/**
 * Everything that the page Login Security shows.
 * @param caller canonical address from which the call came
 * @throws StorageError, ConnectorError
 */
export async function fetchLoginOptions(
  deps: LoginOptionsDeps,
  { site, caller }: { readonly site: SiteConfig; readonly caller: string | null },
): Promise<LoginOptions> {
  const [{ login }, wordpress, enrolled] = await Promise.all([
    deps.readSettings(site.id),
    deps.loginData(site),
    deps.listEnrolled(site.id),
  ]);
  return {
    sg2fa: login.sg2fa,
    two_factor_app_passwords: login.two_factor_app_passwords,
    reset_2fa: enrolled,
    disable_usernames: login.disable_usernames,
    usernames_data: usernamesData(wordpress),
    login_access: [...login.login_access],
    login_attempts: loginAttemptOptions(login.login_attempts),
    login_url: loginUrlOptions(login.login_url, wordpress),
    away_mode: awayStateOf(login.away_mode, deps.timeZone(site.id), deps.clock()),
    your_address: caller ?? '',
    two_factor_setup_url: setupUrl(deps, site, login.login_url, wordpress),
  };
}

export function usernamesData({ users, matches }: LoginData): LoginOptions['usernames_data'] {
  return { all_users: users.map((user_login) => ({ user_login })), admin_matches: matches };
}

/** The same for the answer to switching the second factor on. */
export function setupUrl(
  deps: Pick<LoginOptionsDeps, 'homeUrl'>,
  site: SiteConfig,
  stored: SiteSettings['login']['login_url'],
  { login_url }: LoginData,
): string {
  return twoFactorSetupUrl(stored, deps.homeUrl(site.id) ?? new URL('/', login_url).href, login_url);
}
