import type { AwaySchedule, LoginAttempts } from '@security-optimizer/contract/login/limits';
import { type SettingValues, simpleDefaults } from '@security-optimizer/contract/settings/simple-settings';
import { isScriptName } from '../http/path-segments.js';
import type { RequestFacts } from '../http/request-facts.js';
import type { Address } from '../lib/address.js';
import { isAdmitted, toVisitorSet } from '../lib/carried-address.js';
import { listFolderAddresses, type SitePaths } from '../site.js';
import { type AwayStatus, compileAwaySchedule } from './away-schedule.js';
import { compileTextPaths } from './text-paths.js';

/** Login Security's part of a site's snapshot: settings made ready for questions that every request asks. */
export interface LoginPolicy {
  readonly limit: LoginAttempts;
  /** A custom login address is set; WordPress's own is hidden. */
  readonly hasCustomUrl: boolean;
  /** Names of hidden parts in a path, lower-case. */
  readonly hiddenNames: ReadonlySet<string>;
  /** Where visitors reach the login: home path and slug, or WordPress's own address. */
  readonly loginPath: string;
  /** Path of `wp-login.php`. */
  readonly scriptPath: string;
  /**
   * Where the login is for a request that takes the route to it. In a network, each site in a folder has the custom
   * address below its own: the connector answers by it only if there is such a site.
   */
  getLoginPaths(facts: Pick<LoginRouteFacts, 'routeSegments'>): LoginPaths;
  /** Path and query of WordPress's own registration. */
  readonly signupTarget: string;
  readonly timeZone: string;
  getRoute(facts: LoginRouteFacts): LoginRoute;
  /** Whether the address is on the Login Access list, or there is none. */
  mayLogIn(address: Address): boolean;
  away(nowMs: number): AwayStatus;
}

