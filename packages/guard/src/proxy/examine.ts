import type { IncomingMessage } from 'node:http';
import type { Address } from '../lib/address.js';
import type { AddressSet } from '../lib/address-set.js';
import type { Clock } from '../lib/clock.js';
import type { LoginRoad } from '../login/login-road.js';
import type { PageName } from '../pages/visitor-pages.js';
import type { Policy } from '../policy/compile-policy.js';
import type { LivePolicy } from '../policy/live-policy.js';
import { canonicalPath } from './canonical-path.js';
import { clientAddress } from './client-address.js';
import { credentialsOf } from './credentials.js';
import type { Decoy } from './decoy-target.js';
import { decoyFor, loginTarget } from './hide-login.js';
import { echoFault, loginEchoFault } from './repeated-values.js';
import { type RequestFacts, requestFacts } from './request-facts.js';
import { requestTarget } from './request-target.js';
import type { RoutedSite, SiteRouter } from './site-router.js';

export interface ExamineDeps {
  readonly router: SiteRouter;
  readonly live: LivePolicy;
  readonly trusted: AddressSet;
  /** Lower-case names of address headers that trusted proxies may pass on. */
  readonly trustedHeaders: ReadonlySet<string>;
  readonly targetBytes: number;
  readonly clock: Clock;
  readonly nextId: () => string;
  /** From 0 up to, but without, 1. */
  random(): number;
  onFault(rule: string, cause: unknown): void;
}

/** What is known of a request once every rule has been asked. */
export type Examined =
  | {
      readonly kind: 'refuse';
      /** `away` has a page of its own, with the time it ends. */
      readonly page: PageName | 'away';
      /** Name of the protection, or of what made the request ambiguous. */
      readonly rule: string;
      /** Null when no site has the host name, or the request could not be read. */
      readonly site: RoutedSite | null;
      readonly host: string;
      readonly address: Address;
      readonly policy: Policy;
      /** Null when the request could not be read. */
      readonly facts: RequestFacts | null;
    }
  | {
      readonly kind: 'pass';
      readonly site: RoutedSite;
      readonly policy: Policy;
      readonly facts: RequestFacts;
      readonly road: LoginRoad;
      /** What WordPress's web server is asked for. */
      readonly target: string;
      /** What the visitor asked for, when that is something else than `target`; else null. */
      readonly uri: string | null;
      /** A missing page in the place of `uri`, and the id under which it goes to WordPress; else null. */
      readonly decoy: (Decoy & { readonly requestId: string }) | null;
      readonly query: string;
      readonly host: string;
      readonly address: Address;
      readonly scheme: 'http' | 'https';
      /** Address headers of this request that WordPress gets as they came; null for none. */
      readonly trustedHeaders: ReadonlySet<string> | null;
    };

export type Pass = Extract<Examined, { kind: 'pass' }>;

/**
 * Reads the request and asks the rules. No waiting, no storage: everything it needs is in memory.
 * @param peer address at the other end of the connection
 */
export function examine(deps: ExamineDeps, request: IncomingMessage, peer: Address): Examined {
  const proxied = deps.trusted.size > 0 && deps.trusted.has(peer);
  const address = proxied ? clientAddress(peer, headerText(request, 'x-forwarded-for'), deps.trusted) : peer;
  const target = requestTarget(request, deps.targetBytes);
  if (!target.ok) {
    const { page, reason } = target;
    const policy = policyOfNoSite(deps);
    return { kind: 'refuse', page, rule: `ambiguous:${reason}`, site: null, host: '', address, policy, facts: null };
  }
  const { host } = target;
  const site = deps.router.find(host);
  if (site === null) {
    return {
      kind: 'refuse',
      page: 'not-found',
      rule: 'unknown-host',
      site,
      host,
      address,
      policy: policyOfNoSite(deps),
      facts: null,
    };
  }
  const policy = deps.live.get(site.config.id);
  const canonical = canonicalPath(target.target);
  if (!canonical.ok) {
    const rule = `ambiguous:${canonical.reason}`;
    return { kind: 'refuse', page: 'bad-request', rule, site, host, address, policy, facts: null };
  }
  if (echoFault(request)) {
    return { kind: 'refuse', page: 'bad-request', rule: 'ambiguous:origin', site, host, address, policy, facts: null };
  }
  const { path, query } = canonical;
  const method = request.method as string;
  const { paths } = policy;
  const now = deps.clock();
  const credentials = credentialsOf(request);
  // Written out, here and below: spreading objects took longer than all the rules together (docs/benchmarks.md, P2).
  let facts = requestFacts({ method, address, paths, now, credentials, path, query });
  if (facts.query.isAmbiguous('rest_route')) {
    return { kind: 'refuse', page: 'bad-request', rule: 'ambiguous:two-routes', site, host, address, policy, facts };
  }
  let road = policy.login.road(facts);
  const { secret } = site.config;
  const { cookie } = request.headers;
  const requestId = policy.login.custom ? deps.nextId() : '';
  const decoy = decoyFor({ policy, road, target: target.target, now, secret, cookie }, requestId);
  if (decoy !== null) {
    // From here on it is a request for that missing page, to every rule and to WordPress.
    const missing = canonicalPath(decoy.target);
    if (missing.ok) {
      facts = requestFacts({ method, address, paths, now, credentials, path: missing.path, query: missing.query });
    }
    road = 'other';
  }
  const verdict = policy.decide(facts, deps.onFault);
  if (verdict !== null) {
    return { kind: 'refuse', page: verdict.refusal.page, rule: verdict.rule, site, host, address, policy, facts };
  }
  const echo = road === 'login' || road === 'signup' ? loginEchoFault(facts, query) : null;
  if (echo !== null) return { kind: 'refuse', ...echo, site, host, address, policy, facts };
  const scheme = proxied ? forwardedScheme(headerText(request, 'x-forwarded-proto')) : 'http';
  const atDoor = policy.login.custom && (road === 'login' || road === 'signup');
  const other = atDoor ? loginTarget(policy, road as 'login' | 'signup', query) : (decoy?.target ?? null);
  return {
    kind: 'pass',
    site,
    policy,
    facts,
    road,
    target: other ?? target.target,
    uri: other === null ? null : target.target,
    decoy: decoy === null ? null : { ...decoy, requestId },
    query,
    host,
    address,
    scheme,
    trustedHeaders: proxied ? deps.trustedHeaders : null,
  };
}

/** Whose headers an answer gets that belongs to no site: those of the only one, else those of a fresh one. */
function policyOfNoSite({ live, router }: ExamineDeps): Policy {
  return live.get(router.only?.config.id ?? '');
}

/** The last entry is what the trusted proxy itself says; earlier ones came with the request. */
function forwardedScheme(value: string | undefined): 'http' | 'https' {
  const last = value?.slice(value.lastIndexOf(',') + 1).trim();
  return last?.toLowerCase() === 'https' ? 'https' : 'http';
}

function headerText(request: IncomingMessage, name: 'x-forwarded-for' | 'x-forwarded-proto'): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}
