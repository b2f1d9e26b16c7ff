import { API_NAMESPACE, CONNECTOR_NAMESPACE, PROVIDER_NAMESPACE } from '@security-optimizer/contract/paths';
import type { Address } from '../lib/address.js';
import type { SitePaths } from '../site.js';
import type { CanonicalPath } from './canonical-path.js';
import { PhpQuery } from './php-query.js';

/** Everything a rule may ask about a request. Plain data; built once, before the first rule. */
export interface RequestFacts {
  readonly method: string;
  readonly address: Address;
  /** Canonical path of the whole target. */
  readonly path: string;
  readonly segments: readonly string[];
  /** The path that WordPress routes by: below home, and seen through `/index.php/…`. Starts with a slash. */
  readonly route: string;
  /** Segments of `route`. */
  readonly routeSegments: readonly string[];
  /** Position in `segments` of the first one that a web server may run as a script, or -1. */
  readonly scriptAt: number;
  readonly query: PhpQuery;
  /** Route inside the REST API, lower-case without a slash at the end (`/wp/v2/posts`, `/` for its root), or null. */
  readonly restRoute: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** A cookie that WordPress may take for a session. Anyone can send one; only WordPress can tell what it is worth. */
  readonly hasLoginCookie: boolean;
  readonly hasAuthorization: boolean;
  /** `Authorization: Basic`, which PHP hands to WordPress as user and password. */
  readonly hasBasic: boolean;
  /** `X-HTTP-Method-Override`, which WordPress's REST API obeys. */
  readonly overridesMethod: boolean;
}

/** What the headers of a request say about who sends it. */
export type Credentials = Pick<RequestFacts, 'hasLoginCookie' | 'hasAuthorization' | 'hasBasic' | 'overridesMethod'>;

export const NO_CREDENTIALS: Credentials = Object.freeze({
  hasLoginCookie: false,
  hasAuthorization: false,
  hasBasic: false,
  overridesMethod: false,
});

/** File name endings that some web server, somewhere, hands to an interpreter. */
export const SCRIPT_ENDINGS =
  'php\\d*|phtml?|pht|phps|phar|pgif|shtml?|stm|cgi|fcgi|pl|py|rb|lua|sh|aspx?|ashx|asmx|cer|asa|jspx?|cfml?|cfc';
const SCRIPT_SEGMENT = new RegExp(`\\.(?:${SCRIPT_ENDINGS})$`);

export function isScriptName(segment: string): boolean {
  return segment.includes('.') && SCRIPT_SEGMENT.test(segment);
}

export interface FactsInput {
  readonly method: string;
  readonly address: Address;
  readonly path: CanonicalPath;
  readonly query: string;
  readonly paths: SitePaths;
  readonly now?: number;
  readonly credentials?: Credentials;
}

export function requestFacts(input: FactsInput): RequestFacts {
  const { path, segments } = input.path;
  const query = new PhpQuery(input.query);
  const routeSegments = seeThrough(segments, input.paths.home);
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
    restRoute: restRoute(routeSegments, query, input.paths.rest),
    now: input.now ?? 0,
    hasLoginCookie,
    hasAuthorization,
    hasBasic,
    overridesMethod,
  };
}

/** Drops the home path and everything up to an `index.php` that more segments follow (PATH_INFO permalinks). */
function seeThrough(segments: readonly string[], home: string): readonly string[] {
  const index = segments.indexOf('index.php');
  if (index !== -1) return segments.slice(index + 1);
  if (home === '') return segments;
  const depth = home.split('/').length - 1;
  return `/${segments.slice(0, depth).join('/')}` === home ? segments.slice(depth) : segments;
}

/** WordPress takes `?rest_route=` on any page; the pretty form needs the REST prefix. Its routes ignore case. */
function restRoute(route: readonly string[], query: PhpQuery, prefix: string): string | null {
  const asked = query.all('rest_route')[0];
  if (asked !== undefined && asked !== '') return tidy(asked.split('/'));
  const depth = prefix.split('/').length - 1;
  return `/${route.slice(0, depth).join('/')}` === prefix ? tidy(route.slice(depth)) : null;
}

function tidy(segments: readonly string[]): string {
  return `/${segments.filter((segment) => segment !== '').join('/')}`.toLowerCase();
}

/** A route below one of guard's own namespaces. */
export interface OwnRoute {
  readonly namespace: 'plugin' | 'provider' | 'connector';
  /** The rest of it, with a slash in front. */
  readonly route: string;
}

/** Which of guard's own namespaces a REST route belongs to; null for none. */
export function ownRoute(restRoute: string | null): OwnRoute | null {
  if (restRoute === null) return null;
  for (const [namespace, prefix] of OWN) {
    if (restRoute === prefix || restRoute.startsWith(`${prefix}/`)) {
      return { namespace, route: restRoute.slice(prefix.length) || '/' };
    }
  }
  return null;
}

const OWN = [
  ['plugin', `/${API_NAMESPACE}`],
  ['provider', `/${PROVIDER_NAMESPACE}`],
  ['connector', `/${CONNECTOR_NAMESPACE}`],
] as const;
