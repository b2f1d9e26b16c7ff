import type { SiteId } from '../site.js';
import type { Database } from './database.js';

/** The addresses that may not reach a site. */
export interface BlockedAddressesStore {
  /** Every entry of a site: single addresses, CIDR ranges and ranges with a hyphen. Throws StorageError. */
  read(site: SiteId): Promise<readonly string[]>;
}

export function sqlBlockedAddressesStore(db: Database): BlockedAddressesStore {
  return {
    async read(site) {
      const rows = await db.selectFrom('blocked_addresses').select('address').where('site', '=', site).execute();
      return rows.map((row) => row.address);
    },
  };
}
