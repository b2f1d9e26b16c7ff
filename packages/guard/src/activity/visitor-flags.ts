import { type Address, parseAddress } from '../lib/address.js';
import type { AddressSet, Range } from '../lib/address-set.js';
import type { SiteId } from '../site.js';
import { type KeptAddresses, whyNotBlockAddress } from './do-not-block.js';
import type { FlagsOfUsers } from './registered-events.js';
import { claimedSearchEngine } from './search-engines.js';
import type { FlagsOfVisits } from './unknown-visits.js';

/**
 * Whether visitors in a list are blocked, and may be, from what is in memory.
 * @param deps.kept read once for all rows of a moment; see `keptAddresses`
 */
export function visitorFlags(deps: {
  readonly blockedNow: (site: SiteId) => AddressSet;
  readonly blockedUsers: (site: SiteId) => ReadonlySet<number>;
  readonly kept: () => KeptAddresses;
}): { readonly visitors: FlagsOfVisits; readonly users: FlagsOfUsers } {
  return {
    visitors: {
      flags(site, { address: text, type }, caller) {
        const address = parseAddress(text);
        if (address === null) return { block: 0, do_not_block: 1 };
        const range = networkRange(address);
        // A type names a search engine only where DNS proved it.
        const verifiedBot = claimedSearchEngine(type)?.name ?? null;
        const why = whyNotBlockAddress({ range, verifiedBot }, caller.address, deps.kept());
        // Whoever is blocked may always be unblocked.
        const blocked = deps.blockedNow(site).has(address);
        return { block: blocked ? 1 : 0, do_not_block: blocked || why === null ? 0 : 1 };
      },
    },
    users: {
      // The last administrator is always the one who looks at the list.
      flags: (site, { userId }, caller) => ({
        block: deps.blockedUsers(site).has(userId) ? 1 : 0,
        do_not_block: userId === caller.id ? 1 : 0,
      }),
    },
  };
}

/** What is blocked with an address: itself, or the /64 of an IPv6 one. */
function networkRange({ family, words }: Address): Range {
  if (family === 4) return { from: words, to: words };
  const [first, second] = words;
  return { from: [first, second, 0, 0], to: [first, second, 0xffffffff, 0xffffffff] };
}
