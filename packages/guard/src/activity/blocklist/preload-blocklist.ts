import type { AddressSet } from '../../lib/address-set.js';
import type { SiteId } from '../../site.js';
import type { StorageConnection } from '../../storage/open-storage.js';
import type { SqliteThread } from '../../storage/storage-thread.js';

/** With more sites than this the lists are short, and the other queries of the start are more urgent. */
const SITES_MAX = 8;

type AddressLists = Parameters<SqliteThread['addressList']>[0];
type Connection = Pick<StorageConnection, 'kind' | 'execute' | 'addressList'>;

/** Reads the values of one kind along an index that contains all of them. */
const sqliteQuery = (condition: string) => `
  select max(value) as last, group_concat(value, char(10)) as lines from (
    select value from blocked_visitors indexed by blocked_for_good
    where site = ? and kind = ? and value > ? and until is null ${condition}
    order by value limit ?)`;
const postgresQuery = (condition: string) => `
  select max(value) as last, string_agg(value, chr(10)) as lines from (
    select value from blocked_visitors
    where site = $1 and kind = $2 and value > $3 and until is null ${condition}
    order by value limit $4) as page`;

const QUERIES = {
  sqlite: { all: sqliteQuery(''), ipv6: sqliteQuery("and instr(value, ':') > 0") },
  postgres: { all: postgresQuery(''), ipv6: postgresQuery("and position(':' in value) > 0") },
} as const;

/** Returns the queries for permanent blocks of a site; `ranges` omits single IPv4 addresses. */
export function blocklistQueries(kind: Connection['kind'], site: SiteId, which: 'all' | 'ranges'): AddressLists {
  const { all, ipv6 } = QUERIES[kind];
  return [
    { sql: all, parameters: [site, 'range'] },
    { sql: which === 'all' ? all : ipv6, parameters: [site, 'ip'] },
  ];
}

/** Blocklists that are read while the rest of guard is still being loaded (decision 13). */
export interface PreloadedBlocks {
  /**
   * Returns the list of a site, once, if it was read and the blocks still have that version; else null. Never throws.
   */
  take(site: SiteId, version: number): Promise<AddressSet | null>;
}

/**
 * Begins to read the blocklists of all sites that have one. Errors (the database is new, older or broken) are ignored:
 * the store then reads the list again and reports the error.
 */
export function preloadBlocks(connection: Connection): PreloadedBlocks {
  const reading = read(connection).catch(() => new Map<SiteId, PreloadedBlocklist>());
  return {
    async take(site, version) {
      const lists = await reading;
      const list = lists.get(site);
      lists.delete(site);
      // The version was read before the rows: if it is unchanged, the rows are those of this version.
      return list?.version === version ? list.addresses.catch(() => null) : null;
    },
  };
}

interface PreloadedBlocklist {
  readonly version: number;
  readonly addresses: Promise<AddressSet>;
}

async function read(connection: Connection): Promise<Map<SiteId, PreloadedBlocklist>> {
  const { rows } = await connection.execute('select site, version from blocked_versions', []);
  if (rows.length > SITES_MAX) return new Map();
  return new Map(
    rows.map((row) => {
      const site = row.site as SiteId;
      const addresses = connection.addressList(blocklistQueries(connection.kind, site, 'all'));
      // The list may never be used: an unhandled rejection would end the process.
      addresses.catch(() => undefined);
      return [site, { version: Number(row.version), addresses }];
    }),
  );
}
