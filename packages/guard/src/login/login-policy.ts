import type { LoginAttempts } from '@security-optimizer/contract/login-limits';
import type { Address } from '../lib/address.js';
import { AddressSet } from '../lib/address-set.js';
import type { RequestFacts } from '../proxy/request-facts.js';
import type { SitePaths } from '../site.js';
import { type AwayNow, awayRule } from './away-schedule.js';
import { hiddenNames, type LoginRoad, loginRoads, type RoadFacts } from './login-road.js';
import type { LoginSettings } from './login-settings.js';

/** Login Security's part of a site's snapshot: settings made ready for questions that every request asks. */
export interface LoginPolicy {
  readonly limit: LoginAttempts;
  /** A custom login address is set; WordPress's own is hidden. */
  readonly custom: boolean;
  /** Names that stand for hidden parts in a path, lower-case. */
  readonly hidden: ReadonlySet<string>;
  /** Where visitors reach the login: home path and slug, or WordPress's own address. */
  readonly loginPath: string;
  /** Path of `wp-login.php`. */
  readonly scriptPath: string;
  /** Path and query of WordPress's own registration. */
  readonly signupTarget: string;
  readonly timeZone: string;
  road(facts: RoadFacts): LoginRoad;
  /** Whether the address is on the Login Access list, or there is none. */
  mayLogIn(address: Address): boolean;
  away(nowMs: number): AwayNow;
}

export interface LoginPolicyInput {
  readonly login: LoginSettings;
  readonly paths: SitePaths;
  /** As WordPress stores it, see `time-zone.ts`. */
  readonly timeZone: string;
  /** A network of sites; absent means no. */
  readonly multisite?: boolean;
}

/** Pure; takes less than a millisecond for the longest list. */
export function compileLogin({ login, paths, timeZone, multisite = false }: LoginPolicyInput): LoginPolicy {
  const access = login.login_access.length === 0 ? null : AddressSet.from(login.login_access);
  const mayLogIn = (address: Address): boolean => access === null || access.has(address);
  const custom = login.login_url.type === 'custom' && login.login_url.login !== '';
  const root = paths.admin.slice(0, paths.admin.lastIndexOf('/'));
  const scriptPath = `${root}/wp-login.php`;
  return Object.freeze({
    limit: login.login_attempts,
    custom,
    hidden: hiddenNames(paths),
    loginPath: custom ? `${paths.home}/${login.login_url.login}` : scriptPath,
    scriptPath,
    signupTarget: multisite ? `${root}/wp-signup.php` : `${scriptPath}?action=register`,
    timeZone,
    road: loginRoads({
      login: custom ? login.login_url : { ...login.login_url, type: 'default' },
      paths,
      multisite,
      mayLogIn,
    }),
    mayLogIn,
    away: awayRule(login.away_mode, timeZone),
  });
}

/** A request that may hold a password for certain: the login form, XML-RPC, or HTTP's own `Basic`. */
export function checksPassword(facts: RequestFacts, road: LoginRoad): boolean {
  if (facts.hasBasic) return true;
  return facts.method === 'POST' && (road === 'login' || road === 'signup' || facts.segments.includes('xmlrpc.php'));
}