export interface LoginPaths {
  /** Where visitors reach it. */
  readonly loginPath: string;
  /** Path of its `wp-login.php`. */
  readonly scriptPath: string;
  /** Folder of the network below which it is; null for that of the network itself and without one. */
  readonly folder: string | null;
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
export function compileLoginPolicy({ login, paths, timeZone, multisite = false }: LoginPolicyInput): LoginPolicy {
  const access = login.login_access.length === 0 ? null : toVisitorSet(login.login_access);
  const mayLogIn = (address: Address): boolean => access === null || isAdmitted(access, address);
  const custom = login.login_url.type === 'custom' && login.login_url.login !== '';
  const root = paths.admin.slice(0, paths.admin.lastIndexOf('/'));
  const scriptPath = `${root}/wp-login.php`;
  const loginPath = custom ? `${paths.home}/${login.login_url.login}` : scriptPath;
  const main = Object.freeze({ loginPath, scriptPath, folder: null });
  const findFolder = compileFolderOfLogin(custom && multisite ? login.login_url.login : null);
  return Object.freeze({
    limit: login.login_attempts,
    hasCustomUrl: custom,
    hiddenNames: listHiddenNames(paths),
    loginPath,
    scriptPath,
    getLoginPaths({ routeSegments }: Pick<LoginRouteFacts, 'routeSegments'>) {
      const folder = findFolder(routeSegments);
      if (folder === null) return main;
      // WordPress's rules for the web server lead it to the script of the network.
      const site = `${paths.home}/${folder}`;
      return { loginPath: `${site}/${login.login_url.login}`, scriptPath: `${site}/wp-login.php`, folder };
    },
    signupTarget: multisite ? `${root}/wp-signup.php` : `${scriptPath}?action=register`,
    timeZone,
    getRoute: compileLoginRoutes({
      login: custom ? login.login_url : { ...login.login_url, type: 'default' },
      paths,
      multisite,
      mayLogIn,
    }),
    mayLogIn,
    away: compileAwaySchedule(login.away_mode, timeZone),
  });
}

/**
 * A request that may hold a password for certain: the login form, XML-RPC, or HTTP's own `Basic` where WordPress checks
 * it (REST, also by the body of a form). With a page that is only looked at, it may be the web server's own.
 */
export function checksPassword(facts: RequestFacts, route: LoginRoute): boolean {
  const reads = facts.method === 'GET' || facts.method === 'HEAD';
  if (facts.hasBasic && (facts.restRoute !== null || !reads)) return true;
  return isLoginForm(facts, route);
}

/** The login and sign-up form, and XML-RPC: what is sent there is a password, whatever the headers hold. */
export function isLoginForm(facts: RequestFacts, route: LoginRoute): boolean {
  // The connector is told to check none.
  if (facts.signedXmlRpc !== null) return false;
  return facts.method === 'POST' && (route === 'login' || route === 'signup' || facts.segments.includes('xmlrpc.php'));
}

/** The settings of Login Security as guard works with them. Stored one row per member, under the API's names. */
export interface LoginSettings extends SettingValues<'login'> {
  /** Lines that `parseRange` understands; empty lets everyone try. */
  readonly login_access: readonly string[];
  /** Paths without slashes at the ends; kept while the type is `default`. */
  readonly login_url: { readonly type: 'default' | 'custom'; readonly login: string; readonly signup: string };
  /** Roles that need a second factor beside those that always do. */
  readonly two_factor_roles: readonly string[];
  readonly away_mode: AwaySchedule;
}

/** The settings of a site whose owner has changed nothing. */
export const defaultLoginSettings: LoginSettings = Object.freeze({
  ...simpleDefaults('login'),
  login_access: [],
  login_url: { type: 'default', login: '', signup: '' },
  two_factor_roles: [],
  away_mode: { type: 'off' },
} as const);

/**
 * What a request means to Login Security.
 * - `other`: nothing special.
 * - `login`, `signup`: the page for it, at WordPress's own address or at the custom one.
 * - `form`: what anonymous clients may use of it: the password of a post, the confirmation of a request, and in a network the
 *   activation of an account, which the connector shows only to those who hold a key.
 * - `admin`: a page of wp-admin. `ajax`: admin-ajax.php and admin-post.php, which public pages use too.
 * - `asset`: a part of wp-admin that asks nobody who it is: styles, scripts, pictures. While wp-admin is hidden it goes
 *   only to those who hold a mark of ours, and so do set-up scripts.
 * - `hidden`: with a custom address, what must look like a missing page.
 */
export type LoginRoute = 'other' | 'login' | 'signup' | 'form' | 'admin' | 'ajax' | 'asset' | 'hidden';

/** The parts of the facts that the route depends on. */
export type LoginRouteFacts = Pick<
  RequestFacts,
  'method' | 'segments' | 'routeSegments' | 'query' | 'address' | 'hasLoginCookie'
>;

/** Scripts at the root of WordPress that only make sense with a login. `wp-login.php` is looked at more closely. */
const ROOT_SCRIPTS = new Set(['wp-register.php', 'wp-signup.php', 'wp-activate.php']);
/** Pages of wp-admin that WordPress serves without asking who it is. */
const SET_UP = new Set(['install.php', 'install-helper.php', 'setup-config.php', 'upgrade.php', 'maint', 'includes']);
const LOADERS = new Set(['load-styles.php', 'load-scripts.php']);
/** Loaded by public forms that choose a password (shops, membership sites). */
const PUBLIC_SCRIPT = /^password-strength-meter(?:\.min)?\.js$/;

/** Names that stand in a path for a part of WordPress that a custom login address hides. */
export function listHiddenNames(paths: SitePaths): ReadonlySet<string> {
  const admin = listFolderAddresses(paths, 'admin').map((path) => path.slice(path.lastIndexOf('/') + 1));
  return new Set(['wp-login.php', 'wp-admin', ...admin, ...ROOT_SCRIPTS]);
}

/**
 * Prepares the question which route a request takes. Pure; the answer costs a look at each path segment.
 *
 * @param site `mayLogIn`: whether the address is on the Login Access list, or there is none
 */
export function compileLoginRoutes(site: {
  readonly login: LoginSettings['login_url'];
  readonly paths: SitePaths;
  readonly multisite: boolean;
  readonly mayLogIn: (address: RequestFacts['address']) => boolean;
}): (facts: LoginRouteFacts) => LoginRoute {
  const { login, paths, multisite, mayLogIn } = site;
  const hidden = listHiddenNames(paths);
  const custom = login.type === 'custom';
  const loginRoute = custom ? login.login.toLowerCase() : null;
  const home = paths.home.split('/').slice(1);
  const signupRoute = custom && login.signup !== '' ? login.signup.toLowerCase() : null;
  const findFolder = compileFolderOfLogin(multisite ? loginRoute : null);
  const isText = compileTextPaths(paths, multisite);
  return (facts) => {
    const { segments, routeSegments } = facts;
    const names = isText(facts) ? 0 : segments.length;
    for (let i = 0; i < names; i++) {
      const segment = segments[i] as string;
      if (!hidden.has(segment)) continue;
      if (segment === 'wp-login.php') return toLoginScriptRoute(facts, custom);
      if (segment === 'wp-activate.php' && multisite) return 'form';
      if (segment.endsWith('.php')) return custom ? 'hidden' : 'other';
      return custom ? toHiddenAdminRoute(facts, i, mayLogIn) : toAdminRoute(segments, i);
    }
    if (loginRoute === null || routeSegments.length === 0) return 'other';
    if (home.some((name, i) => segments[i] !== name)) return 'other';
    const route = routeSegments.length === 1 ? (routeSegments[0] as string) : routeSegments.join('/');
    const isLogin = route === loginRoute || findFolder(routeSegments) !== null;
    const page = isLogin ? 'login' : route === signupRoute ? 'signup' : null;
    // Who may not log in from there finds what anybody finds at an address without a page.
    return page !== null && mayLogIn(facts.address) ? page : 'other';
  };
}

/** Folders that the rules for the web server of a network know, lower-case. */
const FOLDER_OF_SITE = /^[_0-9a-z-]+$/;

/**
 * Prepares the question whether a route is the login of a site in a folder of the network. Such a site has one folder;
 * whether there is one of that name, only WordPress knows.
 *
 * @param login custom address; null where there is none, or no network
 * @returns what gives the folder's name, or null
 */
function compileFolderOfLogin(login: string | null): (route: readonly string[]) => string | null {
  if (login === null) return () => null;
  const parts = login.toLowerCase().split('/');
  return (route) => {
    if (route.length !== parts.length + 1 || parts.some((part, i) => route[i + 1] !== part)) return null;
    const [folder = ''] = route;
    return FOLDER_OF_SITE.test(folder) ? folder : null;
  };
}

/** `wp-login.php` by that name. The body may name another action than the query; the connector sees both. */
function toLoginScriptRoute({ method, query }: LoginRouteFacts, custom: boolean): LoginRoute {
  // Of several values PHP takes one that guard cannot know: all of them must be the harmless one.
  const actions = query.all('action');
  const only = (action: string): boolean => actions.length > 0 && actions.every((value) => value === action);
  if (only('postpass') && method === 'POST') return 'form';
  const given = (name: string): boolean => query.all(name).length > 0;
  const confirms = only('confirmaction') && given('request_id') && given('confirm_key');
  if (confirms && (method === 'GET' || method === 'HEAD')) return 'form';
  return custom ? 'hidden' : 'login';
}

function toAdminRoute(segments: readonly string[], at: number): LoginRoute {
  if (isAjax(segments[at + 1])) return 'ajax';
  return isAsset(segments, at) ? 'asset' : 'admin';
}

/** The admin folder while it is hidden: what asks nobody who it is goes only to those who were let in before. */
function toHiddenAdminRoute(
  { segments, hasLoginCookie, address }: LoginRouteFacts,
  at: number,
  mayLogIn: (address: RequestFacts['address']) => boolean,
): LoginRoute {
  const next = segments[at + 1];
  if (isAjax(next)) return 'ajax';
  if (isAsset(segments, at)) return isPublicAsset(segments) ? 'other' : 'asset';
  if (!hasLoginCookie || !mayLogIn(address)) return 'hidden';
  return next !== undefined && SET_UP.has(next) ? 'asset' : 'admin';
}

function isAjax(name: string | undefined): boolean {
  return name === 'admin-ajax.php' || name === 'admin-post.php';
}

/** Files that the web server sends by itself, and the two scripts that join them. */
function isAsset(segments: readonly string[], at: number): boolean {
  const next = segments[at + 1];
  if (next === undefined) return false;
  if (LOADERS.has(next)) return true;
  return (next === 'css' || next === 'js' || next === 'images') && !segments.slice(at + 2).some(isScriptName);
}

function isPublicAsset(segments: readonly string[]): boolean {
  const last = segments[segments.length - 1] as string;
  return segments[segments.length - 2] === 'js' && PUBLIC_SCRIPT.test(last);
}
