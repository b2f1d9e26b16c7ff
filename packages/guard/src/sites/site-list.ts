import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LiveConfig } from '../config/config.js';
import { isSameData } from '../lib/collections.js';
import type { QuarantinedSite, SiteConfig, SiteId } from '../site.js';

/**
 * The sites that guard currently serves, and the proxies in front of them. A changed configuration file replaces them
 * while guard runs. Iterates over the served sites.
 */
export class SiteList implements Iterable<SiteConfig> {
  #served: ReadonlyMap<SiteId, SiteConfig> = new Map();
  #quarantined: readonly QuarantinedSite[] = [];
  #trustedProxies: readonly string[] = [];

  constructor(configured: LiveConfig) {
    this.replace(configured);
  }

  [Symbol.iterator](): Iterator<SiteConfig> {
    return this.#served.values();
  }

  get quarantined(): readonly QuarantinedSite[] {
    return this.#quarantined;
  }

  /** Ids of the served sites. */
  get servedIds(): readonly SiteId[] {
    return [...this.#served.keys()];
  }

  /** Ids of all configured sites, including those that can't be served. */
  get allIds(): readonly SiteId[] {
    return [...this.#served.keys(), ...this.#quarantined.map(({ id }) => id)];
  }

  /** The served site with this id, or null. */
  find(id: SiteId): SiteConfig | null {
    return this.#served.get(id) ?? null;
  }

  /** Whether a site is configured, served or not. */
  has(id: SiteId): boolean {
    return this.#served.has(id) || this.#quarantined.some((site) => site.id === id);
  }

  /** Trusted proxies of all sites. */
  get trustedProxies(): readonly string[] {
    return this.#trustedProxies;
  }

  replace({ sites, quarantined, trustedProxies }: LiveConfig): void {
    this.#served = new Map(sites.map((site) => [site.id, site]));
    this.#quarantined = quarantined;
    this.#trustedProxies = trustedProxies;
  }
}

/** The differences between two configurations. */
export interface SiteChanges {
  /** Sites that are newly configured, served or not. */
  readonly added: readonly SiteId[];
  /** Served sites that are new or have changed. */
  readonly changed: readonly SiteConfig[];
  /** Sites that are no longer configured. */
  readonly removed: readonly SiteId[];
  readonly isEmpty: boolean;
}

/**
 * Sites that are compared in one turn of the event loop: comparing ten thousand at once would delay requests
 * noticeably.
 */
const SITES_AT_ONCE = 500;

/**
 * The sites of a configuration. Unchanged sites keep the objects that are in force, so that a comparison of objects
 * shows what has changed.
 */
export async function mergeKnownSites(list: SiteList, sites: readonly SiteConfig[]): Promise<readonly SiteConfig[]> {
  const merged: SiteConfig[] = [];
  for (const site of sites) {
    const known = list.find(site.id);
    merged.push(known !== null && isSameData(known, site) ? known : site);
    if (merged.length % SITES_AT_ONCE === 0) await nextTurn();
  }
  return merged;
}

/** Compares the sites in force with a configuration whose sites were returned by `mergeKnownSites`. Pure. */
export function compareSites(list: SiteList, next: LiveConfig): SiteChanges {
  const nextIds = [...next.sites, ...next.quarantined].map(({ id }) => id);
  const known = new Set(nextIds);
  const added = nextIds.filter((id) => !list.has(id));
  const removed = list.allIds.filter((id) => !known.has(id));
  const changed = next.sites.filter((site) => list.find(site.id) !== site);
  const isEmpty =
    added.length === 0 &&
    removed.length === 0 &&
    changed.length === 0 &&
    isSameData(list.quarantined, next.quarantined) &&
    isSameData(list.trustedProxies, next.trustedProxies);
  return { added, changed, removed, isEmpty };
}
