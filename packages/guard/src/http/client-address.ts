import type { IncomingHttpHeaders } from 'node:http';
import { type Address, parseAddress } from '../lib/address.js';
import type { AddressSet } from '../lib/address-set.js';
import { toCarriedAddress } from '../lib/carried-address.js';

/** The other end of a connection, as far as it says whose a request is. */
export interface RequestPeer {
  /** As it is seen: what it may carry is never asked whether it is trusted. */
  readonly address: Address;
  /** Whether it is a trusted proxy. */
  readonly isTrusted: boolean;
}

/** Whose a request is. */
export interface RequestClient {
  /** The visitor: an address that carries another is read as that one. */
  readonly address: Address;
  /**
   * Which proxy named it: 0 is the peer, 1 the one behind it, and so on. Lists that each proxy adds to have the value of
   * that proxy at the same place from the right.
   */
  readonly hop: number;
}

/**
 * Finds the client of a request. It is the peer, unless the peer is a trusted proxy: then `X-Forwarded-For` is read from
 * right to left, past further trusted proxies, and the first other entry is the client. An entry that can't be parsed
 * ends the search, and the last valid address is the client.
 *
 * @param forwardedFor value of X-Forwarded-For, all header lines joined by commas, or undefined
 */
export function findClient(peer: RequestPeer, forwardedFor: string | undefined, trusted: AddressSet): RequestClient {
  let address = peer.address;
  let hop = 0;
  if (forwardedFor !== undefined && peer.isTrusted) {
    for (let end = forwardedFor.length, at = 0; end >= 0; at++) {
      const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(',', end - 1);
      const entry = parseAddress(addressPart(forwardedFor.slice(comma + 1, end).trim()));
      if (entry === null) break;
      address = entry;
      hop = at;
      if (!trusted.has(entry)) break;
      end = comma;
    }
  }
  return { address: toCarriedAddress(address), hop };
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function addressPart(entry: string): string {
  if (!entry.startsWith('[') && !(entry.includes('.') && entry.includes(':'))) return entry;
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(entry);
  if (bracketed !== null) return bracketed[1] as string;
  return /^\d+\.\d+\.\d+\.\d+:\d{1,5}$/.test(entry) ? entry.slice(0, entry.indexOf(':')) : entry;
}

/**
 * The scheme that the client used, as the proxy says that named the client. Each proxy of a chain adds its value to
 * `X-Forwarded-Proto` at the right, as it does to `X-Forwarded-For`, so both have it at the same place from the right.
 * Where the list is shorter, only the outer proxies have written to it, and its first value counts: that of the outermost.
 * What the client sent itself is farther left than the values of all proxies that add to the list.
 *
 * Empty members are no values (RFC 9110 section 5.6.1). A client can't move the values of the proxies by them, since its own
 * members are left of those. A value may be quoted. Any value but `https` is read as `http`.
 *
 * @param forwardedProto value of X-Forwarded-Proto, all header lines joined by commas, or undefined
 * @param hop from `findClient`
 * @param otherwise scheme of the connection, for a proxy that sends no such header
 */
export function readForwardedScheme(
  forwardedProto: string | undefined,
  hop: number,
  otherwise: 'http' | 'https',
): 'http' | 'https' {
  if (forwardedProto === undefined) return otherwise;
  if (forwardedProto === 'https') return 'https';
  let value: string | null = null;
  for (let end = forwardedProto.length, left = hop; end >= 0 && left >= 0; ) {
    const comma = end === 0 ? -1 : forwardedProto.lastIndexOf(',', end - 1);
    const member = unquote(forwardedProto.slice(comma + 1, end).trim());
    if (member !== '') {
      value = member;
      left--;
    }
    end = comma;
  }
  return value?.toLowerCase() === 'https' ? 'https' : 'http';
}

function unquote(member: string): string {
  return member.length > 1 && member.startsWith('"') && member.endsWith('"') ? member.slice(1, -1).trim() : member;
}

/**
 * The scheme that the client of a request used.
 *
 * @param peer its `scheme` is that of the connection
 * @param trusted the proxies that are trusted for the request's site
 */
export function findScheme(
  peer: RequestPeer & { readonly scheme: 'http' | 'https' },
  headers: IncomingHttpHeaders,
  trusted: AddressSet,
): 'http' | 'https' {
  if (!peer.isTrusted) return peer.scheme;
  const { hop } = findClient(peer, joinLines(headers['x-forwarded-for']), trusted);
  return readForwardedScheme(joinLines(headers['x-forwarded-proto']), hop, peer.scheme);
}

/** The value of a header that is a list: its lines in their order, joined by commas (RFC 9110 section 5.3). */
export function joinLines(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(',') : value;
}
