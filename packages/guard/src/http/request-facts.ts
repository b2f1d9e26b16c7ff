import type { IncomingMessage } from 'node:http';
import { API_NAMESPACE, CONNECTOR_NAMESPACE, PROVIDER_NAMESPACE } from '@security-optimizer/contract/endpoint';
import type { Address } from '../lib/address.js';
import {
  isLanguageFolder,
  type SessionCookieNames,
  SIGNED_VALUES,
  type SignedXmlRpc,
  type SitePaths,
} from '../site.js';
import type { CanonicalPath } from './canonical-path.js';
import { isScriptName } from './path-segments.js';
import { hasSessionCookie } from './session-cookies.js';

export type RequestTarget =
  | { readonly ok: true; readonly target: string; readonly host: string }
  | {
      readonly ok: false;
      readonly page: 'bad-request' | 'bad-method' | 'expectation' | 'too-long';
      readonly reason: string;
    };

/** Methods that only make sense between a client and a forward proxy, or that echo the request. */
const REFUSED_METHODS = new Set(['CONNECT', 'TRACE', 'TRACK']);
/**
 * Methods of requests that may name no host. A client that wants to change something means a site, which it has to name.
 */
const HOSTLESS_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** RFC 3986 section 3.2.2, and underscores, which some host names contain. */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Reads request target and host (RFC 9112 sections 3.2 and 3.3). There must be exactly one host. Absolute-form is
 * accepted when its authority is that host; `*` and authority-form are refused.
 *
 * @returns `host` is empty when a request of HTTP/1.0 that only reads names none: a health check of a load balancer,
 *   such as `OPTIONS / HTTP/1.0`, which belongs to no site
 */
