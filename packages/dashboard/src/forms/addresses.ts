import { toPlainAddress } from '@security-optimizer/contract/typed-text';

/** An inclusive range; both ends have the same length. */
export interface AddressRange {
  readonly first: AddressBytes;
  readonly last: AddressBytes;
}

/**
 * Parses a row of an address list: an address, a CIDR block (`198.51.100.0/24`), a pattern (`198.51.100.*`) or a range
 * with a hyphen. Guard checks each row again.
 *
 * @returns null for anything else
 */
export function parseAddressRange(text: string): AddressRange | null {
  const row = toPlainAddress(text);
  if (row.includes('/')) return parseBlock(row);
  if (row.includes('-')) return parseSpan(row);
  if (row.includes('*')) return parsePattern(row);
  const address = parseAddress(row);
  return address === null ? null : { first: address, last: address };
}

/** Whether a range contains an address. IPv4-mapped IPv6 addresses (`::ffff:`) count as IPv4. */
export function isInRange(address: AddressBytes, { first, last }: AddressRange): boolean {
  const bytes = unwrapIpv4(address);
  const from = unwrapIpv4(first);
  const to = unwrapIpv4(last);
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

/** IPv4 only. Only trailing parts may be `*`. */
function parsePattern(row: string): AddressRange | null {
  const parts = row.split('.');
  if (parts.length !== 4 || parts.slice(parts.indexOf('*')).some((part) => part !== '*')) return null;
  const filled = (part: string): string => parts.map((item) => (item === '*' ? part : item)).join('.');
  return toRange(parseAddress(filled('0')), parseAddress(filled('255')));
}

function parseSpan(row: string): AddressRange | null {
  const ends = row.split('-').map((end) => end.trim());
  if (ends.length !== 2) return null;
  return toRange(parseAddress(ends[0] ?? ''), parseAddress(ends[1] ?? ''));
}

function toRange(first: AddressBytes | null, last: AddressBytes | null): AddressRange | null {
  if (first === null || last === null || first.length !== last.length) return null;
  return compare(first, last) <= 0 ? { first, last } : null;
}

function compare(a: AddressBytes, b: AddressBytes): number {
  const place = a.findIndex((byte, index) => byte !== b[index]);
  return place < 0 ? 0 : (a[place] ?? 0) - (b[place] ?? 0);
}

function unwrapIpv4(address: AddressBytes): AddressBytes {
  const isWrapped =
    address.length === 16 && address.slice(0, 12).every((byte, place) => byte === (place < 10 ? 0 : 255));
  return isWrapped ? address.slice(12) : address;
}

/** The 4 or 16 bytes of an address. */
export type AddressBytes = readonly number[];

/** @returns null for anything but an IPv4 or IPv6 address */
export function parseAddress(text: string): AddressBytes | null {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): AddressBytes | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return null;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

/**
 * RFC 4291, section 2.2: groups of four hexadecimal digits, at most one `::`, optionally an IPv4 address at the end.
 */
function parseIpv6(text: string): AddressBytes | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [head, tail] = halves.map(readGroups);
  if (head === null || head === undefined || tail === null) return null;
  if (tail === undefined) return head.length === 16 ? head : null;
  if (text.split('::')[0]?.includes('.')) return null;
  const missing = 16 - head.length - tail.length;
  return missing >= 2 ? [...head, ...Array.from({ length: missing }, () => 0), ...tail] : null;
}

function readGroups(text: string): number[] | null {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [place, group] of Array.from(groups.entries())) {
    if (group.includes('.')) {
      const ipv4 = place === groups.length - 1 ? parseIpv4(group) : null;
      if (ipv4 === null) return null;
      bytes.push(...ipv4);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return null;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    }
  }
  return bytes;
}
