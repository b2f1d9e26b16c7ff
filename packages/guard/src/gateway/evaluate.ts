import type { IncomingMessage } from 'node:http';
import { type CanonicalPath, toCanonicalPath } from '../http/canonical-path.js';
import { findClient, joinLines, readForwardedScheme } from '../http/client-address.js';
import { type Decoy, deriveDecoyKey, toDecoyTarget, toPlainDecoy } from '../http/decoy-target.js';
import { isKnownBrowser } from '../http/login-cookies.js';
import {
  findOversizedLoginField,
  hasOversizedOrigin,
  type RequestFacts,
  readCredentials,
  readRequestTarget,
  toRequestFacts,
} from '../http/request-facts.js';
import type { Address } from '../lib/address.js';
import type { Range } from '../lib/address-set.js';
import type { Clock } from '../lib/clock.js';
import { toUpstreamAddress, toUpstreamAuthority } from '../lib/socket-address.js';
import type { PageName } from '../pages/visitor-pages.js';
import { evaluateInterpretations } from '../rules/doubtful-paths.js';
import type { LoginRoute } from '../rules/login-policy.js';
import { isFinal, type LiveSnapshots, type Snapshot, type Verdict } from '../rules/snapshot.js';
import type { SiteFacts, SiteId } from '../site.js';
import { judgeHost, toHostName } from './machine-hosts.js';
import { isTrustedFor, type Peer, type TrustedProxies } from './peer.js';
import type { SiteHosts } from './site-hosts.js';
import type { RoutedSite, SiteRouter } from './site-router.js';

export interface EvaluateContext {
  readonly router: SiteRouter;
  readonly snapshots: LiveSnapshots;
  readonly trusted: TrustedProxies;
  /** Lower-case names of address headers that trusted proxies may pass on. */
  readonly trustedHeaders: ReadonlySet<string>;
  readonly targetBytes: number;
  /** What the connector has reported of a site. */
  readonly facts: (site: SiteId) => SiteFacts | null;
  /** The cached state of hosts that only the upstream web server can prove. */
  readonly hosts: SiteHosts;
  /** Addresses of this machine. */
  readonly ownAddresses: () => readonly Range[];
  readonly clock: Clock;
  readonly createRequestId: () => string;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
  onRuleError(rule: string, cause: unknown): void;
}

/** The outcome of all rules for one request, with the facts that it is based on. */
export type Decision =
  | {
      readonly kind: 'refuse';
      /** `away` has a special page that shows when Away Mode ends. */
      readonly page: PageName | 'away';
      /** Name of the protection, or why the request is ambiguous. */
      readonly rule: string;
      /** Null when no served site has the host name, or the request could not be read. */
      readonly site: RoutedSite | null;
      readonly host: string;
      readonly address: Address;
      readonly snapshot: Snapshot;
      /** Null when the request could not be read. */
      readonly facts: RequestFacts | null;
    }
  | {
      readonly kind: 'allow';
      readonly site: RoutedSite;
      readonly snapshot: Snapshot;
      readonly facts: RequestFacts;
      readonly loginRoute: LoginRoute;
      /** The verdict that refuses the request unless the response shows that it is harmless; else null. */
      readonly openVerdict: Verdict | null;
      /** Target of the request to WordPress's web server. */
      readonly target: string;
      /** Target that the client requested, if it differs from `target`; else null. */
      readonly uri: string | null;
      /** Decoy that replaces `uri`, with the id of its request to WordPress; else null. */
      readonly decoy: (Decoy & { readonly requestId: string }) | null;
      readonly query: string;
      readonly host: string;
      /** False for a host that may not belong to the site. The request must not reach WordPress until that is known. */
      readonly isHostProved: boolean;
      readonly address: Address;
      readonly scheme: 'http' | 'https';
      /** Lower-case names of address headers that are forwarded unchanged; null for none. */
      readonly trustedHeaders: ReadonlySet<string> | null;
    };

export type Allowed = Extract<Decision, { kind: 'allow' }>;

/**
 * Reads the request and evaluates the rules. Synchronous; everything it needs is in memory.
 *
 * @param peer the other end of the connection
 * @returns `health-check` for a request that names no host: it belongs to no site, and no rule concerns it
 */
