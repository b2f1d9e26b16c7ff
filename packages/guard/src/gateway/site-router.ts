import type { Config, LiveConfig } from '../config/config.js';
import { isWildcardHost } from '../config/config-file.js';
import type { AddressSet } from '../lib/address-set.js';
import { isSameData } from '../lib/collections.js';
import { toUpstreamAddress } from '../lib/socket-address.js';
import type { QuarantinedSite, SiteConfig } from '../site.js';
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
  #byHost: ReadonlyMap<string, RoutedSite | Quarantine> = new Map();
  /** Sites by the suffix of their wildcard after the `*`, for example `.example.com`. */
  #bySuffix: ReadonlyMap<string, RoutedSite | Quarantine> = new Map();
  #fallback: RouteResult = null;
  #all: readonly RoutedSite[] = [];
  #only: RoutedSite | null = null;

  constructor(config: Config) {
    this.#limits = config.limits;
    this.setSites(config);
  }

  /**
   * Routes later requests to these sites. Requests under way are not affected. A site whose upstream and maximum number
   * of connections do not change keeps its connections.
   */
  setSites({ sites, quarantined, trustedProxies }: LiveConfig): void {
    const before = new Map(this.#all.map((routed) => [routed.config.id, routed]));
    const sameProxies = isSameData(trustedProxies, this.#trustedProxies);
    this.#trustedProxies = trustedProxies;
    const all = sites.map((config): RoutedSite => {
      const known = before.get(config.id);
      if (known?.config === config && sameProxies) {
        before.delete(config.id);
        return known;
      }
      const { upstreamConnections, upstreamSeconds } = { ...this.#limits, ...config.limits };
      const more = { timeoutMs: upstreamSeconds * 1000, trusted: withMachineProxies(config, trustedProxies) };
      if (known?.config.upstream !== config.upstream || known.pool.maxConnections !== upstreamConnections) {
        return { config, pool: new UpstreamPool(toUpstreamAddress(config.upstream), upstreamConnections), ...more };
      }
      before.delete(config.id);
      return { config, pool: known.pool, ...more };
    });
    const byHost = new Map<string, RoutedSite | Quarantine>();
    const bySuffix = new Map<string, RoutedSite | Quarantine>();
    const route = (hosts: readonly string[], to: RoutedSite | Quarantine) => {
      for (const host of hosts) {
        if (isWildcardHost(host)) bySuffix.set(host.slice(1), to);
        else byHost.set(host, to);
      }
    };
    for (const routed of all) route(routed.config.hosts, routed);
    for (const site of quarantined) route(site.hosts, { quarantined: site });
    this.#all = all;
    this.#byHost = byHost;
    this.#bySuffix = bySuffix;
    this.#only = quarantined.length === 0 && all.length === 1 ? (all[0] ?? null) : null;
    this.#fallback = byHost.get('*') ?? null;
    for (const { pool } of before.values()) pool.retire();
  }

  /** @param host as the client sent it, with or without port, in any case */
  find(host: string): RouteResult {
    if (this.#byHost.size === 1 && this.#bySuffix.size === 0 && this.#fallback !== null) return this.#fallback;
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
    return this.#only;
  }

  /** Requests of all sites that wait for a connection to WordPress. */
  get waiting(): number {
    return this.#all.reduce((sum, { pool }) => sum + pool.waiting, 0);
  }

  close(): void {
    for (const { pool } of this.#all) pool.close();
  }

  destroy(): void {
    for (const { pool } of this.#all) pool.destroy();
  }
}

function withMachineProxies({ trustedProxies: own = [] }: SiteConfig, machine: readonly string[]): AddressSet | null {
  return own.length === 0 ? null : toProxyAddresses([...machine, ...own]);
}
