import type { Config, LiveChange } from '../config/config.js';
import { isWildcardHost } from '../config/config-file.js';
import type { AddressSet } from '../lib/address-set.js';
import { isSameData } from '../lib/collections.js';
import { toUpstreamAddress } from '../lib/socket-address.js';
import type { QuarantinedSite, SiteConfig, SiteId } from '../site.js';
import { type PoolShare, UpstreamPool } from '../upstream/upstream-pool.js';
import { toHostName } from './machine-hosts.js';
import { toProxyAddresses } from './peer.js';

export interface RoutedSite {
  readonly config: SiteConfig;
  /** Created when it is first read. */
  readonly pool: UpstreamPool;
  /** Longest time without data from WordPress, milliseconds. */
  readonly timeoutMs: number;
  /** The trusted proxies of the site and of the machine, for a site with proxies of its own; else null. */
  readonly trusted: AddressSet | null;
}

/**
 * The pool of a site, created with the first request to WordPress: a pool takes more memory than everything else that
 * is kept for a site, and of ten thousand sites few have one at a time.
 */
class SitePool {
  readonly upstream: string;
  readonly maxConnections: number;
  readonly #shared: PoolShare | null;
  #pool: UpstreamPool | null = null;
  /** What a pool that a request under way still creates begins with. */
  #ended: 'retired' | 'closed' | null = null;

  constructor(upstream: string, maxConnections: number, shared: PoolShare | null) {
    this.upstream = upstream;
    this.maxConnections = maxConnections;
    this.#shared = shared;
  }

