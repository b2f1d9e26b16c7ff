import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { VisitSink } from '../activity/visit.js';
import { findScheme } from '../http/client-address.js';
import { readSessionCookie } from '../http/session-cookies.js';
import type { Address } from '../lib/address.js';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/set-bounded.js';
import type { SessionCookieNames, SiteId } from '../site.js';
import { CRON_HEADER, isSignedCronRequest } from '../wordpress/signature.js';
import { isTrustedFor, type Peer, type TrustedProxies } from './peer.js';
import type { RoutedSite, SiteRouter } from './site-router.js';

export interface VisitContext {
  readonly visits: VisitSink;
  /** The peer of a connection that is open. */
  findPeer(socket: Socket): Peer | undefined;
  readonly router: Pick<SiteRouter, 'only'>;
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

/** What else is known of a request when its response is decided. */
export interface VisitFacts {
  readonly requestId?: string;
  /** Logins whose passwords were wrong; see `login-outcome`. */
  readonly failed?: readonly string[];
}

/** What is read of a request. */
export type RecordedRequest = Pick<IncomingMessage, 'url' | 'headers' | 'method'> & {
  readonly socket?: IncomingMessage['socket'];
};

/**
 * Records a request for the Activity Log once its response is decided. A request that belongs to no site is recorded for
 * the only site, if there is exactly one.
 *
 * @param status of the response
 * @param rule name of the rule that refused it, or null
 */
export function recordVisit(
  context: VisitContext,
  origin: VisitOrigin,
  request: RecordedRequest,
  status: number,
  rule: string | null,
  { requestId, failed }: VisitFacts = NO_FACTS,
): void {
  const { site, address } = origin;
  const { config } = site ?? context.router.only ?? NO_SITE;
  if (config === null) return;
  const target = request.url as string;
  const agent = (): string | null => request.headers['user-agent'] ?? null;
  const proof = rule === null ? request.headers[CRON_PROOF] : undefined;
  if (proof === undefined) {
    context.visits.add(config.id, {
      ...{ address, target, status, rule, agent },
      method: request.method ?? '',
      failedLogins: failed === undefined ? 0 : failed.length,
      tried: failed?.[0] ?? '',
      ...(requestId === undefined ? {} : { requestId }),
      referer: () => request.headers.referer ?? null,
      origin: () => toOrigin(context, origin, request),
    });
  } else {
    const call = { method: request.method ?? '', target };
    const isOwnCron = isSignedCronRequest(config.secret, proof, call, context.clock());
    context.visits.add(config.id, { address, target, status, rule, agent, isOwnCron });
  }
}

const NO_FACTS: VisitFacts = {};

/** Scheme and host that the client asked, or null. */
function toOrigin(
  { findPeer, trusted }: Pick<VisitContext, 'findPeer' | 'trusted'>,
  { host = '', scheme, site }: VisitOrigin,
  request: RecordedRequest,
): string | null {
  if (host === '') return null;
  if (scheme !== undefined) return `${scheme}://${host}`;
  const peer = request.socket && findPeer(request.socket);
  if (peer === undefined) return `http://${host}`;
  const asTrusted = { address: peer.address, isTrusted: isTrustedFor(peer, site?.trusted), scheme: peer.scheme };
  return `${findScheme(asTrusted, request.headers, site?.trusted ?? trusted.addresses)}://${host}`;
}

const CRON_PROOF = CRON_HEADER.toLowerCase();

const NO_SITE = { config: null };

/**
 * Records a request that Node's parser refused. Its target is known only if the unparsed bytes begin with a request line.
 *
 * @param piece bytes that the parser refused
 * @param status three digits and a text
 */
export function recordMalformedRequest(
  context: VisitContext,
  address: Address,
  piece: Buffer | undefined,
  status: string,
): void {
  const site = context.router.only;
  if (site === null) return;
  const line = piece?.toString('latin1', 0, LINE_BYTES) ?? '';
  const target = /^[A-Za-z]{1,20} (\S+)/.exec(line)?.[1] ?? NO_TARGET;
  const rule = `malformed:${status.slice(0, 3)}`;
  context.visits.add(site.config.id, { address, target, status: Number.parseInt(status, 10), rule, agent: () => null });
}

/** How many bytes of a malformed request are searched for a target. */
const LINE_BYTES = 1024;
/** Recorded in place of an unreadable target. */
const NO_TARGET = '-';

/** How long a session stays cached after WordPress has confirmed it, milliseconds. */
const SESSION_MS = 3600_000;
const MAX_SESSIONS = 10_000;

/**
 * Sessions that WordPress has confirmed, by cookie. Pages of wp-admin often abort requests before WordPress confirms the
 * session; if the same cookie was confirmed before, the client still counts as signed in, and the request does not appear
 * among anonymous visits. A forged cookie is never in the cache.
 */
export class SessionCache {
  readonly #until = new Map<string, number>();

  /** @param cookie header of a request whose session WordPress has confirmed */
  add(site: SiteId, cookie: string | undefined, names: SessionCookieNames, now: number): void {
    const session = toSessionKey(site, cookie, names);
    if (session !== null) setBounded(this.#until, session, now + SESSION_MS, MAX_SESSIONS);
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
