import type { Socket } from 'node:net';
import { type Address, parseAddress } from '../lib/address.js';
import { AddressSet } from '../lib/address-set.js';
import { toCarriedAddress } from '../lib/carried-address.js';

/** The other end of a client's connection. */
export interface Peer {
  /** Address as guard sees it. Trust is decided by it alone: a carried address makes no client a trusted proxy. */
  readonly address: Address;
  /** Client address when the peer is not a proxy: the carried address, or else the same address. */
  readonly client: Address;
  /** Whether it is a trusted proxy, whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted. */
  readonly isTrusted: boolean;
  /** Scheme that the client used, unless a trusted proxy names it in a header. */
  readonly scheme: 'http' | 'https';
  /** Length of the PROXY header at the start of the connection, bytes. */
  readonly headerBytes: number;
  /** Address of the proxy that sent this header; absent without one. */
  readonly headerFrom?: Address;
}

/** The value in `trustedProxies` that trusts every program that can open guard's Unix socket. */
const UNIX_WORD = 'unix';

/** A connection over a Unix socket has no address. It comes from this machine. */
const UNIX_ADDRESS: Address = { words: [0, 0, 0xffff, 0x7f000001], text: '127.0.0.1', family: 4 };

/** The text of a peer's address for another process of guard, which `TrustedProxies.toRelayedPeer` reads. */
export function printPeerAddress(address: Address): string {
  return address === UNIX_ADDRESS ? UNIX_WORD : address.text;
}

function readPeerAddress(text: string): Address | null {
  return text === UNIX_WORD ? UNIX_ADDRESS : parseAddress(text);
}

/** The addresses and ranges of a list of trusted proxies. */
export function toProxyAddresses(lines: readonly string[]): AddressSet {
  return AddressSet.from(lines.filter((line) => line !== UNIX_WORD));
}

/** Whether a peer is a trusted proxy of the machine or of the site (`RoutedSite.trusted`). */
export function isTrustedFor(peer: Peer, trusted: AddressSet | null | undefined): boolean {
  return peer.isTrusted || (trusted?.has(peer.address) ?? false);
}

/** Proxies in front of guard that are trusted to name the client's address. */
export class TrustedProxies {
  #addresses = AddressSet.empty;
  #lines: readonly string[] = [];
  #unixPeer: Peer = { address: UNIX_ADDRESS, client: UNIX_ADDRESS, isTrusted: false, scheme: 'http', headerBytes: 0 };

  /** @param lines addresses, ranges and the word `unix`, as in the configuration */
  constructor(lines: readonly string[]) {
    this.replace(lines);
  }

  get addresses(): AddressSet {
    return this.#addresses;
  }

  /** The other end of a connection over guard's Unix socket. */
  get unixPeer(): Peer {
    return this.#unixPeer;
  }

  /** @returns whether there are other ones now; then open connections must be compared with them (`toCurrent`) */
  replace(lines: readonly string[]): boolean {
    if (lines.length === this.#lines.length && lines.every((line, at) => line === this.#lines[at])) return false;
    this.#lines = lines;
    this.#addresses = toProxyAddresses(lines);
    this.#unixPeer = { ...this.#unixPeer, isTrusted: lines.includes(UNIX_WORD) };
    return true;
  }

  /**
   * Must be called when a connection is accepted.
   *
   * @param isUnix whether guard listens on a Unix socket
   * @returns null when the client has already reset the connection. Its bytes could still be read, but without an
   *   address for the rules, so such a connection must not be served.
   */
  readPeer(socket: Socket, isUnix: boolean): Peer | null {
    if (isUnix) return this.#unixPeer;
    const address = parseAddress(socket.remoteAddress ?? '');
    return address === null ? null : this.toPeer(address);
  }

  /**
   * Returns the peer of an open connection after the proxies were replaced: the same object when nothing has changed
   * for it, and null when the proxy that named its address in a PROXY header is no longer trusted.
   */
  toCurrent(peer: Peer): Peer | null {
    if (peer.headerFrom !== undefined && !this.#isTrusted(peer.headerFrom)) return null;
    const isTrusted = this.#isTrusted(peer.address);
    return isTrusted === peer.isTrusted ? peer : { ...peer, isTrusted };
  }

  #isTrusted(address: Address): boolean {
    return address === UNIX_ADDRESS ? this.#unixPeer.isTrusted : this.#addresses.has(address);
  }

  /** The other end of a connection that another process of guard has accepted; null when it can't be read. */
  toRelayedPeer(origin: {
    readonly address: string;
    readonly headerFrom: string | null;
    readonly scheme: Peer['scheme'];
  }): Peer | null {
    const address = readPeerAddress(origin.address);
    const headerFrom = origin.headerFrom === null ? undefined : readPeerAddress(origin.headerFrom);
    if (address === null || headerFrom === null) return null;
    const peer = address === UNIX_ADDRESS ? this.#unixPeer : this.toPeer(address);
    return { ...peer, scheme: origin.scheme, ...(headerFrom !== undefined && { headerFrom }) };
  }

  toPeer(address: Address): Peer {
    const client = toCarriedAddress(address);
    return { address, client, isTrusted: this.#isTrusted(address), scheme: 'http', headerBytes: 0 };
  }
}
