import type { AddressSet } from '../lib/address-set.js';
import type { SiteId } from '../site.js';
import type { SqliteThread } from './sqlite-worker/sqlite-thread.js';

/** With more sites than this their lists are short, and other questions of the start come first. */
const SITES = 8;

/** Lists of blocked addresses that the database's thread reads while the rest of guard is still being loaded. */
export interface EarlyBlocks {
  /** The list of a site, once, if it was read and its blocks are of that version still; else null. Never throws. */
  take(site: SiteId, version: number): Promise<AddressSet | null>;
}

/**
 * Begins to read the lists of all sites that have one. What can't be read, since the database is new, older or broken,
 * is left to whoever reads it in its turn and tells of it.
 */
export function readBlocksEarly(thread: Pick<SqliteThread, 'execute' | 'blockedAddresses'>): EarlyBlocks {
  const reading = read(thread).catch(() => new Map<SiteId, EarlyList>());
  return {
    async take(site, version) {
      const lists = await reading;
      const list = lists.get(site);
      lists.delete(site);
      // The version was read before the rows: when it is the same still, these are its rows.
      return list?.version === version ? list.addresses.catch(() => null) : null;
    },
  };
}

interface EarlyList {
  readonly version: number;
  readonly addresses: Promise<AddressSet>;
}

async function read(thread: Pick<SqliteThread, 'execute' | 'blockedAddresses'>): Promise<Map<SiteId, EarlyList>> {
  const { rows } = await thread.execute('select site, version from blocked_versions', []);
  if (rows.length > SITES) return new Map();
  return new Map(
    rows.map((row) => {
      const site = row.site as SiteId;
      const addresses = thread.blockedAddresses(site, 'all');
      // Whoever takes it is told; nobody may.
      addresses.catch(() => undefined);
      return [site, { version: Number(row.version), addresses }];
    }),
  );
}
