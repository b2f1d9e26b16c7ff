import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConfiguredSite, LiveChange, LiveConfig } from '../config/config.js';
import { isSameData } from '../lib/collections.js';
import type { QuarantinedSite, SiteConfig, SiteId } from '../site.js';

/**
 * The sites that guard currently serves, and the proxies in front of them. A changed configuration file changes them
 * while guard runs. Iterates over the served sites.
 */
export class SiteList implements Iterable<SiteConfig> {
  readonly #served = new Map<SiteId, SiteConfig>();
  readonly #quarantined = new Map<SiteId, QuarantinedSite>();
  #trustedProxies: readonly string[];

  constructor({ sites, quarantined, trustedProxies }: LiveConfig) {
    this.#trustedProxies = trustedProxies;
    this.apply({ served: sites, quarantined, removed: [], trustedProxies });
  }

  [Symbol.iterator](): Iterator<SiteConfig> {
    return this.#served.values();
  }

  /** The sites that can't be served. */
  get quarantined(): readonly QuarantinedSite[] {
    return [...this.#quarantined.values()];
  }

  /** Ids of the served sites. */
  get servedIds(): readonly SiteId[] {
    return [...this.#served.keys()];
  }

  /** Ids of all configured sites, including those that can't be served. */
  get allIds(): readonly SiteId[] {
    return [...this.#served.keys(), ...this.#quarantined.keys()];
  }

  /** All sites with their proxies. */
  get configuration(): LiveConfig {
    const { quarantined, trustedProxies } = this;
    return { sites: [...this.#served.values()], quarantined, trustedProxies };
  }

  /** The served site with this id, or null. */
  find(id: SiteId): SiteConfig | null {
    return this.#served.get(id) ?? null;
  }

  /** The site with this id, served or not, or null. */
  findConfigured(id: SiteId): ConfiguredSite | null {
    return this.#served.get(id) ?? this.#quarantined.get(id) ?? null;
  }

  /** Whether a site is configured, served or not. */
  has(id: SiteId): boolean {
    return this.findConfigured(id) !== null;
  }

  /** Trusted proxies of all sites. */
  get trustedProxies(): readonly string[] {
    return this.#trustedProxies;
  }

  /** @returns the change that undoes this one */
  apply({ served, quarantined, removed, trustedProxies }: LiveChange): LiveChange {
    const ids = [...served, ...quarantined].map(({ id }) => id).concat(removed);
    const before = ids.map((id) => this.findConfigured(id));
    const undo: LiveChange = {
      served: before.filter((site) => site !== null).filter(isServed),
      quarantined: before.filter((site) => site !== null).filter(isQuarantined),
      removed: ids.filter((_, at) => before[at] === null),
      trustedProxies: this.#trustedProxies,
    };
    for (const site of served) {
      this.#quarantined.delete(site.id);
      this.#served.set(site.id, site);
    }
    for (const site of quarantined) {
      this.#served.delete(site.id);
      this.#quarantined.set(site.id, site);
    }
    for (const id of removed) {
      this.#served.delete(id);
      this.#quarantined.delete(id);
    }
    this.#trustedProxies = trustedProxies;
    return undo;
  }
}

/** Whether a configured site can be served. */
export function isServed(site: ConfiguredSite): site is SiteConfig {
  return !('cause' in site);
}

function isQuarantined(site: ConfiguredSite): site is QuarantinedSite {
  return !isServed(site);
}

/** Sites that are compared in one turn of the event loop: ten thousand at once would delay requests noticeably. */
const SITES_AT_ONCE = 200;

/** Compares the sites in force with a configuration. */
export async function compareSites(list: SiteList, next: LiveConfig): Promise<LiveChange> {
  const changed: ConfiguredSite[] = [];
  const known = new Set<SiteId>();
  for (const site of [...next.sites, ...next.quarantined]) {
    known.add(site.id);
    if (!isSameData(list.findConfigured(site.id), site)) changed.push(site);
    if (known.size % SITES_AT_ONCE === 0) await nextTurn();
  }
  return {
    served: changed.filter(isServed),
    quarantined: changed.filter(isQuarantined),
    removed: list.allIds.filter((id) => !known.has(id)),
    trustedProxies: next.trustedProxies,
  };
}

/**
 * The change that is left of another one when the stored settings of some sites can't be used: they are quarantined.
 * Pure.
 *
 * @param unusable reasons by site
 */
export function withUnusableSettings(change: LiveChange, unusable: ReadonlyMap<SiteId, string>): LiveChange {
  const hosts = new Map(change.served.map((site) => [site.id, site.hosts]));
  const more = [...unusable].flatMap(([id, reason]): readonly QuarantinedSite[] => {
    const named = hosts.get(id);
    return named === undefined ? [] : [{ id, hosts: named, cause: 'settings', reason }];
  });
  return {
    ...change,
    served: change.served.filter(({ id }) => !unusable.has(id)),
    quarantined: [...change.quarantined, ...more],
  };
}

/** A change without the served sites that keep their last valid entry, and those sites. */
interface KeptSites {
  readonly change: LiveChange;
  /** The mistakes in their present entries. */
  readonly kept: readonly QuarantinedSite[];
}

/**
 * A mistake in the entry of a site that is served does not interrupt it: a list of addresses that many sites share may
 * be empty for a moment. It keeps its last valid entry until guard is started again, unless another site has one of its
 * hosts now. Pure.
 */
export function keepValidEntries(list: SiteList, change: LiveChange): KeptSites {
  const isCandidate = ({ id, cause }: QuarantinedSite) => cause === 'entry' && list.find(id) !== null;
  const others = [...change.served, ...change.quarantined.filter((site) => !isCandidate(site))];
  const taken = new Set(others.flatMap(({ hosts }) => hosts));
  const kept = change.quarantined.filter((site) => {
    const hosts = isCandidate(site) ? (list.find(site.id)?.hosts ?? []) : null;
    return hosts?.every((host) => !taken.has(host)) === true;
  });
  return { change: { ...change, quarantined: change.quarantined.filter((site) => !kept.includes(site)) }, kept };
}
