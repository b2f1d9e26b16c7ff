import { parseAddress, toClientKey } from '../../lib/address.js';
import { parseRange, type Range, rangeText } from '../../lib/address-set.js';

/** Returns the network that an owner can block instead of an address: /24 of IPv4, /64 of IPv6; null for a range. */
export function toAddressNetwork(text: string): string | null {
  const address = parseAddress(text);
  if (address === null) return null;
  if (address.family === 6) return toClientKey(address);
  const range = parseRange(`${address.text}/24`);
  return range === null ? null : rangeText(range);
}

/** Whether a range is inside another one. */
export function isWithin(range: Range, outer: Range): boolean {
  return compare(outer.from, range.from) <= 0 && compare(range.to, outer.to) <= 0;
}

function compare(a: Range['from'], b: Range['from']): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];
}
