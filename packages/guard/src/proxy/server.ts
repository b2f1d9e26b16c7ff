import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { VisitSink } from '../activity/visit.js';
import type { ApiHandler } from '../api/api-call.js';
import type { Config } from '../config.js';
import type { Address } from '../lib/address.js';
import { AddressSet } from '../lib/address-set.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { LoginGate } from '../login/login-gate.js';
import type { LivePolicy } from '../policy/live-policy.js';
import type { SiteConfig } from '../site.js';
import type { Signal } from '../wordpress/signature.js';
import { blockedLane } from './blocked-lane.js';
import { peerAddress } from './examine.js';
import type { GateDeps } from './gate-deps.js';
import { type GateObserver, noObserver } from './gate-observer.js';
import { handleRequest } from './handle-request.js';
import { handleUpgrade } from './handle-upgrade.js';
import { KnownMembers } from './known-members.js';
import { noteBlocked, noteMalformed, noteVisit } from './note-visit.js';
import { OpenTunnels } from './open-tunnels.js';
import { headWithoutWish, isPlainWish } from './plain-wish.js';
import { RefusalCounts } from './refusal-counts.js';
import { requestIds } from './request-id.js';
import { SiteRouter } from './site-router.js';

export interface GuardServerDeps {
  readonly config: Config;
  readonly live: LivePolicy;
  readonly api: ApiHandler;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly login: LoginGate;
  readonly visits: VisitSink;
  /** Nobody counts unless one is given. */
  readonly observer?: GateObserver;
  onSignal(site: SiteConfig, signal: Signal): void;
}

export interface GuardServer {
  /** Connections of visitors that are open. */
  readonly connections: number;
  listen(): Promise<{ host: string; port: number }>;
  /** Takes no new connections, lets running requests finish within `limits.shutdownSeconds`, then ends the rest. */
  close(): Promise<void>;
}

/** The door: an HTTP server whose every request goes through `handleRequest`. */
export function createGuardServer(parts: GuardServerDeps): GuardServer {
  const { config, live, api, logger, clock, login, visits, observer = noObserver, onSignal } = parts;
  const { limits } = config;
  const router = new SiteRouter(config);
  const refusals = new RefusalCounts(logger, observer);
  const onFault = (rule: string, cause: unknown): void => {
    logger.error({ event: 'rule-failed', rule, err: cause }, 'a rule failed');
  };
  const deps: GateDeps = {
    router,
    live,
    api,
    logger,
    clock,
    login,
    visits,
    random: Math.random,
    refusals,
    observer,
    onSignal,
    trusted: AddressSet.from(config.trustedProxies),
    trustedHeaders: new Set(config.trustedProxyHeaders),
    targetBytes: limits.targetBytes,
    timeoutMs: limits.upstreamSeconds * 1000,
    idleMs: limits.idleSeconds * 1000,
    nextId: requestIds(),
    onFault,
    tunnels: new OpenTunnels(live, onFault),
    members: new KnownMembers(),
  };
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerSeconds * 1000,
    // Whole uploads may take as long as they need; silence is what `watchBody` ends.
    requestTimeout: 0,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 65_000,
    noDelay: true,
    insecureHTTPParser: false,
    // Newer releases of Node ask, and read the body of a request whose wish is not heard by themselves.
    ...{ shouldUpgradeCallback: (request: IncomingMessage) => !isPlainWish(request) },
  });
  // Sets up the HTTP parser of a connection.
  const [accept] = server.listeners('connection') as [Accept];
  // Node would otherwise stop reading headers at 2,000 and drop the rest unseen.
  server.maxHeadersCount = 0;
  const onRequest = (request: IncomingMessage, response: ServerResponse, continueFirst: boolean): void => {
    const socket: Tracked = request.socket;
    if (socket[NO_MORE]) return;
    observer.requested();
    track(socket, response);
    watchBody(request, response, limits.idleSeconds * 1000);
    try {
      handleRequest(deps, request, response, continueFirst);
    } catch (cause) {
      // A mistake of ours costs this one visitor the connection, never the service.
      logger.error({ event: 'request-failed', err: cause }, 'a request could not be handled');
      socket.destroy();
    }
    if (!response.shouldKeepAlive) socket[NO_MORE] = true;
  };
  server.on('request', (request, response) => onRequest(request, response, false));
  server.on('checkContinue', (request, response) => onRequest(request, response, true));
  server.on('upgrade', (request, socket, head) => {
    // An answer to this one would come before that of an earlier request on the same connection.
    if (isBusy(socket as Tracked)) {
      socket.destroy();
      return;
    }
    // Read again it is counted like any other.
    if (isPlainWish(request)) {
      readAgain(server, accept, request, socket as Socket, head);
      return;
    }
    observer.requested();
    handleUpgrade(deps, request, socket, head);
  });
  server.on('connect', (request, socket) => {
    observer.requested();
    if (isBusy(socket as Tracked)) socket.destroy();
    else {
      const address = peerAddress(socket as Socket);
      if (!deps.trusted.has(address)) noteVisit(deps, { site: null, address }, request, 405, 'ambiguous:method');
      socket.end(rawAnswer('405 Method Not Allowed'));
    }
  });
  server.on('clientError', (error: ParserError, socket) => answerClientError(deps, error, socket as Socket));
  installBlockedLane(server, accept, deps, config);
  // Node's server does not know tunnels and blocked visitors, and waits for visitors who have not asked anything yet.
  const sockets = new Set<Tracked>();
  server.on('connection', (socket: Tracked) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  return {
    get connections() {
      return sockets.size;
    },
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host: config.listen.host, port: config.listen.port }, () => {
          server.removeListener('error', reject);
          const { address, port } = server.address() as AddressInfo;
          resolve({ host: address, port });
        });
      }),
    async close() {
      refusals.stop();
      router.close();
      const endIdle = (): void => {
        for (const socket of sockets) if (!isBusy(socket)) socket.destroy();
      };
      const sweep = setInterval(endIdle, 50);
      const late = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
        router.destroy();
      }, limits.shutdownSeconds * 1000);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      endIdle();
      await closed;
      clearInterval(sweep);
      clearTimeout(late);
      router.destroy();
    },
  };
}

