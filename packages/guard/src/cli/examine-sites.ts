import { mapBounded } from '../lib/map-bounded.js';
import type { SiteConfig } from '../site.js';
import { Patience } from './patience.js';
import type { ExaminedSite } from './status-site.js';

/** Number of sites queried at the same time. Each query starts a WordPress. */
export const SITES_AT_ONCE = 32;
/** A site that takes longer, milliseconds, no longer keeps others waiting. */
const SLOW_MS = 1000;
/** How many slow sites are queried besides, at most. */
const SLOW_AT_ONCE = 512;

/**
 * Examines many sites at a time, without waiting for each site of a web server that hangs for all. Sites that were left
 * out for that reason are asked after all when a later one of their web server responds.
 *
 * @param now milliseconds, of a clock that no one sets
 * @param examine asks a site, within the timeout in milliseconds; without one it reports that the site was not asked
 * @returns in the order of the sites
 */
export async function examineSites(
  sites: readonly SiteConfig[],
  now: () => number,
  examine: (site: SiteConfig, timeoutMs: number | null) => Promise<ExaminedSite>,
): Promise<readonly ExaminedSite[]> {
  const limits = { atOnce: SITES_AT_ONCE, aside: { afterMs: SLOW_MS, max: SLOW_AT_ONCE } };
  const patience = new Patience();
  const leftOut = new Set<SiteConfig>();

  async function examineNext(site: SiteConfig): Promise<ExaminedSite> {
    const timeoutMs = patience.getTimeoutMs(site.upstream);
    const startedAt = now();
    const found = await examine(site, timeoutMs);
    if (timeoutMs === null) leftOut.add(site);
    // What is refused at once takes no time, so it is no reason to leave others out.
    else patience.record(site.upstream, found.site.connector !== 'unknown' || now() - startedAt < timeoutMs / 2);
    return found;
  }

  const first = await mapBounded(sites, limits, examineNext);
  const again = [...leftOut].filter(({ upstream }) => !patience.isSilent(upstream));
  const later = await mapBounded(again, limits, examineNext);
  const laterBySite = new Map(again.map((site, at) => [site, later[at]]));
  return first.map((found, at) => laterBySite.get(sites[at] as SiteConfig) ?? found);
}
