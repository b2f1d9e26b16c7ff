import { defaultSecurityOptions, type SecurityOptions } from '@security-optimizer/contract/protections';
import { AddressSet } from '../lib/address-set.js';
import { compilePolicy } from '../policy/compile-policy.js';
import type { LivePolicy } from '../policy/live-policy.js';
import { defaultSitePaths, type SiteFacts, type SiteId } from '../site.js';

/** Everything that a site's snapshot is made of. */
export interface LiveSite {
  readonly options: SecurityOptions;
  readonly facts: SiteFacts | null;
  readonly blocked: AddressSet;
}

const fresh: LiveSite = { options: defaultSecurityOptions, facts: null, blocked: AddressSet.empty };

/** Keeps what each site's snapshot is made of, and swaps in a new snapshot when a part changes. */
export class LiveSites {
  readonly #live: LivePolicy;
  readonly #homes: ReadonlyMap<SiteId, string>;
  readonly #sites = new Map<SiteId, LiveSite>();

  /** @param homes URL path of each site's home, used until the connector has told it */
  constructor(live: LivePolicy, homes: ReadonlyMap<SiteId, string>) {
    this.#live = live;
    this.#homes = homes;
  }

  get(site: SiteId): LiveSite {
    return this.#sites.get(site) ?? fresh;
  }

  set(site: SiteId, change: Partial<LiveSite>): void {
    const next = { ...this.get(site), ...change };
    this.#sites.set(site, next);
    const { options, facts, blocked } = next;
    const paths = facts?.paths ?? defaultPathsAt((this.#homes.get(site) ?? '').toLowerCase());
    this.#live.swap(site, compilePolicy({ options, paths, blocked }));
  }
}

function defaultPathsAt(home: string) {
  const { admin, includes, content, uploads, rest } = defaultSitePaths;
  return {
    home,
    admin: home + admin,
    includes: home + includes,
    content: home + content,
    uploads: home + uploads,
    rest,
  };
}