type Accept = (this: Server, socket: Socket) => void;

/**
 * Lets Node's parser read a request once more, without the wish at which it stopped: it finds the body's end then, and
 * what follows it.
 *
 * @param early bytes behind the head
 */
function readAgain(server: Server, accept: Accept, request: IncomingMessage, socket: Socket, early: Buffer): void {
  accept.call(server, socket);
  socket.unshift(Buffer.concat([Buffer.from(headWithoutWish(request), 'latin1'), early]));
}

/** With one site, a connection's address alone tells whether it is blocked: such connections take the short way. */
function installBlockedLane(server: Server, accept: Accept, deps: GateDeps, config: Config): void {
  const site = deps.router.only;
  if (site === null) return;
  // Node's own listener is called for every connection that is not blocked.
  server.removeAllListeners('connection');
  const lane = {
    policy: () => deps.live.get(site.config.id),
    nextId: deps.nextId,
    now: deps.clock,
    headerBytes: config.limits.headerBytes,
    headerMs: config.limits.headerSeconds * 1000,
    onFault: deps.onFault,
    onRefused(address: Address, head: string) {
      deps.observer.requested();
      deps.refusals.add('blocked-visitor');
      noteBlocked(deps, address, head);
    },
  };
  server.on('connection', (socket: Socket) => {
    const { blocked } = lane.policy();
    const peer = blocked.size === 0 ? null : peerAddress(socket);
    if (peer === null || !blocked.has(peer) || deps.trusted.has(peer)) accept.call(server, socket);
    else {
      blockedLane(lane, socket, (freed, rest) => {
        accept.call(server, freed);
        freed.unshift(rest);
      });
    }
  });
}

/** Ends a connection whose request body falls silent; time that WordPress takes does not count. */
function watchBody(request: IncomingMessage, response: ServerResponse, idleMs: number): void {
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) return;
  const { socket } = request;
  socket.setTimeout(idleMs);
  request.on('timeout', () => {
    // Not read at the moment: WordPress is the slow one, and has a limit of its own.
    if (request.readableFlowing === true || request.socket.destroyed) socket.destroy();
    else socket.setTimeout(idleMs);
  });
  request.once('end', () => {
    // Else the answer waits for the visitor, who has as long for taking it.
    if (!response.writableNeedDrain) socket.setTimeout(0);
  });
  // Answered before the body was whole: the rest is thrown away, and has the same time to arrive in full.
  response.once('close', () => {
    if (request.complete || socket.destroyed) return;
    const late = setTimeout(() => request.complete || socket.destroy(), idleMs);
    socket.once('close', () => clearTimeout(late));
    request.once('end', () => clearTimeout(late));
  });
}

const UNDER_WAY = Symbol('requests under way');
/** Set once the last request on a connection has come: what follows it is not one (RFC 9112 section 9.6). */
const NO_MORE = Symbol('no more requests');
type Tracked = Socket & { [UNDER_WAY]?: number; [NO_MORE]?: true };

/** Counts requests under way on a connection, so that a broken later one never gets an answer in an earlier one's place. */
function track(socket: Tracked, response: ServerResponse): void {
  socket[UNDER_WAY] = (socket[UNDER_WAY] ?? 0) + 1;
  response.once('close', () => {
    socket[UNDER_WAY] = (socket[UNDER_WAY] ?? 1) - 1;
  });
}

function isBusy(socket: Tracked): boolean {
  return (socket[UNDER_WAY] ?? 0) > 0;
}

/** Requests that Node's parser refuses: broken, ambiguous or oversized heads and bodies. */
function answerClientError(deps: GateDeps, error: ParserError, socket: Tracked): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  deps.observer.requested();
  deps.refusals.add(`malformed:${error.code ?? 'unknown'}`);
  if (isBusy(socket)) {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  const address = peerAddress(socket);
  // Browsers open connections ahead and may never use them. Of a request that could not be read, nothing says for whom
  // a proxy sent it.
  if (socket.bytesRead > 0 && !deps.trusted.has(address)) noteMalformed(deps, address, error.rawPacket, status);
  socket.end(rawAnswer(status));
}

/** What Node says of a request that it can't parse. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

function rawAnswer(status: string): string {
  const body = `${status.slice(4)}\n`;
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${body.length}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`;
}
