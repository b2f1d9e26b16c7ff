import { parseAddress } from '../lib/address.js';
import { overlap, parseRange, type Range } from '../lib/address-set.js';
import { english } from '../texts/language.js';

/** Addresses that must stay able to reach the site, whoever asks. */
export interface KeptAddresses {
  /** Loopback and the addresses of this machine. */
  readonly server: readonly Range[];
  readonly proxies: readonly Range[];
  readonly monitors: readonly Range[];
}

/** Ranges of a list; lines that are none are left out. */
function rangesOf(lines: Iterable<string>): Range[] {
  return [...lines].map(parseRange).filter((range) => range !== null);
}

const LOOPBACK = rangesOf(['127.0.0.0/8', '::1']);

/** @param own addresses of this machine's network cards */
export function keptAddresses(lists: {
  readonly own: Iterable<string>;
  readonly proxies: Iterable<string>;
  readonly monitors: Iterable<string>;
}): KeptAddresses {
  return {
    server: [...LOOPBACK, ...rangesOf(lists.own)],
    proxies: rangesOf(lists.proxies),
    monitors: rangesOf(lists.monitors),
  };
}

/** An address or range that is to be blocked, and what is known of it. */
export interface AddressToBlock {
  readonly range: Range;
  /** The search engine that DNS proved it, or an address in it, to be; or null. */
  readonly verifiedBot: string | null;
}

/**
 * Why an address or range must not be blocked, in words for the owner; null when it may.
 * @param caller address of whoever asks, or null
 */
export function whyNotBlockAddress(
  { range, verifiedBot }: AddressToBlock,
  caller: string | null,
  kept: KeptAddresses,
): string | null {
  const single = range.from.every((word, i) => word === range.to[i]);
  const holds = (ranges: readonly Range[]) => ranges.some((entry) => overlap(range, entry));
  const own = caller === null ? null : parseAddress(caller);
  if (own !== null && holds([{ from: own.words, to: own.words }])) {
    return single
      ? 'This is your own address. Blocking it would shut you out.'
      : 'Your own address is in this range. Blocking it would shut you out.';
  }
  if (holds(kept.server)) {
    return single
      ? 'This is an address of your server. Your site needs it to work.'
      : 'An address of your server is in this range. Your site needs it to work.';
  }
  if (holds(kept.proxies)) {
    return single
      ? 'All visitors come through this address. Blocking it would close your site.'
      : 'All visitors come through an address in this range. Blocking it would close your site.';
  }
  if (holds(kept.monitors)) {
    return single
      ? 'Your hosting provider watches over your site from this address.'
      : 'Your hosting provider watches over your site from an address in this range.';
  }
  if (verifiedBot !== null) {
    return english.translate(
      single
        ? 'This is a crawler of {name}. Blocking it would take your site out of its search results.'
        : 'A crawler of {name} is in this range. Blocking it would take your site out of its search results.',
      { name: verifiedBot },
    );
  }
  return null;
}

/** A user who is to be blocked. */
export interface UserToBlock {
  readonly id: number;
  /** Blocked already: one more time changes nothing. */
  readonly blocked: boolean;
  readonly administrator: boolean;
  /** How many administrators are not blocked. */
  readonly administrators: number;
}

/** Why a user must not be blocked; null when they may. @param caller user id of whoever asks, or null */
export function whyNotBlockUser(user: UserToBlock, caller: number | null): string | null {
  if (user.id === caller) return 'This is you. Blocking yourself would shut you out.';
  if (!user.blocked && user.administrator && user.administrators <= 1) {
    return 'This is the last administrator who is not blocked. Nobody could unblock anyone any more.';
  }
  return null;
}