export function readRequestTarget(request: IncomingMessage, maxBytes: number): RequestTarget {
  const url = request.url as string;
  if (url.length > maxBytes) return { ok: false, page: 'too-long', reason: 'target-too-long' };
  if (REFUSED_METHODS.has(request.method as string)) return { ok: false, page: 'bad-method', reason: 'method' };
  if (!hasClearFraming(request)) return { ok: false, page: 'bad-request', reason: 'framing' };
  if (!isExpectationKnown(request)) return { ok: false, page: 'expectation', reason: 'expectation' };
  const host = readHost(request);
  if (host === null) return { ok: false, page: 'bad-request', reason: 'host' };
  if (host === '' && /^[/*]/.test(url)) {
    if (HOSTLESS_METHODS.has(request.method as string)) return { ok: true, target: url, host };
    return { ok: false, page: 'bad-request', reason: 'host' };
  }
  if (url.startsWith('/')) return { ok: true, target: url, host };
  const absolute = /^https?:\/\/([^/?#]+)(.*)$/i.exec(url);
  if (absolute === null) return { ok: false, page: 'bad-request', reason: 'target-form' };
  const [, authority, rest] = absolute as unknown as [string, string, string];
  if (authority.toLowerCase() !== host.toLowerCase()) return { ok: false, page: 'bad-request', reason: 'two-hosts' };
  return { ok: true, target: rest.startsWith('/') ? rest : `/${rest}`, host };
}

/**
 * Whether the end of the body is unambiguous (RFC 9112 section 6). Node's parser refuses most ambiguous framings. This
 * function refuses the others: transfer codings other than `chunked`, `chunked` in HTTP/1.0, other versions of HTTP,
 * and WebSocket handshakes with a body.
 */
function hasClearFraming(request: IncomingMessage): boolean {
  const { headers, httpVersion } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return false;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) return false;
  const hasBody = coding !== undefined || Number(headers['content-length'] ?? 0) !== 0;
  return !(hasBody && request.method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket');
}

/** `100-continue` is the only defined expectation, and HTTP/1.0 ignores it (RFC 9110 section 10.1.1). */
function isExpectationKnown({ headers, httpVersion }: IncomingMessage): boolean {
  const { expect } = headers;
  return expect === undefined || httpVersion === '1.0' || expect.toLowerCase() === '100-continue';
}

function readHost(request: IncomingMessage): string | null {
  const raw = request.rawHeaders;
  let host: string | null = null;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (host !== null) return null;
    host = raw[i + 1] as string;
  }
  if (host === null || host === '') return request.httpVersion === '1.0' ? '' : null;
  return HOST.test(host) ? host : null;
}

/**
 * Query parameters as PHP sees them. For `$_GET`, PHP decodes names, cuts them at a NUL byte and at `[`, removes
 * leading spaces and turns dots and spaces into underscores. Of equal names the last one wins. Source: PHP manual,
 * "Variables From External Sources", and `php_register_variable_ex`.
 */
export class PhpQuery {
  readonly #query: string;
  readonly #values = new Map<string, string[]>();
  /** Number of parameters, repeated ones included. PHP stops reading at `max_input_vars`. */
  readonly count: number = 0;

  /** @param query the part of the target after the question mark */
  constructor(query: string) {
    this.#query = query;
    if (query === '') return;
    for (const pair of query.split('&')) {
      this.count++;
      const equals = pair.indexOf('=');
      const name = phpName(decode(equals === -1 ? pair : pair.slice(0, equals)));
      if (name === '') continue;
      const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
      const values = this.#values.get(name);
      if (values === undefined) this.#values.set(name, [value]);
      else values.push(value);
    }
  }

  /**
   * All values of a parameter, elements of an array included. PHP uses the last one within `max_input_vars`, which
   * guard doesn't know. A rule that refuses must therefore check all of them.
   */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? NONE;
  }

  /**
   * The value of a parameter that occurs once and under exactly this name: not encoded and not as an element of an
   * array, so that every parser reads the same value. Null otherwise.
   */
  single(name: string): string | null {
    const values = this.all(name);
    if (values.length !== 1) return null;
    return this.#query.split('&').some((pair) => pair.startsWith(`${name}=`)) ? (values[0] as string) : null;
  }

  /** Whether a name has several different values, so that two parsers could read different requests. */
  isAmbiguous(name: string): boolean {
    const values = this.all(name);
    return values.length > 1 && values.some((value) => value !== values[0]);
  }
}

const NONE: readonly string[] = [];

/** Bytes that are not UTF-8 become U+FFFD; an invalid percent sign stays unchanged, as in PHP. */
function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const bytes = text.replaceAll('+', ' ');
  if (!bytes.includes('%')) return bytes;
  return Buffer.from(
    bytes.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');
}

function phpName(decoded: string): string {
  let name = decoded;
  const nul = name.indexOf('\0');
  if (nul !== -1) name = name.slice(0, nul);
  name = name.replace(/^ +/, '');
  const bracket = name.indexOf('[');
  // An opening bracket makes an array only with a closing one; else it becomes an underscore.
  if (bracket !== -1 && name.includes(']', bracket)) return name.slice(0, bracket).replace(/[ .]/g, '_');
  if (bracket === 0) return '';
  return name.replace(/[ .[]/g, '_');
}

/** Everything that a rule may know of a request. Plain data, created once before the first rule. */
export interface RequestFacts {
  readonly method: string;
  readonly address: Address;
  /** Canonical path of the whole target. */
  readonly path: string;
  readonly segments: readonly string[];
  /** The path that WordPress uses for routing: relative to home and without `/index.php`. Starts with a slash. */
  readonly route: string;
  /** Segments of `route`. */
  readonly routeSegments: readonly string[];
  /** Index in `segments` of the first one that a web server may run as a script, or -1. */
  readonly scriptAt: number;
  readonly query: PhpQuery;
  /** REST route, lower-case and without a trailing slash (`/wp/v2/posts`, `/` for the root), or null. */
  readonly restRoute: string | null;
  /** The plugin whose signed XML-RPC requests have this shape, while only those are allowed; else null. */
  readonly signedXmlRpc: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** A cookie that may be a WordPress session. Anyone can send one; only WordPress can verify it. */
  readonly hasLoginCookie: boolean;
  readonly hasAuthorization: boolean;
  /** `Authorization: Basic`, which PHP passes to WordPress as user and password. */
  readonly hasBasic: boolean;
  /** `X-HTTP-Method-Override`, which WordPress's REST API honours. */
  readonly overridesMethod: boolean;
}

/** Which credentials the headers of a request contain. */
export type Credentials = Pick<RequestFacts, 'hasLoginCookie' | 'hasAuthorization' | 'hasBasic' | 'overridesMethod'>;

export const NO_CREDENTIALS: Credentials = Object.freeze({
  hasLoginCookie: false,
  hasAuthorization: false,
  hasBasic: false,
  overridesMethod: false,
});

export interface FactsInput {
  readonly method: string;
  readonly address: Address;
  readonly path: CanonicalPath;
  readonly query: string;
  readonly paths: SitePaths;
  /** Plugins whose signed requests are allowed although XML-RPC is off. */
  readonly signedXmlRpc?: readonly SignedXmlRpc[];
  readonly now?: number;
  readonly credentials?: Credentials;
}

export function toRequestFacts(input: FactsInput): RequestFacts {
  const { path, segments } = input.path;
  const query = new PhpQuery(input.query);
  const routeSegments = stripIndexScript(segments, input.paths.home);
  const { hasLoginCookie, hasAuthorization, hasBasic, overridesMethod } = input.credentials ?? NO_CREDENTIALS;
  return {
    method: input.method,
    address: input.address,
    path,
    segments,
    route: `/${routeSegments.join('/')}`,
    routeSegments,
    scriptAt: segments.findIndex(isScriptName),
    query,
    restRoute: findRestRoute(routeSegments, query, input.paths),
    signedXmlRpc: findSignedXmlRpc(
      { method: input.method, segments, query, hasBasic },
      input.signedXmlRpc ?? NO_PLUGINS,
    ),
    now: input.now ?? 0,
    hasLoginCookie,
    hasAuthorization,
    hasBasic,
    overridesMethod,
  };
}

const NO_PLUGINS: readonly SignedXmlRpc[] = [];

/** Removes the home path, or everything up to and including `index.php` (PATH_INFO permalinks). */
function stripIndexScript(segments: readonly string[], home: string): readonly string[] {
  const index = segments.indexOf('index.php');
  if (index !== -1) return segments.slice(index + 1);
  if (home === '') return segments;
  const depth = home.split('/').length - 1;
  return `/${segments.slice(0, depth).join('/')}` === home ? segments.slice(depth) : segments;
}

/**
 * WordPress accepts `?rest_route=` on any page. The pretty form needs the REST prefix, before which multilingual
 * plugins may have a language folder. Routes are case-insensitive.
 */
function findRestRoute(route: readonly string[], query: PhpQuery, { rest, languages }: SitePaths): string | null {
  const parameter = query.all('rest_route')[0];
  if (parameter !== undefined && parameter !== '') return toRestRoute(parameter.split('/'));
  const depth = rest.split('/').length - 1;
  if (`/${route.slice(0, depth).join('/')}` === rest) return toRestRoute(route.slice(depth));
  if (route.length <= depth || `/${route.slice(1, depth + 1).join('/')}` !== rest) return null;
  return isLanguageFolder(route[0] as string, languages) ? toRestRoute(route.slice(depth + 1)) : null;
}

function toRestRoute(segments: readonly string[]): string {
  return `/${segments.filter((segment) => segment !== '').join('/')}`.toLowerCase();
}

/** A route in one of guard's namespaces. */
export interface ApiRoute {
  readonly namespace: 'plugin' | 'provider' | 'connector';
  /** Path below the namespace with a leading slash. */
  readonly route: string;
}

/** The route in guard's namespaces for a REST route; null for any other. */
export function findApiRoute(restRoute: string | null): ApiRoute | null {
  if (restRoute === null) return null;
  for (const [namespace, prefix] of API_NAMESPACES) {
    if (restRoute === prefix || restRoute.startsWith(`${prefix}/`)) {
      return { namespace, route: restRoute.slice(prefix.length) || '/' };
    }
  }
  return null;
}

const API_NAMESPACES = [
  ['plugin', `/${API_NAMESPACE}`],
  ['provider', `/${PROVIDER_NAMESPACE}`],
  ['connector', `/${CONNECTOR_NAMESPACE}`],
] as const;

/** Reads which credentials the headers contain. In doubt, a credential counts as present. */
export function readCredentials(request: IncomingMessage, cookies: SessionCookieNames): Credentials {
  const { cookie, authorization } = request.headers;
  const overridesMethod = request.headers['x-http-method-override'] !== undefined;
  if (cookie === undefined && authorization === undefined && !overridesMethod) return NO_CREDENTIALS;
  return {
    hasLoginCookie: cookie !== undefined && hasSessionCookie(cookie, cookies),
    hasAuthorization: authorization !== undefined,
    hasBasic: authorization !== undefined && hasBasicScheme(request),
    overridesMethod,
  };
}

/** Checks all `Authorization` headers: Node keeps the first, but the web server may use another. */
function hasBasicScheme(request: IncomingMessage): boolean {
  const raw = request.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (name.length !== 13 || name.toLowerCase() !== 'authorization') continue;
    if (/(?:^|[\s,])basic(?:\s|$)/i.test(raw[i + 1] as string)) return true;
  }
  return false;
}

/** Maximum of parameters in a plugin's signed request. */
const PARAMETERS_MAX = 20;

/**
 * Finds the plugin whose signed requests to `xmlrpc.php` have the shape of this request, or null. Guard can't verify
 * the signature, because only WordPress has the key. A request of this shape reaches only the plugin's methods, which
 * verify it, and no password is checked in it (`Security_Optimizer_Signed_Xml_Rpc` in the connector). Only the script's
 * name in the path matters. Jetpack's servers repeat the signature in `Authorization: X_JETPACK …`, so only `Basic` is
 * refused.
 */
function findSignedXmlRpc(
  facts: Pick<RequestFacts, 'method' | 'segments' | 'query' | 'hasBasic'>,
  plugins: readonly SignedXmlRpc[],
): string | null {
  const { method, segments, query, hasBasic } = facts;
  if (plugins.length === 0 || method !== 'POST' || hasBasic || !segments.includes('xmlrpc.php')) return null;
  if (query.count > PARAMETERS_MAX || query.all('rsd').length > 0 || query.all('rest_route').length > 0) return null;
  for (const plugin of plugins) {
    const fixed = Object.entries(plugin.query).every(([name, value]) => query.single(name) === value);
    if (!fixed) continue;
    const hasSignature = Object.entries(plugin.parameters).every(([name, form]) =>
      SIGNED_VALUES[form].test(query.single(name) ?? ''),
    );
    if (hasSignature) return plugin.id;
  }
  return null;
}

/** Endings of page assets that a web server serves without PHP. */
const STATIC =
  /\.(?:css|js|mjs|map|png|jpe?g|gif|webp|avif|svg|ico|bmp|woff2?|ttf|otf|eot|mp[34]|m4[av]|webm|og[gv]|wav|pdf|wasm)$/;

/**
 * Scripts that concatenate WordPress's styles and scripts. They do not load WordPress, so the connector signs nothing.
 */
const BUNDLE_SCRIPTS = new Set(['load-styles.php', 'load-scripts.php']);

/** Whether a path ends like a page asset. The response shows whether it is one: the connector did not sign it. */
export function isStaticFile({ segments, scriptAt }: Pick<RequestFacts, 'segments' | 'scriptAt'>): boolean {
  const name = segments[segments.length - 1];
  if (name === undefined) return false;
  return scriptAt === -1 ? STATIC.test(name) : BUNDLE_SCRIPTS.has(name) && segments[segments.length - 2] === 'wp-admin';
}

/** A scheme, a host name (253) and a port are shorter. WordPress's REST API echoes it in a response header. */
const ORIGIN_MAX = 512;
/** The longest language names have 20 characters. WordPress's login form echoes it in a cookie. */
const LANGUAGE_MAX = 64;
/** A form that posts a password has an action and a return URL in its query. */
const LOGIN_QUERY_MAX = 2048;

/**
 * Whether `Origin` is longer than any valid origin. Request data that WordPress echoes in response headers is limited:
 * web servers reserve little memory for a response head (nginx one memory page, 4 KB), and the login report is lost
 * when the head is too long.
 */
export function hasOversizedOrigin(request: IncomingMessage): boolean {
  const { origin } = request.headers;
  return origin !== undefined && origin.length > ORIGIN_MAX;
}

/**
 * The same check for the fields that the login form echoes.
 *
 * @param query as received in the target
 * @returns how to refuse the request, or null
 */
export function findOversizedLoginField(
  facts: Pick<RequestFacts, 'method' | 'query'>,
  query: string,
): { readonly page: 'bad-request' | 'too-long'; readonly rule: string } | null {
  if (facts.query.all('wp_lang').some((language) => language.length > LANGUAGE_MAX)) {
    return { page: 'bad-request', rule: 'ambiguous:language' };
  }
  if (facts.method === 'POST' && query.length > LOGIN_QUERY_MAX) {
    return { page: 'too-long', rule: 'ambiguous:login-query' };
  }
  return null;
}
