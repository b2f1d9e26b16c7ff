import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SiteId } from '../site.js';
import type { ConfiguredSite, LiveChange, LiveConfig } from './config.js';

/**
 * Digests of the sites in force. The thread that reads the configuration compares them, and sends only what differs:
 * receiving ten thousand sites from another thread would delay requests noticeably.
 */

/** One line for each site: its id and its digest. A text, because its transfer to a thread costs no parsing. */
export type SiteDigests = string;

/** 128 bits: sites never have the same digest by chance. */
const DIGEST_BYTES = 16;

/** Sites that are digested in one turn of the event loop, at most. */
const SITES_AT_ONCE = 50;

interface DigestedSite {
  readonly site: ConfiguredSite;
  readonly digest: string;
}

/** Digests of sites in force. A site is digested once; requests are handled in the meantime. */
export class DigestCache {
  #known: ReadonlyMap<SiteId, DigestedSite> = new Map();

  /** Returns the digests of these sites, and forgets those of all others. */
  async digest(sites: Iterable<ConfiguredSite>): Promise<SiteDigests> {
    const next = new Map<SiteId, DigestedSite>();
    const lines: string[] = [];
    let computed = 0;
    for (const site of sites) {
      let entry = this.#known.get(site.id);
      if (entry?.site !== site) {
        entry = { site, digest: toDigest(site) };
        if (++computed % SITES_AT_ONCE === 0) await nextTurn();
      }
      next.set(site.id, entry);
      lines.push(`${site.id} ${entry.digest}`);
    }
    this.#known = next;
    return lines.join('\n');
  }
}

function toDigest(site: ConfiguredSite): string {
  return createHash('sha256').update(JSON.stringify(site)).digest().subarray(0, DIGEST_BYTES).toString('base64');
}

/** Compares a configuration with the sites in force. Pure. */
export function findChange(inForce: SiteDigests, next: LiveConfig): LiveChange {
  const before = new Map<SiteId, string>();
  for (const line of inForce.split('\n')) {
    const space = line.lastIndexOf(' ');
    if (space !== -1) before.set(line.slice(0, space), line.slice(space + 1));
  }
  const isChanged = (site: ConfiguredSite) => before.get(site.id) !== toDigest(site);
  const served = next.sites.filter(isChanged);
  const quarantined = next.quarantined.filter(isChanged);
  for (const { id } of [...next.sites, ...next.quarantined]) before.delete(id);
  return { served, quarantined, removed: [...before.keys()], trustedProxies: next.trustedProxies };
}
