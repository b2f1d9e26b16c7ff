import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { type Address, parseAddress } from '../../lib/address.js';
import { overlap, type Range } from '../../lib/address-set.js';
import { parseVisitor, toVisitorRanges } from '../../lib/carried-address.js';
import type { Clock } from '../../lib/clock.js';
import { createOwnAddresses } from '../../lib/own-addresses.js';
import type { Services } from '../../services.js';
import type { SiteId } from '../../site.js';
import type { VisitFlags } from '../anonymous-visits.js';
import { claimedSearchEngine } from '../bots.js';
import type { UserFlags } from '../registered-events.js';

/** Addresses that must always be able to reach the site. */
export interface ProtectedAddresses {
  /** Loopback and the addresses of this machine. */
  readonly server: readonly Range[];
  readonly proxies: readonly Range[];
  readonly monitors: readonly Range[];
}

/**
 * Returns the current protected addresses, by site. The machine's own addresses are cached briefly.
 * @param getProxies returns the trusted proxies in front of a site
 */
export function currentProtectedAddresses(
  monitors: readonly string[],
  getProxies: (site: SiteId) => readonly string[],
  clock: Clock,
): (site: SiteId) => ProtectedAddresses {
  const monitorRanges = toVisitorRanges(monitors);
  const server = createOwnAddresses(clock);
  return (site) => ({ server: server(), proxies: toVisitorRanges(getProxies(site)), monitors: monitorRanges });
}

/** An address or range to block. */
export interface AddressToBlock {
  readonly range: Range;
  /** The search engine that DNS verified for it, or for an address in it; or null. */
  readonly verifiedBot: string | null;
}

/**
 * Returns the reason why an address or range must not be blocked, as a text for the owner; null when it may be blocked.
 * @param caller address of the calling administrator, or null
 */
export function reasonNotToBlockAddress(
  { range, verifiedBot }: AddressToBlock,
  caller: string | null,
  addresses: ProtectedAddresses,
): ServerText | null {
  const single = range.from.every((word, i) => word === range.to[i]);
  const overlaps = (ranges: readonly Range[]) => ranges.some((entry) => overlap(range, entry));
  const own = caller === null ? null : parseAddress(caller);
  if (own !== null && overlaps([{ from: own.words, to: own.words }])) {
    return single
      ? 'This is your own address. Blocking it would shut you out.'
      : 'Your own address is in this range. Blocking it would shut you out.';
  }
  if (overlaps(addresses.server)) {
    return single
      ? 'This is an address of your server. Your site needs it to work.'
      : 'An address of your server is in this range. Your site needs it to work.';
  }
  if (overlaps(addresses.proxies)) {
    return single
      ? 'All visitors come through this address. Blocking it would close your site.'
      : 'All visitors come through an address in this range. Blocking it would close your site.';
  }
  if (overlaps(addresses.monitors)) {
    return single
      ? 'Your hosting provider watches over your site from this address.'
      : 'Your hosting provider watches over your site from an address in this range.';
  }
  if (verifiedBot !== null) {
    return serverMessage(single ? 'crawler_address' : 'crawler_in_range', { name: verifiedBot });
  }
  return null;
}

/** A user to block. */
export interface UserToBlock {
  readonly id: number;
  /** Blocked already, so that blocking changes nothing. */
  readonly blocked: boolean;
  readonly administrator: boolean;
  /** Number of administrators who are not blocked. */
  readonly administrators: number;
}

/**
 * Returns the reason why a user must not be blocked, or null.
 * @param caller user id of the calling administrator, or null
 */
export function reasonNotToBlockUser(user: UserToBlock, caller: number | null): string | null {
  if (user.id === caller) return 'This is you. Blocking yourself would shut you out.';
  if (!user.blocked && user.administrator && user.administrators <= 1) {
    return 'This is the last administrator who is not blocked. Nobody could unblock anyone any more.';
  }
  return null;
}

/**
 * Computes from memory, for each row of a list, whether its visitor is blocked and may be blocked.
 * @param protectedAddresses called once per row; see `currentProtectedAddresses`
 */
export function createVisitorFlags(
  sites: Pick<Services['sites'], 'get' | 'isBlocked'>,
  protectedAddresses: (site: SiteId) => ProtectedAddresses,
): { readonly visitors: VisitFlags; readonly users: UserFlags } {
  return {
    visitors: {
      flags(site, { address: text, type }, caller) {
        const address = parseVisitor(text);
        if (address === null) return { block: 0, do_not_block: 1 };
        const range = toNetworkRange(address);
        // A type is the name of a search engine only when DNS verified it.
        const verifiedBot = claimedSearchEngine(type)?.name ?? null;
        const why = reasonNotToBlockAddress({ range, verifiedBot }, caller.address, protectedAddresses(site));
        // A blocked visitor can always be unblocked.
        const blocked = sites.isBlocked(site, address);
        return { block: blocked ? 1 : 0, do_not_block: blocked || why === null ? 0 : 1 };
      },
    },
    users: {
      // The last administrator can only be the caller.
      flags: (site, { userId }, caller) => ({
        block: sites.get(site).blockedUsers.has(userId) ? 1 : 0,
        do_not_block: userId === caller.id ? 1 : 0,
      }),
    },
  };
}

/** Returns the range that is blocked with an address: the address, or the /64 of an IPv6 address. */
function toNetworkRange({ family, words }: Address): Range {
  if (family === 4) return { from: words, to: words };
  const [first, second] = words;
  return { from: [first, second, 0, 0], to: [first, second, 0xffffffff, 0xffffffff] };
}
