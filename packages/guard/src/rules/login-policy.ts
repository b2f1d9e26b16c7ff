import type { AwaySchedule, LoginAttempts } from '@security-optimizer/contract/login/limits';
import { type SettingValues, simpleDefaults } from '@security-optimizer/contract/settings/catalogue';
import { isScriptName } from '../http/path-segments.js';
import type { RequestFacts } from '../http/request-facts.js';
import type { Address } from '../lib/address.js';
import { isAdmitted, toVisitorSet } from '../lib/carried-address.js';
import { listFolderAddresses, type SitePaths } from '../site.js';
import { type AwayStatus, compileAwaySchedule } from './away-schedule.js';
import { compileTextPaths } from './text-paths.js';

/** Login Security's part of a site's snapshot: its settings, compiled for the checks of each request. */
export interface LoginPolicy {
  readonly limit: LoginAttempts;
  /** A custom login address is set, and WordPress's own is hidden. */
  readonly hasCustomUrl: boolean;
  /** Names of hidden parts in a path, lower-case. */
  readonly hiddenNames: ReadonlySet<string>;
  /**
   * The login paths for a request to the login. In a network, each site in a folder has the custom address below its
   * own path: the connector serves it only if there is such a site.
   */
  getLoginPaths(facts: Pick<LoginRouteFacts, 'routeSegments'>): LoginPaths;
  /** Path and query of WordPress's own registration. */
  readonly signupTarget: string;
  readonly timeZone: string;
  getRoute(facts: LoginRouteFacts): LoginRoute;
  /** Whether the address is on the Login Access list, or the list is empty. */
  mayLogIn(address: Address): boolean;
  away(nowMs: number): AwayStatus;
}

export interface LoginPaths {
  /** Path at which visitors open it: home path and slug, or WordPress's own path. */
  readonly loginPath: string;
  /** Path of its `wp-login.php`. */
  readonly scriptPath: string;
  /** Folder of the network that contains it. Null for the login of the network itself, and without a network. */
  readonly folder: string | null;
}

export interface LoginPolicyInput {
  readonly login: LoginSettings;
  readonly paths: SitePaths;
  /** As WordPress stores it, see `time-zone.ts`. */
  readonly timeZone: string;
  /** Whether the site is a network of sites. Default: false. */
  readonly multisite?: boolean;
}

