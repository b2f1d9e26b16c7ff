import { type AddressBytes, parseAddress } from './parse-address.js';

/** All addresses from `first` to `last`; both have the same length. */
export interface AddressRange {
  readonly first: AddressBytes;
  readonly last: AddressBytes;
}

/**
 * Reads a row of an address list: one address, a block (`198.51.100.0/24`), a pattern (`198.51.100.*`) or a range
 * with a hyphen. Guard checks each row again.
 *
 * @returns null when it is none of them
 */
export function parseAddressRange(text: string): AddressRange | null {
  const row = text.trim();
  if (row.includes('/')) return parseBlock(row);
  if (row.includes('-')) return parseSpan(row);
  if (row.includes('*')) return parsePattern(row);
  const address = parseAddress(row);
  return address === null ? null : { first: address, last: address };
}

/** Whether an address lies in a range. An IPv4 address written as IPv6 (`::ffff:`) counts as IPv4. */
export function isInRange(address: AddressBytes, { first, last }: AddressRange): boolean {
  const bytes = unwrapped(address);
  const from = unwrapped(first);
  const to = unwrapped(last);
  return bytes.length === from.length && compare(from, bytes) <= 0 && compare(bytes, to) <= 0;
}

function parseBlock(row: string): AddressRange | null {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(row);
  const address = match?.[1] === undefined ? null : parseAddress(match[1]);
  const length = Number(match?.[2]);
  if (address === null || length > address.length * 8) return null;
  const masks = address.map((_, place) => {
    const kept = Math.min(8, Math.max(0, length - place * 8));
    return (0xff << (8 - kept)) & 0xff;
  });
  return {
    first: address.map((byte, place) => byte & (masks[place] ?? 0)),
    last: address.map((byte, place) => byte | (~(masks[place] ?? 0) & 0xff)),
  };
}

/** IPv4 only: whole parts may be `*`; after the first one all that follow are. */
function parsePattern(row: string): AddressRange | null {
  const parts = row.split('.');
  if (parts.length !== 4 || parts.slice(parts.indexOf('*')).some((part) => part !== '*')) return null;
  const filled = (part: string): string => parts.map((item) => (item === '*' ? part : item)).join('.');
  return rangeOf(parseAddress(filled('0')), parseAddress(filled('255')));
}

function parseSpan(row: string): AddressRange | null {
  const ends = row.split('-').map((end) => end.trim());
  if (ends.length !== 2) return null;
  return rangeOf(parseAddress(ends[0] ?? ''), parseAddress(ends[1] ?? ''));
}

function rangeOf(first: AddressBytes | null, last: AddressBytes | null): AddressRange | null {
  if (first === null || last === null || first.length !== last.length) return null;
  return compare(first, last) <= 0 ? { first, last } : null;
}

function compare(a: AddressBytes, b: AddressBytes): number {
  const place = a.findIndex((byte, index) => byte !== b[index]);
  return place < 0 ? 0 : (a[place] ?? 0) - (b[place] ?? 0);
}

function unwrapped(address: AddressBytes): AddressBytes {
  const isWrapped =
    address.length === 16 && address.slice(0, 12).every((byte, place) => byte === (place < 10 ? 0 : 255));
  return isWrapped ? address.slice(12) : address;
}
