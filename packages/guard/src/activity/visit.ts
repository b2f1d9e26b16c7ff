import { type Address, toAddress } from '../lib/address.js';

/** One request of a visitor, or several alike within the same moment. */
export interface Visit {
  /** When the first of them was answered, milliseconds since the Unix epoch. */
  readonly at: number;
  /** Canonical text of the visitor's address (anonymised already when the site wants it). */
  readonly address: string;
  /** Path and query as they were asked for, cut and with control characters escaped. */
  readonly target: string;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Name of the rule that refused it, or null. */
  readonly rule: string | null;
  /** The user agent, cut; null when none was sent. */
  readonly agent: string | null;
  /** How many of this address were alike. At least 1; 0 where only wrong passwords are told, of a visit told before. */
  count: number;
  /** HTTP method. */
  readonly method?: string;
  /** Wrong passwords in each of them. */
  readonly failedLogins?: number;
  /** Login that they were for, as UTF-8 with one character per byte. */
  readonly tried?: string;
  /** As it is stored: see `cleanReferer`. */
  readonly referer?: string;
  /** Scheme and host that were asked, for example `https://example.com`. */
  readonly origin?: string;
  /** Reference of the first of them as a number, and of the last one; 0 for none. See `toReferenceNumber`. */
  readonly reference?: number;
  readonly lastReference?: number;
}

/** A visit among the others of this guard. */
export interface NumberedVisit extends Visit {
  /** Tells it from the others of the last seconds: 1 to 2^32 - 1; 0 when nothing will refer to it. */
  readonly number: number;
  /** Number of the visit that it repeats, or 0. */
  readonly repeats: number;
  /** Refused visits of the same second that share its row, see `fold-visits`. Those of its own address are in `count`. */
  readonly more: number;
  /** Bits of the network that they came from, 0 for anywhere; null when they are of its own address. */
  readonly moreBits: number | null;
  /** Hits of other addresses among them, for `readAddressCounts`. */
  readonly others: Uint8Array;
}

/** Networks of IPv6 addresses, made once per connection. */
const networks = new WeakMap<Address, string>();

/** The address without what tells one customer from another: the last octet of IPv4, the last 80 bits of IPv6. */
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
 * The network of an anonymised address, as a CIDR range.
 * @returns null for an address that is not the first of such a network: it was not anonymised
 */
export function toAnonymizedNetwork(address: Address): string | null {
  if (anonymizeAddress(address) !== address.text) return null;
  return `${address.text}/${address.family === 4 ? 24 : 48}`;
}