export function evaluate(context: EvaluateContext, request: IncomingMessage, peer: Peer): Decision | 'health-check' {
  let proxied = peer.isTrusted;
  let address = peer.client;
  let hop = 0;
  if (proxied) {
    const forwardedFor = joinLines(request.headers['x-forwarded-for']);
    ({ address, hop } = findClient(peer, forwardedFor, context.trusted.addresses));
  }
  const target = readRequestTarget(request, context.targetBytes);
  if (!target.ok) {
    const { page, reason } = target;
    const snapshot = getFallbackPolicy(context);
    return {
      kind: 'refuse',
      page,
      rule: `ambiguous:${reason}`,
      site: null,
      host: '',
      address,
      snapshot: snapshot,
      facts: null,
    };
  }
  const { host } = target;
  if (host === '') return 'health-check';
  const site = context.router.find(host);
  if (site === null) return refuseUnknownHost(context, host, address);
  if ('quarantined' in site) {
    const snapshot = context.snapshots.get(site.quarantined.id);
    return {
      kind: 'refuse',
      page: 'unavailable',
      rule: 'site-quarantined',
      site: null,
      host,
      address,
      snapshot: snapshot,
      facts: null,
    };
  }
  if (site.trusted !== null) {
    proxied = isTrustedFor(peer, site.trusted);
    const asSeen = { address: peer.address, isTrusted: proxied };
    ({ address, hop } = findClient(asSeen, joinLines(request.headers['x-forwarded-for']), site.trusted));
  }
  let isHostProved = true;
  const siteHosts = getSiteHosts(context, site);
  if (!siteHosts.includes(host) && !context.router.isNamed(host)) {
    const isForwarded = FORWARDING.some((name) => request.headers[name] !== undefined);
    const { ownAddresses } = context;
    const named = { host, client: address, isForwarded, isProxy: proxied, siteHosts, ownAddresses };
    const judgement = judgeHost(named);
    const hostStatus = judgement === 'unproved' ? getSessionTrust(context, site, host) : judgement;
    if (hostStatus === 'foreign') return refuseUnknownHost(context, host, address);
    isHostProved = hostStatus !== null;
  }
  const snapshot = context.snapshots.get(site.config.id);
  const canonical = toCanonicalPath(target.target);
  if (!canonical.ok) {
    const rule = `ambiguous:${canonical.reason}`;
    return { kind: 'refuse', page: 'bad-request', rule, site, host, address, snapshot: snapshot, facts: null };
  }
  if (hasOversizedOrigin(request)) {
    return {
      kind: 'refuse',
      page: 'bad-request',
      rule: 'ambiguous:origin',
      site,
      host,
      address,
      snapshot: snapshot,
      facts: null,
    };
  }
  const { path, query } = canonical;
  let { ambiguity } = canonical;
  const method = request.method as string;
  const { paths, signedXmlRpc } = snapshot;
  const now = context.clock();
  const credentials = readCredentials(request, snapshot.sessionCookies);
  // Object spread here and below would cost more than all the rules together (docs/developer/benchmarks.md, P2).
  let facts = toRequestFacts({ method, address, paths, signedXmlRpc, now, credentials, path, query });
  if (facts.query.isAmbiguous('rest_route')) {
    return {
      kind: 'refuse',
      page: 'bad-request',
      rule: 'ambiguous:two-routes',
      site,
      host,
      address,
      snapshot: snapshot,
      facts,
    };
  }
  let loginRoute = snapshot.login.getRoute(facts);
  const { secret } = site.config;
  const { cookie } = request.headers;
  const requestId = snapshot.login.hasCustomUrl ? context.createRequestId() : '';
  let decoy = findDecoy({ snapshot: snapshot, loginRoute, target: target.target, now, secret, cookie }, requestId);
  if (decoy !== null) {
    // From here on, rules and WordPress see a request for the decoy.
    const missing = toCanonicalPath(decoy.target);
    if (missing.ok) {
      facts = toRequestFacts({ method, address, paths, now, credentials, path: missing.path, query: missing.query });
      ambiguity = missing.ambiguity;
    }
    loginRoute = 'other';
  }
  let openVerdict = snapshot.evaluate(facts, context.onRuleError);
  if (isFinal(openVerdict)) {
    const { rule, refusal } = openVerdict;
    return { kind: 'refuse', page: refusal.page, rule, site, host, address, snapshot: snapshot, facts };
  }
  if (ambiguity !== null) {
    const toFacts = (other: CanonicalPath): RequestFacts =>
      toRequestFacts({ method, address, paths, signedXmlRpc, now, credentials, path: other, query });
    const other = evaluateInterpretations(snapshot, { ambiguity, facts, loginRoute, toFacts }, context.onRuleError);
    if (other === 'refuse') {
      const rule = `ambiguous:${ambiguity.reason}`;
      return { kind: 'refuse', page: 'bad-request', rule, site, host, address, snapshot: snapshot, facts };
    }
    if (other === 'hidden') {
      decoy = toPlainDecoy(target.target, deriveDecoyKey(secret, requestId));
      const missing = toCanonicalPath(decoy.target);
      if (missing.ok) facts = toFacts(missing.path);
      loginRoute = 'other';
      openVerdict = null;
    } else openVerdict ??= other;
  }
  const oversized = loginRoute === 'login' || loginRoute === 'signup' ? findOversizedLoginField(facts, query) : null;
  if (oversized !== null) return { kind: 'refuse', ...oversized, site, host, address, snapshot: snapshot, facts };
  const scheme = proxied
    ? readForwardedScheme(joinLines(request.headers['x-forwarded-proto']), hop, peer.scheme)
    : peer.scheme;
  const isCustomLogin = snapshot.login.hasCustomUrl && (loginRoute === 'login' || loginRoute === 'signup');
  const replaced = isCustomLogin
    ? toLoginTarget(snapshot, loginRoute as 'login' | 'signup', facts, query)
    : (decoy?.target ?? null);
  return {
    kind: 'allow',
    site,
    snapshot,
    facts,
    loginRoute,
    openVerdict,
    target: replaced ?? target.target,
    uri: replaced === null ? null : target.target,
    decoy: decoy === null ? null : { ...decoy, requestId },
    query,
    host,
    isHostProved,
    address,
    scheme,
    trustedHeaders: proxied ? context.trustedHeaders : null,
  };
}

