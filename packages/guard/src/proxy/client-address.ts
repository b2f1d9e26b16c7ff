import { type Address, parseAddress } from '../lib/address.js';
import type { AddressSet } from '../lib/address-set.js';

/**
 * Whose request this is. The socket's peer, unless the peer is a configured proxy: then `X-Forwarded-For` is walked
 * from right to left past further trusted proxies, and the first other entry is the visitor. An entry that cannot be
 * read is not trusted and ends the walk: the last address that was good stands.
 *
 * @param forwardedFor value of X-Forwarded-For, all header lines joined by commas, or undefined
 */
export function clientAddress(peer: Address, forwardedFor: string | undefined, trusted: AddressSet): Address {
  if (forwardedFor === undefined || !trusted.has(peer)) return peer;
  let client = peer;
  for (let end = forwardedFor.length; end >= 0; ) {
    const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(',', end - 1);
    const entry = parseAddress(addressPart(forwardedFor.slice(comma + 1, end).trim()));
    if (entry === null) return client;
    client = entry;
    if (!trusted.has(entry)) return client;
    end = comma;
  }
  return client;
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function addressPart(entry: string): string {
  if (!entry.startsWith('[') && !(entry.includes('.') && entry.includes(':'))) return entry;
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(entry);
  if (bracketed !== null) return bracketed[1] as string;
  return /^\d+\.\d+\.\d+\.\d+:\d{1,5}$/.test(entry) ? entry.slice(0, entry.indexOf(':')) : entry;
}
