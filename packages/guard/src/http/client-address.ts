import type { IncomingHttpHeaders } from 'node:http';
import { type Address, parseAddress } from '../lib/address.js';
import type { AddressSet } from '../lib/address-set.js';
import { toCarriedAddress } from '../lib/carried-address.js';

/** The other end of a connection, as needed to find a request's client. */
export interface RequestPeer {
  /** Address as guard sees it. A carried address is never used to decide trust. */
  readonly address: Address;
  /** Whether it is a trusted proxy. */
  readonly isTrusted: boolean;
}

/** The client of a request. */
export interface RequestClient {
  /** The client address. An address that carries an IPv4 address is replaced by that one. */
  readonly address: Address;
  /**
   * Which proxy named the client: 0 is the peer, 1 the proxy behind it, and so on. In lists to which each proxy
   * appends, the value of that proxy has this index from the right.
   */
  readonly hop: number;
}

/**
 * Finds the client of a request. It is the peer, unless the peer is a trusted proxy: then `X-Forwarded-For` is read
 * from right to left, past further trusted proxies, and the first other entry is the client. An entry that can't be
 * parsed ends the search, and the last valid address is the client.
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

/** Reads `192.0.2.1:4711` or `[2001:db8::1]:4711`, as some proxies write addresses. */
function addressPart(entry: string): string {
  if (!entry.startsWith('[') && !(entry.includes('.') && entry.includes(':'))) return entry;
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(entry);
  if (bracketed !== null) return bracketed[1] as string;
  return /^\d+\.\d+\.\d+\.\d+:\d{1,5}$/.test(entry) ? entry.slice(0, entry.indexOf(':')) : entry;
}

/**
 * The scheme that the client used, according to the proxy that named the client. Each proxy of a chain appends its
 * value to `X-Forwarded-Proto`, as it does to `X-Forwarded-For`, so both have it at the same index from the right. When
 * the list is shorter, only the outer proxies have written to it, and its first value counts: that of the outermost
 * one. Values from the client itself are to the left of the values of all proxies that append to the list.
 *
 * Empty members are not values (RFC 9110 section 5.6.1). A client can't shift the values of the proxies with them,
 * since its own members are to the left of those. A value may be quoted. Any value but `https` is read as `http`.
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

/** The value of a list header: its lines in order, joined by commas (RFC 9110 section 5.3). */
export function joinLines(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(',') : value;
}
