import type { SiteHosts } from '../gateway/site-hosts.js';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/collections.js';
import type { SiteConfig, SiteId } from '../site.js';

type Known = ReturnType<SiteHosts['find']>;

/** How long the primary process's answer is used, milliseconds. It probes the host again when its own has expired. */
const USED_MS = 5000;
/** Clients choose hosts, so the cache is bounded. */
const HOSTS_MAX = 10_000;

/**
 * The state of hosts that only the upstream web server can prove, in a worker. While it is not known here, the request
 * is relayed: the primary process probes the host.
 *
 * @param ask returns what the primary process knows
 */
export function createRemoteHosts(ask: (site: SiteId, host: string) => Promise<Known>, clock: Clock): SiteHosts {
  const cache = new Map<string, { readonly status: NonNullable<Known>; readonly time: number }>();
  const asked = new Set<string>();

  function learn(site: SiteId, host: string, key: string): void {
    if (asked.has(key) || asked.size >= HOSTS_MAX) return;
    asked.add(key);
    void ask(site, host)
      .then((status) => {
        if (status !== null) setBounded(cache, key, { status, time: clock() }, HOSTS_MAX);
      })
      .finally(() => asked.delete(key));
  }

  return {
    find({ id }: SiteConfig, host) {
      const key = `${id} ${host}`;
      const known = cache.get(key);
      if (known !== undefined && Math.abs(clock() - known.time) < USED_MS) return known.status;
      cache.delete(key);
      learn(id, host, key);
      return null;
    },
    check: () => Promise.reject(new Error('Only the primary process proves hosts.')),
  };
}
