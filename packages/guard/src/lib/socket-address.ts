import { toAuthority } from './address.js';

/** A TCP port. */
export interface TcpAddress {
  readonly host: string;
  readonly port: number;
}

/** A Unix domain socket. */
export interface UnixAddress {
  /** Absolute path of the socket file. */
  readonly path: string;
}

/** Address on which a server listens: a TCP port or a Unix domain socket. */
export type SocketAddress = TcpAddress | UnixAddress;

const UNIX = 'unix:';

/** The path of a socket file is part of a structure of fixed size: 104 bytes with a NUL on the smallest system. */
const MAX_PATH_BYTES = 103;

/** Parses the address of a Unix domain socket such as `unix:/run/guard.sock`. Null for any other text. */
export function parseUnixAddress(text: string): UnixAddress | null {
  const path = text.startsWith(UNIX) ? text.slice(UNIX.length) : '';
  if (!path.startsWith('/') || path.endsWith('/') || path.includes('\0')) return null;
  return Buffer.byteLength(path) > MAX_PATH_BYTES ? null : { path };
}

/** The address as text: `192.0.2.1:8080`, `[2001:db8::1]:8080` or `unix:/run/guard.sock`. */
export function printSocketAddress(address: SocketAddress): string {
  return 'path' in address ? `${UNIX}${address.path}` : toAuthority(address);
}

/** The URL of a server on that address, or the address as text for a Unix socket, which has no URL. */
export function toServerUrl(address: SocketAddress): string {
  return 'path' in address ? printSocketAddress(address) : `http://${toAuthority(address)}`;
}

/** The address of a configured upstream: an `http` origin or `unix:/path`. */
export function toUpstreamAddress(upstream: string): SocketAddress {
  const socket = parseUnixAddress(upstream);
  if (socket !== null) return socket;
  const url = new URL(upstream);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? 80 : Number(url.port) };
}

/** The authority of an upstream. A server on a Unix socket has no host name. */
export function toUpstreamAuthority(address: SocketAddress): string {
  return 'path' in address ? 'localhost' : toAuthority(address);
}
