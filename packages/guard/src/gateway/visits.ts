import type { Socket } from 'node:net';
import type { VisitRecorder } from '../hooks.js';
import { findClient } from '../http/client-address.js';
import { readSessionCookie } from '../http/session-cookies.js';
import type { Address } from '../lib/address.js';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/collections.js';
import type { SessionCookieNames, SiteId } from '../site.js';
import { isTrustedFor, type Peer, type TrustedProxies } from './peer.js';
import type { RefusedBytes } from './raw-target.js';
import type { RoutedSite, SiteRouter } from './site-router.js';

export interface VisitContext {
  readonly visits: VisitRecorder;
  /** The peer of a connection that is open. */
  findPeer(socket: Socket): Peer | undefined;
  readonly router: Pick<SiteRouter, 'find' | 'only'>;
  readonly trusted: Pick<TrustedProxies, 'addresses'>;
  readonly clock: Clock;
}

/** Site and client of a request. */
export interface VisitOrigin {
  /** Null when no site has the host name, or the request could not be read. */
  readonly site: RoutedSite | null;
  readonly address: Address;
  /** Host as the client sent it; empty when it could not be read. */
  readonly host?: string;
  /** Known for allowed requests. */
  readonly scheme?: 'http' | 'https';
}

/**
 * Finds site and client of a request that no rule has evaluated, from the headers that name them.
 *
 * @param forwardedFor value of `X-Forwarded-For`, all header lines joined by commas
 * @returns `site` is null for a host that no site has, and for a quarantined site
 */
export function findOrigin(
  { router, trusted }: VisitContext,
  peer: Peer,
  { host, forwardedFor }: { readonly host: string | undefined; readonly forwardedFor: string | undefined },
): VisitOrigin {
  const found = host === undefined ? null : router.find(host);
  const site = found === null || 'quarantined' in found ? null : found;
  const proxies = site?.trusted ?? trusted.addresses;
  const isTrusted = isTrustedFor(peer, site?.trusted);
  if (!isTrusted) return { site, address: peer.client };
  return { site, address: findClient({ address: peer.address, isTrusted }, forwardedFor, proxies).address };
}

/** A request that Node's parser refused. */
export interface MalformedRequest extends RefusedBytes {
  /** Status of the response: three digits and a text. */
  readonly status: string;
}

/**
 * Records a request that Node's parser refused. Its target is known only if the unparsed bytes begin with a request
 * line. Behind a trusted proxy it is recorded only if those bytes name the client for which the proxy has sent it.
 */
export function recordMalformedRequest(context: VisitContext, peer: Peer, refused: MalformedRequest): void {
  const named = readRawHead(refused);
  const origin = findOrigin(context, peer, { host: named?.host, forwardedFor: named?.forwardedFor });
  const site = origin.site ?? context.router.only;
  if (site === null) return;
  if (isTrustedFor(peer, site.trusted) && named?.forwardedFor === undefined) return;
  const line = refused.rawPacket?.toString('latin1', 0, LINE_BYTES) ?? '';
  const target = /^[A-Za-z]{1,20} (\S+)/.exec(line)?.[1] ?? NO_TARGET;
  const rule = `malformed:${refused.status.slice(0, 3)}`;
  const status = Number.parseInt(refused.status, 10);
  context.visits.add(site.config.id, { address: origin.address, target, status, rule, agent: () => null });
}

/** The headers that attribute a malformed request to a site and a client; undefined when they are not reliable. */
interface RawHead {
  readonly host: string | undefined;
  readonly forwardedFor: string | undefined;
}

/**
 * Reads the headers from bytes that begin with a request line. A body may contain any text, so a fault in a body is no
 * evidence. A header that occurs twice is not used: the client may have hidden one of the two in another header's
 * value.
 */
function readRawHead({ code, rawPacket }: RefusedBytes): RawHead | null {
  if (rawPacket === undefined || code?.includes('CHUNK') === true) return null;
  const [head = ''] = rawPacket.toString('latin1', 0, HEAD_BYTES).split('\r\n\r\n', 1);
  if (!/^[A-Za-z]{1,20} /.test(head)) return null;
  const lines = `${head}\r\n`;
  return { host: readOnlyLine(lines, HOST_LINE), forwardedFor: readOnlyLine(lines, FORWARDED_LINE) };
}

/** A header line after any byte that some proxies and servers treat as a line end and others as part of a line. */
const HOST_LINE = /[\r\n\0][ \t]*host[ \t]*:[^\r\n]*/gi;
const FORWARDED_LINE = /[\r\n\0][ \t]*x-forwarded-for[ \t]*:[^\r\n]*/gi;

function readOnlyLine(head: string, pattern: RegExp): string | undefined {
  const [line, ...others] = head.match(pattern) ?? [];
  if (line === undefined || others.length > 0 || !head.includes(`\r${line}\r\n`)) return undefined;
  return line.startsWith('\n') ? line.slice(line.indexOf(':') + 1).trim() : undefined;
}

/** Number of bytes of a malformed request that are searched for headers: the default limit of a head. */
const HEAD_BYTES = 65_536;
/** Number of bytes of a malformed request that are searched for a target. */
const LINE_BYTES = 1024;
/** Recorded instead of an unreadable target. */
const NO_TARGET = '-';

/** How long a session stays cached after WordPress has confirmed it, milliseconds. */
const SESSION_MS = 3600_000;
const MAX_SESSIONS = 10_000;

/**
 * Sessions that WordPress has confirmed, by cookie. Pages of wp-admin often abort requests before WordPress confirms
 * the session. If the same cookie was confirmed before, the client still counts as signed in, and the request is not
 * listed among anonymous visits. A forged cookie is never in the cache.
 */
export class SessionCache {
  readonly #until = new Map<string, number>();

  /** @param onAdded called for each session that was not known, or not for long */
  constructor(private readonly onAdded: (key: string, until: number) => void = () => {}) {}

  /** @param cookie header of a request whose session WordPress has confirmed */
  add(site: SiteId, cookie: string | undefined, names: SessionCookieNames, now: number): void {
    const session = toSessionKey(site, cookie, names);
    if (session === null) return;
    const before = this.#until.get(session) ?? 0;
    this.addKey(session, now + SESSION_MS);
    // A minute is a small part of the time that it stays.
    if (now + SESSION_MS - before > 60_000) this.onAdded(session, now + SESSION_MS);
  }

  /** Adds a session that `onAdded` of another cache has got. */
  addKey(key: string, until: number): void {
    setBounded(this.#until, key, until, MAX_SESSIONS);
  }

  has(site: SiteId, cookie: string | undefined, names: SessionCookieNames, now: number): boolean {
    const session = toSessionKey(site, cookie, names);
    return session !== null && (this.#until.get(session) ?? 0) > now;
  }
}

function toSessionKey(site: SiteId, cookie: string | undefined, names: SessionCookieNames): string | null {
  const session = cookie === undefined ? null : readSessionCookie(cookie, names);
  return session === null ? null : `${site} ${session}`;
}