/** Compiles the policy. Pure; takes less than a millisecond for the longest list. */
export function compileLoginPolicy({ login, paths, timeZone, multisite = false }: LoginPolicyInput): LoginPolicy {
  const access = login.login_access.length === 0 ? null : toVisitorSet(login.login_access);
  const mayLogIn = (address: Address): boolean => access === null || isAdmitted(access, address);
  const custom = login.login_url.type === 'custom' && login.login_url.login !== '';
  const root = paths.admin.slice(0, paths.admin.lastIndexOf('/'));
  const scriptPath = `${root}/wp-login.php`;
  const loginPath = custom ? `${paths.home}/${login.login_url.login}` : scriptPath;
  const main = Object.freeze({ loginPath, scriptPath, folder: null });
  const findFolder = compileLoginFolder(custom && multisite ? login.login_url.login : null);
  return Object.freeze({
    limit: login.login_attempts,
    hasCustomUrl: custom,
    hiddenNames: listHiddenNames(paths),
    getLoginPaths({ routeSegments }: Pick<LoginRouteFacts, 'routeSegments'>) {
      const folder = findFolder(routeSegments);
      if (folder === null) return main;
      // WordPress's rules for the web server map it to the script of the network.
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
 * Whether a request certainly holds a password: the login form, XML-RPC, or HTTP's own `Basic` where WordPress checks
 * it (REST, whose route the body of a form may contain). With a page view, `Basic` may belong to the web server.
 */
export function checksPassword(facts: RequestFacts, route: LoginRoute): boolean {
  const reads = facts.method === 'GET' || facts.method === 'HEAD';
  if (facts.hasBasic && (facts.restRoute !== null || !reads)) return true;
  return isLoginForm(facts, route);
}

/** The login and sign-up form, and XML-RPC: their bodies hold a password, whatever the headers contain. */
export function isLoginForm(facts: RequestFacts, route: LoginRoute): boolean {
  // The connector is instructed to check none.
  if (facts.signedXmlRpc !== null) return false;
  return facts.method === 'POST' && (route === 'login' || route === 'signup' || facts.segments.includes('xmlrpc.php'));
}

/**
 * Actions of the login page whose forms need no login: a lost password, a new password, a sign-up, a protected post.
 */
const OPEN_ACTIONS: ReadonlySet<string> = new Set([
  'lostpassword',
  'retrievepassword',
  'rp',
  'resetpass',
  'register',
  'postpass',
]);

/**
 * Whether a form of the login page or the registration needs no login, by its target. Its body may name another action,
 * so for a locked address guard forwards it with the instruction to check no password.
 */
export function needsNoLogin({ query }: Pick<RequestFacts, 'query'>, route: LoginRoute): boolean {
  return route === 'signup' || (route === 'login' && OPEN_ACTIONS.has(query.all('action').at(-1) ?? ''));
}

/**
 * Whether a request that a rule of Login Security refused was a try to log in, by its head: its body was not read. A
 * POST to XML-RPC counts as one.
 */
export function triesLogin(facts: RequestFacts, route: LoginRoute): boolean {
  return checksPassword(facts, route) && !needsNoLogin(facts, route);
}

/** The rules that refuse logins, as in the log. Each password that they refuse is a failed login. */
export const LOGIN_RULES: ReadonlySet<string> = new Set(['login-limit', 'login-access', 'away-mode', 'other-site']);

/** The settings of Login Security as guard uses them. Stored one row per member, under the API's names. */
export interface LoginSettings extends SettingValues<'login'> {
  /** Lines that `parseRange` accepts; empty to allow all addresses. */
  readonly login_access: readonly string[];
  /** Paths without slashes at the ends; kept while the type is `default`. */
  readonly login_url: { readonly type: 'default' | 'custom'; readonly login: string; readonly signup: string };
  /** Roles that need a second factor, in addition to those that always do. */
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
 * The meaning of a request for Login Security.
 * - `other`: not relevant.
 * - `login`, `signup`: the page for it, at WordPress's own address or at the custom one.
 * - `form`: actions of the login page that anonymous clients may use: the password of a post, the confirmation of a
 *   request, and in a network the activation of an account, which the connector shows only to clients with a key.
 * - `admin`: a page of wp-admin. `ajax`: admin-ajax.php and admin-post.php, which public pages use too.
 * - `asset`: a part of wp-admin that needs no login: styles, scripts, images. While wp-admin is hidden, only clients
 *   with a login-page cookie get these parts and set-up scripts.
 * - `hidden`: with a custom address, a request that must look like one for a missing page.
 */
export type LoginRoute = 'other' | 'login' | 'signup' | 'form' | 'admin' | 'ajax' | 'asset' | 'hidden';

/** The facts that determine the route. */
export type LoginRouteFacts = Pick<
  RequestFacts,
  'method' | 'segments' | 'routeSegments' | 'query' | 'address' | 'hasLoginCookie'
>;

/** Scripts at the root of WordPress that are useful only with a login. `wp-login.php` is examined in detail. */
const ROOT_SCRIPTS = new Set(['wp-register.php', 'wp-signup.php', 'wp-activate.php']);
/** Pages of wp-admin that WordPress serves without a login. */
const SET_UP = new Set(['install.php', 'install-helper.php', 'setup-config.php', 'upgrade.php', 'maint', 'includes']);
const LOADERS = new Set(['load-styles.php', 'load-scripts.php']);
/** Loaded by public forms that choose a password (shops, membership sites). */
const PUBLIC_SCRIPT = /^password-strength-meter(?:\.min)?\.js$/;

/** Names in a path that identify a part of WordPress that a custom login address hides. */
export function listHiddenNames(paths: SitePaths): ReadonlySet<string> {
  const admin = listFolderAddresses(paths, 'admin').map((path) => path.slice(path.lastIndexOf('/') + 1));
  return new Set(['wp-login.php', 'wp-admin', ...admin, ...ROOT_SCRIPTS]);
}

/**
 * Compiles the function that determines the route of a request. Pure; the function visits each path segment once.
 *
 * @param site `mayLogIn`: whether the address is on the Login Access list, or the list is empty
 */
function compileLoginRoutes(site: {
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
  const findFolder = compileLoginFolder(multisite ? loginRoute : null);
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
    // A client that may not log in from its address gets the same response as at an address without a page.
    return page !== null && mayLogIn(facts.address) ? page : 'other';
  };
}

/** Folders that the web server rules of a network accept, lower-case. */
const SITE_FOLDER = /^[_0-9a-z-]+$/;

/**
 * Compiles the check whether a route is the login of a site in a folder of the network. Such a site has one folder;
 * only WordPress knows whether the site exists.
 *
 * @param login custom address; null where there is none, or no network
 * @returns a function that returns the folder's name, or null
 */
function compileLoginFolder(login: string | null): (route: readonly string[]) => string | null {
  if (login === null) return () => null;
  const parts = login.toLowerCase().split('/');
  return (route) => {
    if (route.length !== parts.length + 1 || parts.some((part, i) => route[i + 1] !== part)) return null;
    const [folder = ''] = route;
    return SITE_FOLDER.test(folder) ? folder : null;
  };
}

/** `wp-login.php` by that name. The body may name another action than the query; the connector sees both. */
function toLoginScriptRoute({ method, query }: LoginRouteFacts, custom: boolean): LoginRoute {
  // Guard can't know which of several values PHP uses, so all of them must be the harmless one.
  const actions = query.all('action');
  const only = (action: string): boolean => actions.length > 0 && actions.every((value) => value === action);
  if (only('postpass') && method === 'POST') return 'form';
  const hasParameter = (name: string): boolean => query.all(name).length > 0;
  const confirms = only('confirmaction') && hasParameter('request_id') && hasParameter('confirm_key');
  if (confirms && (method === 'GET' || method === 'HEAD')) return 'form';
  return custom ? 'hidden' : 'login';
}

function toAdminRoute(segments: readonly string[], at: number): LoginRoute {
  if (isAjax(segments[at + 1])) return 'ajax';
  return isAsset(segments, at) ? 'asset' : 'admin';
}

/**
 * The admin folder while it is hidden. Parts that need no login are served only to browsers with a login-page cookie.
 */
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

/** Files that the web server sends by itself, and the two scripts that concatenate them. */
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
