import type { Config } from '../config.js';
import type { SiteConfig } from '../site.js';
import { UpstreamPool } from './upstream/upstream-pool.js';

export interface RoutedSite {
  readonly config: SiteConfig;
  readonly pool: UpstreamPool;
}

/** Finds the site of a request by its host name. */
export class SiteRouter {
  readonly #byHost = new Map<string, RoutedSite>();
  readonly #fallback: RoutedSite | null;
  readonly #all: readonly RoutedSite[];

  constructor(config: Config) {
    this.#all = config.sites.map((site) => ({
      config: site,
      pool: new UpstreamPool(upstreamAddress(site.upstream), config.limits.upstreamConnections),
    }));
    for (const routed of this.#all) for (const host of routed.config.hosts) this.#byHost.set(host, routed);
    this.#fallback = this.#byHost.get('*') ?? null;
  }

  /** @param host as the visitor asked for it, with or without port, any case */
  find(host: string): RoutedSite | null {
    if (this.#byHost.size === 1 && this.#fallback !== null) return this.#fallback;
    return this.#byHost.get(hostName(host)) ?? this.#fallback;
  }

  /** The only site, or null when there are several. */
  get only(): RoutedSite | null {
    return this.#all.length === 1 ? (this.#all[0] as RoutedSite) : null;
  }

  close(): void {
    for (const { pool } of this.#all) pool.close();
  }

  destroy(): void {
    for (const { pool } of this.#all) pool.destroy();
  }
}

/** Lower-case, without port and without a dot at the end. */
function hostName(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
}

function upstreamAddress(upstream: string): { host: string; port: number } {
  const url = new URL(upstream);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { host, port: url.port === '' ? 80 : Number(url.port) };
}
