import type { Config, LiveChange } from '../config/config.js';
import { isWildcardHost } from '../config/config-file.js';
import type { AddressSet } from '../lib/address-set.js';
import { isSameData } from '../lib/collections.js';
import { toUpstreamAddress } from '../lib/socket-address.js';
import type { QuarantinedSite, SiteConfig, SiteId } from '../site.js';
import { UpstreamPool } from '../upstream/upstream-pool.js';
import { toHostName } from './machine-hosts.js';
import { toProxyAddresses } from './peer.js';

export interface RoutedSite {
  readonly config: SiteConfig;
  readonly pool: UpstreamPool;
  /** Longest time without data from WordPress, milliseconds. */
  readonly timeoutMs: number;
  /** The trusted proxies of the site and of the machine, for a site with proxies of its own; else null. */
  readonly trusted: AddressSet | null;
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
  readonly #byHost = new Map<string, RoutedSite | Quarantine>();
  /** Sites by the suffix of their wildcard after the `*`, for example `.example.com`. */
  readonly #bySuffix = new Map<string, RoutedSite | Quarantine>();
  readonly #served = new Map<SiteId, RoutedSite>();
  readonly #quarantined = new Map<SiteId, Quarantine>();

  constructor(config: Config) {
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
    const before = new Map<SiteId, RoutedSite>();
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
      for (const routed of own) this.#route({ ...routed, trusted: withMachineProxies(routed.config, trustedProxies) });
    }
    for (const config of served) {
      const known = before.get(config.id);
      const { upstreamConnections, upstreamSeconds } = { ...this.#limits, ...config.limits };
      const keepsPool =
        known !== undefined &&
        known.config.upstream === config.upstream &&
        known.pool.maxConnections === upstreamConnections;
      if (keepsPool) before.delete(config.id);
      this.#route({
        config,
        pool: keepsPool ? known.pool : new UpstreamPool(toUpstreamAddress(config.upstream), upstreamConnections),
        timeoutMs: upstreamSeconds * 1000,
        trusted: withMachineProxies(config, trustedProxies),
      });
    }
    for (const site of quarantined) {
      const quarantine = { quarantined: site };
      this.#quarantined.set(site.id, quarantine);
      this.#routeHosts(site.hosts, quarantine);
    }
    for (const { pool } of before.values()) pool.retire();
  }

  #route(routed: RoutedSite): void {
    this.#served.set(routed.config.id, routed);
    this.#routeHosts(routed.config.hosts, routed);
  }

  #routeHosts(hosts: readonly string[], to: RoutedSite | Quarantine): void {
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

  /** Requests of all sites that wait for a connection to WordPress. */
  get waiting(): number {
    let sum = 0;
    for (const { pool } of this.#served.values()) sum += pool.waiting;
    return sum;
  }

  close(): void {
    for (const { pool } of this.#served.values()) pool.close();
  }

  destroy(): void {
    for (const { pool } of this.#served.values()) pool.destroy();
  }
}

function withMachineProxies({ trustedProxies: own = [] }: SiteConfig, machine: readonly string[]): AddressSet | null {
  return own.length === 0 ? null : toProxyAddresses([...machine, ...own]);
}