/** Headers with which a proxy marks a request as forwarded. */
const FORWARDING = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'] as const;

/** The decision for a host that belongs to no site. */
export function refuseUnknownHost(
  context: Pick<EvaluateContext, 'snapshots' | 'router'>,
  host: string,
  address: Address,
): Extract<Decision, { kind: 'refuse' }> {
  const snapshot = getFallbackPolicy(context);
  return {
    kind: 'refuse',
    page: 'not-found',
    rule: 'unknown-host',
    site: null,
    host,
    address,
    snapshot: snapshot,
    facts: null,
  };
}

/**
 * The cached state of a host; null when the upstream web server has to be queried. Every host passes while the site's
 * name is not known.
 */
function getSessionTrust(context: EvaluateContext, { config }: RoutedSite, host: string): 'passes' | 'foreign' | null {
  if (context.facts(config.id) === null) return 'passes';
  const hostStatus = context.hosts.find(config, toHostName(host));
  return hostStatus === 'foreign' ? hostStatus : hostStatus && 'passes';
}

/** Cached by the facts of each site, since every request needs them. */
const SITE_HOSTS = new WeakMap<SiteFacts, { readonly upstream: string; readonly hosts: readonly string[] }>();

/**
 * Hosts that WordPress names as its own, except the upstream web server's host: a WordPress that takes its address from
 * each request has it from guard's own command.
 */
function getSiteHosts(context: EvaluateContext, { config }: RoutedSite): readonly string[] {
  const facts = context.facts(config.id);
  if (facts === null) return [];
  const known = SITE_HOSTS.get(facts);
  if (known?.upstream === config.upstream) return known.hosts;
  const urls = [facts.homeUrl, facts.adminUrl ?? ''].filter((url) => URL.canParse(url));
  const upstream = toUpstreamAuthority(toUpstreamAddress(config.upstream)).replace(/:80$/, '');
  const hosts = [...new Set(urls.map((url) => new URL(url).host))].filter((host) => host !== upstream);
  SITE_HOSTS.set(facts, { upstream: config.upstream, hosts });
  return hosts;
}

/** Whether a host certainly belongs to the site: WordPress or the configuration names it. */
export function isNamedHost(context: EvaluateContext, site: RoutedSite, host: string): boolean {
  const name = toHostName(host);
  if (getSiteHosts(context, site).some((each) => toHostName(each) === name)) return true;
  return context.router.isNamed(host) && context.router.find(host) === site;
}

/** The snapshot for a response that belongs to no site: that of the only site, else the defaults. */
function getFallbackPolicy({ snapshots, router }: Pick<EvaluateContext, 'snapshots' | 'router'>): Snapshot {
  return snapshots.get(router.only?.config.id ?? '');
}

/** The facts that decide whether a login must stay hidden. */
interface LoginApproach {
  readonly snapshot: Snapshot;
  readonly loginRoute: LoginRoute;
  readonly target: string;
  readonly secret: string;
  readonly cookie: string | undefined;
  readonly now: number;
}

/**
 * With a custom login address, the decoy for a page whose existence must stay hidden; else null.
 *
 * @param requestId id of the request to WordPress, from which the decoy's key is derived
 */
function findDecoy(approach: LoginApproach, requestId: string): Decoy | null {
  const { snapshot, loginRoute, target } = approach;
  if (!snapshot.login.hasCustomUrl) return null;
  // In Away Mode no request for wp-admin reaches WordPress, and only WordPress can verify a session cookie.
  const forKnown = loginRoute === 'asset' || (loginRoute === 'admin' && snapshot.login.away(approach.now).away);
  const hidden =
    loginRoute === 'hidden' || (forKnown && !isKnownBrowser(approach.secret, approach.cookie, approach.now));
  return hidden ? toDecoyTarget(target, snapshot.login.hiddenNames, deriveDecoyKey(approach.secret, requestId)) : null;
}

/** The target of WordPress's script behind a custom address. The connector ensures that a sign-up stays a sign-up. */
function toLoginTarget(
  { login }: Snapshot,
  loginRoute: 'login' | 'signup',
  facts: RequestFacts,
  query: string,
): string {
  const own = loginRoute === 'login' ? login.getLoginPaths(facts).scriptPath : login.signupTarget;
  if (query === '') return own;
  // PHP uses the last of several values, so WordPress's action comes last.
  const [script, action] = own.split('?');
  return `${script}?${query}${action === undefined ? '' : `&${action}`}`;
}
