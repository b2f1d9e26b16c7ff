import { isScriptName, type RequestFacts } from '../proxy/request-facts.js';
import type { SitePaths } from '../site.js';
import type { LoginSettings } from './login-settings.js';

/**
 * What a request means to Login Security.
 * - `other`: nothing special.
 * - `login`, `signup`: the page for it, at WordPress's own address or at the custom one.
 * - `form`: what strangers may use of it: the password of a post, the confirmation of a request, and in a network the
 *   activation of an account, which the connector shows only to those who hold a key.
 * - `admin`: a page of wp-admin. `ajax`: admin-ajax.php and admin-post.php, which public pages use too.
 * - `asset`: a part of wp-admin that asks nobody who it is: styles, scripts, pictures. While wp-admin is hidden it goes
 *   only to those who hold a mark of ours, and so do set-up scripts.
 * - `hidden`: with a custom address, what must look like a missing page.
 */
export type LoginRoad = 'other' | 'login' | 'signup' | 'form' | 'admin' | 'ajax' | 'asset' | 'hidden';

/** The parts of the facts that the road depends on. */
export type RoadFacts = Pick<
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
export function hiddenNames(paths: SitePaths): ReadonlySet<string> {
  const admin = paths.admin.slice(paths.admin.lastIndexOf('/') + 1);
  return new Set(['wp-login.php', 'wp-admin', admin, ...ROOT_SCRIPTS]);
}

/**
 * Prepares the question which road a request takes. Pure; the answer costs a look at each path segment.
 *
 * @param site `mayLogIn`: whether the address is on the Login Access list, or there is none
 */
export function loginRoads(site: {
  readonly login: LoginSettings['login_url'];
  readonly paths: SitePaths;
  readonly multisite: boolean;
  readonly mayLogIn: (address: RequestFacts['address']) => boolean;
}): (facts: RoadFacts) => LoginRoad {
  const { login, paths, multisite, mayLogIn } = site;
  const hidden = hiddenNames(paths);
  const custom = login.type === 'custom';
  const loginRoute = custom ? login.login.toLowerCase() : null;
  const home = paths.home.split('/').slice(1);
  const signupRoute = custom && login.signup !== '' ? login.signup.toLowerCase() : null;
  return (facts) => {
    const { segments, routeSegments } = facts;
    for (let i = 0; i < segments.length; i++) {
      const segment = segments[i] as string;
      if (!hidden.has(segment)) continue;
      if (segment === 'wp-login.php') return loginScript(facts, custom);
      if (segment === 'wp-activate.php' && multisite) return 'form';
      if (segment.endsWith('.php')) return custom ? 'hidden' : 'other';
      return custom ? hiddenAdminRoad(facts, i, mayLogIn) : adminRoad(segments, i);
    }
    if (loginRoute === null || routeSegments.length === 0) return 'other';
    if (home.some((name, i) => segments[i] !== name)) return 'other';
    const route = routeSegments.length === 1 ? (routeSegments[0] as string) : routeSegments.join('/');
    const door = route === loginRoute ? 'login' : route === signupRoute ? 'signup' : null;
    // Who may not log in from there finds what anybody finds at an address without a page.
    return door !== null && mayLogIn(facts.address) ? door : 'other';
  };
}

/** `wp-login.php` by that name. The body may name another action than the query; the connector sees both. */
function loginScript({ method, query }: RoadFacts, custom: boolean): LoginRoad {
  // Of several values PHP takes one that guard cannot know: all of them must be the harmless one.
  const actions = query.all('action');
  const only = (action: string): boolean => actions.length > 0 && actions.every((value) => value === action);
  if (only('postpass') && method === 'POST') return 'form';
  const given = (name: string): boolean => query.all(name).length > 0;
  const confirms = only('confirmaction') && given('request_id') && given('confirm_key');
  if (confirms && (method === 'GET' || method === 'HEAD')) return 'form';
  return custom ? 'hidden' : 'login';
}

function adminRoad(segments: readonly string[], at: number): LoginRoad {
  if (isAjax(segments[at + 1])) return 'ajax';
  return isAsset(segments, at) ? 'asset' : 'admin';
}

/** The admin folder while it is hidden: what asks nobody who it is goes only to those who were let in before. */
function hiddenAdminRoad(
  { segments, hasLoginCookie, address }: RoadFacts,
  at: number,
  mayLogIn: (address: RequestFacts['address']) => boolean,
): LoginRoad {
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