  get(): UpstreamPool {
    if (this.#pool === null) {
      this.#pool = new UpstreamPool(toUpstreamAddress(this.upstream), this.maxConnections, this.#shared);
      if (this.#ended === 'retired') this.#pool.retire();
      if (this.#ended === 'closed') this.#pool.close();
    }
    return this.#pool;
  }

  get waiting(): number {
    return this.#pool?.waiting ?? 0;
  }

  retire(): void {
    this.#ended ??= 'retired';
    this.#pool?.retire();
  }

  close(): void {
    this.#ended = 'closed';
    this.#pool?.close();
  }

  destroy(): void {
    this.#ended = 'closed';
    this.#pool?.destroy();
  }
}

class Route implements RoutedSite {
  constructor(
    readonly config: SiteConfig,
    readonly sitePool: SitePool,
    readonly timeoutMs: number,
    readonly trusted: AddressSet | null,
  ) {}

  get pool(): UpstreamPool {
    return this.sitePool.get();
  }
}

/** A configured site that must not be served. */
interface Quarantine {
  readonly quarantined: QuarantinedSite;
}

type RouteResult = RoutedSite | Quarantine | null;

/**
 * Finds the site of a request by its host name. An exact name takes precedence over a wildcard, and a longer wildcard
 * over a shorter one.
 */
export class SiteRouter {
  readonly #limits: Config['limits'];
  #trustedProxies: readonly string[] = [];
  readonly #byHost = new Map<string, Route | Quarantine>();
  /** Sites by the suffix of their wildcard after the `*`, for example `.example.com`. */
  readonly #bySuffix = new Map<string, Route | Quarantine>();
  readonly #served = new Map<SiteId, Route>();
  readonly #quarantined = new Map<SiteId, Quarantine>();

  /** @param sharePool returns how processes share the connections to a site; null when only this one connects to it */
  constructor(
    config: Config,
    private readonly sharePool: (site: SiteId) => PoolShare | null = () => null,
  ) {
    this.#limits = config.limits;
    const { sites, quarantined, trustedProxies } = config;
    this.applyChange({ served: sites, quarantined, removed: [], trustedProxies });
  }

  /**
   * Routes later requests to the changed sites. Requests under way are not affected. A site whose upstream and maximum
   * number of connections do not change keeps its connections. Only the changed sites are touched: rebuilding the table
   * of ten thousand sites would delay requests.
   */
  applyChange({ served, quarantined, removed, trustedProxies }: LiveChange): void {
    const changed = [...served, ...quarantined].map(({ id }) => id);
    const before = new Map<SiteId, Route>();
    // All former hosts first, since a host may move from one site to another.
    for (const id of [...changed, ...removed]) {
      const routed = this.#served.get(id);
      if (routed !== undefined) before.set(id, routed);
      this.#unroute(id);
    }
    const sameProxies = isSameData(trustedProxies, this.#trustedProxies);
    this.#trustedProxies = trustedProxies;
    if (!sameProxies) {
      const own = [...this.#served.values()].filter(({ trusted }) => trusted !== null);
      for (const { config, sitePool, timeoutMs } of own) {
        this.#route(new Route(config, sitePool, timeoutMs, withMachineProxies(config, trustedProxies)));
      }
    }
    for (const config of served) {
      const known = before.get(config.id);
      const { upstreamConnections, upstreamSeconds } = { ...this.#limits, ...config.limits };
      const keepsPool =
        known !== undefined &&
        known.config.upstream === config.upstream &&
        known.sitePool.maxConnections === upstreamConnections;
      if (keepsPool) before.delete(config.id);
      const sitePool = keepsPool
        ? known.sitePool
        : new SitePool(config.upstream, upstreamConnections, this.sharePool(config.id));
      this.#route(new Route(config, sitePool, upstreamSeconds * 1000, withMachineProxies(config, trustedProxies)));
    }
    for (const site of quarantined) {
      const quarantine = { quarantined: site };
      this.#quarantined.set(site.id, quarantine);
      this.#routeHosts(site.hosts, quarantine);
    }
    for (const { sitePool } of before.values()) sitePool.retire();
  }

  #route(routed: Route): void {
    this.#served.set(routed.config.id, routed);
    this.#routeHosts(routed.config.hosts, routed);
  }

  #routeHosts(hosts: readonly string[], to: Route | Quarantine): void {
    for (const host of hosts) {
      if (isWildcardHost(host)) this.#bySuffix.set(host.slice(1), to);
      else this.#byHost.set(host, to);
    }
  }

  #unroute(id: SiteId): void {
    const hosts = this.#served.get(id)?.config.hosts ?? this.#quarantined.get(id)?.quarantined.hosts ?? [];
    this.#served.delete(id);
    this.#quarantined.delete(id);
    for (const host of hosts) {
      if (isWildcardHost(host)) this.#bySuffix.delete(host.slice(1));
      else this.#byHost.delete(host);
    }
  }

  get #fallback(): RouteResult {
    return this.#byHost.get('*') ?? null;
  }

  /** @param host as the client sent it, with or without port, in any case */
  find(host: string): RouteResult {
    if (this.#byHost.size === 1 && this.#bySuffix.size === 0) {
      const fallback = this.#fallback;
      if (fallback !== null) return fallback;
    }
    const name = toHostName(host);
    return this.#byHost.get(name) ?? this.#findWildcard(name) ?? this.#fallback;
  }

  /**
   * Whether the configuration names a host explicitly or by a wildcard of its domain. A site for all hosts does not
   * count.
   */
  isNamed(host: string): boolean {
    const name = toHostName(host);
    return name !== '*' && (this.#byHost.has(name) || this.#findWildcard(name) !== null);
  }

  #findWildcard(name: string): RouteResult {
    if (this.#bySuffix.size === 0) return null;
    for (let dot = name.indexOf('.', 1); dot !== -1; dot = name.indexOf('.', dot + 1)) {
      const found = this.#bySuffix.get(name.slice(dot));
      if (found !== undefined) return found;
    }
    return null;
  }

  /** The only configured site, or null when there are several or none. */
  get only(): RoutedSite | null {
    if (this.#served.size !== 1 || this.#quarantined.size > 0) return null;
    return this.#served.values().next().value ?? null;
  }

  /** The served site with this id, or null. */
  findServed(id: SiteId): RoutedSite | null {
    return this.#served.get(id) ?? null;
  }

  /** Whether there are sites, and none of them can be served. */
  get servesNone(): boolean {
    return this.#served.size === 0 && this.#quarantined.size > 0;
  }

  /** Requests of all sites that wait for a connection to WordPress. */
  get waiting(): number {
    let sum = 0;
    for (const { sitePool } of this.#served.values()) sum += sitePool.waiting;
    return sum;
  }

  close(): void {
    for (const { sitePool } of this.#served.values()) sitePool.close();
  }

  destroy(): void {
    for (const { sitePool } of this.#served.values()) sitePool.destroy();
  }
}

function withMachineProxies({ trustedProxies: own = [] }: SiteConfig, machine: readonly string[]): AddressSet | null {
  return own.length === 0 ? null : toProxyAddresses([...machine, ...own]);
}
