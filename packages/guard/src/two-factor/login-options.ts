import { TEAM_MAILS_MAX } from '@security-optimizer/contract/login/limits';
import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import type { Clock } from '../lib/clock.js';
import { getAwayState, toLoginUrlOptions, toUsernamesData } from '../login/index.js';
import type { Actor } from '../settings/audit-store.js';
import { toResponseValues } from '../settings/simple-settings.js';
import type { SiteSettings } from '../settings/site-settings.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { LoginData } from '../wordpress/connector-responses.js';
import { toTwoFactorRoles, toTwoFactorSetupUrl, toTwoFactorUsers } from './two-factor-settings.js';

/** Sources of the options: WordPress and the store. */
export interface LoginOptionsSources {
  readonly readSettings: (site: SiteId) => Promise<SiteSettings>;
  readonly loginData: (site: SiteConfig) => Promise<LoginData>;
  readonly listEnrolled: (site: SiteId) => Promise<LoginOptions['reset_2fa']>;
  /** Addresses that are locked now by failed logins. */
  readonly countLocked: (site: SiteId) => number;
  /** Home URL of the site in WordPress, or null while it is not known. */
  readonly homeUrl: (site: SiteId) => string | null;
  readonly timeZone: (site: SiteId) => string;
  readonly clock: Clock;
}

/**
 * Everything that the page Login Security shows.
 * @param actor the caller; the address is canonical
 * @throws StorageError, ConnectorError
 */
export async function getLoginOptions(
  deps: LoginOptionsSources,
  { site, actor }: { readonly site: SiteConfig; readonly actor: Pick<Actor, 'id' | 'address'> },
): Promise<LoginOptions> {
  const [{ login }, wordpress, enrolled] = await Promise.all([
    deps.readSettings(site.id),
    deps.loginData(site),
    deps.listEnrolled(site.id),
  ]);
  return {
    ...toResponseValues('login', login),
    two_factor_roles: toTwoFactorRoles(login.two_factor_roles, wordpress),
    two_factor_users: toTwoFactorUsers(wordpress, enrolled, actor.id),
    reset_2fa: enrolled,
    locked_addresses: deps.countLocked(site.id),
    usernames_data: toUsernamesData(wordpress),
    login_access: [...login.login_access],
    login_url: toLoginUrlOptions(login.login_url, wordpress),
    team_size: wordpress.team !== null && wordpress.team <= TEAM_MAILS_MAX ? wordpress.team : null,
    away_mode: getAwayState(login.away_mode, deps.timeZone(site.id), deps.clock()),
    your_address: actor.address ?? '',
    two_factor_setup_url: toTwoFactorSetupUrl(login.login_url, deps.homeUrl(site.id), wordpress),
  };
}
