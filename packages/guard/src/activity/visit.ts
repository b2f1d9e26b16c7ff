import { type Address, toAddress } from '../lib/address.js';

/** A request of a visitor, or several equal ones of the same second. */
export interface Visit {
  /** When the first of them was answered, milliseconds since the Unix epoch. */
  readonly at: number;
  /** Canonical text of the visitor's address (already anonymised if the site requires it). */
  readonly address: string;
  /** Path and query as received, truncated and with control characters escaped. */
  readonly target: string;
  /** HTTP status of the response. */
  readonly status: number;
  /** Name of the rule that refused it, or null. */
  readonly rule: string | null;
  /** The user agent, truncated; null when none was sent. */
  readonly agent: string | null;
  /**
   * Number of equal requests of this address. 0 if this only adds wrong passwords to a visit that was recorded before.
   */
  count: number;
  /** HTTP method. */
  readonly method?: string;
  /** Wrong passwords in each of them. */
  readonly failedLogins?: number;
  /** Login that they were sent for, as UTF-8 with one character per byte. */
  readonly tried?: string;
  /** As stored, see `cleanReferer`. */
  readonly referer?: string;
  /** Scheme and host of the request, for example `https://example.com`. */
  readonly origin?: string;
  /** References of the first and the last of them as numbers; 0 for none. See `toReferenceNumber`. */
  readonly reference?: number;
  readonly lastReference?: number;
}

/** A visit with its number in this process. */
export interface NumberedVisit extends Visit {
  /** Identifies it among the visits of the last seconds: 1 to 2^32 - 1; 0 when nothing will refer to it. */
  readonly number: number;
  /** Number of the visit that it repeats, or 0. */
  readonly repeats: number;
  /**
   * Refused visits of the same second that share its row, see `fold-visits`. Those of its own address are in `count`.
   */
  readonly more: number;
  /** Prefix length of their network, 0 for any address; null when they have its own address. */
  readonly moreBits: number | null;
  /** Hits of other addresses among them, for `readAddressCounts`. */
  readonly others: Uint8Array;
}

/** Anonymised texts of IPv6 addresses, computed once per connection. */
const networks = new WeakMap<Address, string>();

/** Anonymises an address: removes the last octet of IPv4, the last 80 bits of IPv6. */
export function anonymizeAddress(address: Address): string {
  if (address.family === 4) return `${address.text.slice(0, address.text.lastIndexOf('.'))}.0`;
  let text = networks.get(address);
  if (text === undefined) {
    const [first, second] = address.words;
    text = toAddress([first, (second & 0xffff0000) >>> 0, 0, 0]).text;
    networks.set(address, text);
  }
  return text;
}

/**
 * Returns the network of an anonymised address, as a CIDR range.
 * @returns null for an address that is not the first of such a network, so it was not anonymised
 */
export function toAnonymizedNetwork(address: Address): string | null {
  if (anonymizeAddress(address) !== address.text) return null;
  return `${address.text}/${address.family === 4 ? 24 : 48}`;
}
