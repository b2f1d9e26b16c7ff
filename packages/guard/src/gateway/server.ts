import { createServer, IncomingMessage, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as pause, setImmediate as turnOver } from 'node:timers/promises';
import type { Config, LiveChange } from '../config/config.js';
import type { RequestHooks } from '../hooks.js';
import { joinLines } from '../http/client-address.js';
import { createRequestIds } from '../http/request-id.js';
import type { Clock } from '../lib/clock.js';
import { type ListeningDescriptor, listenOn } from '../lib/listen.js';
import type { Logger } from '../lib/logger.js';
import { createOwnAddresses } from '../lib/own-addresses.js';
import type { SocketAddress } from '../lib/socket-address.js';
import type { LiveSnapshots } from '../rules/snapshot.js';
import type { SiteConfig, SiteFacts, SiteId } from '../site.js';
import type { SharedAssets } from '../sites/shared-assets.js';
import type { PoolShare, UpstreamPool } from '../upstream/upstream-pool.js';
import type { ClientConnection } from './client-connection.js';
import { ClientConnectionTable, type SharedConnectionCount } from './connection-table.js';
import type { ApiHandler, GatewayContext } from './context.js';
import type { Allowed } from './evaluate.js';
import { handleRequest } from './handle-request.js';
import { type GatewayObserver, noopObserver, RefusalCounter } from './observer.js';
import { OpenClients, type OpenClientsReport } from './open-clients.js';
import { OpenTunnels } from './open-tunnels.js';
import { type Peer, TrustedProxies } from './peer.js';
import { ProxyProtocol } from './proxy-protocol.js';
import { findRawRequest, type RefusedBytes } from './raw-target.js';
import {
  type ForwardedLogin,
  type RelayedOrigin,
  type RelayRequest,
  type RelayTarget,
  readOrigin,
  takeRelayHeader,
} from './relay.js';
import { recordVisit } from './respond.js';
import { SiteRouter } from './site-router.js';
import { findOrigin, recordMalformedRequest, SessionCache } from './visits.js';
import { acceptHandshake, openWebSocket } from './websocket.js';

export interface GuardServerOptions {
  readonly config: Config;
  /**
   * A listening socket that a supervisor has opened, used instead of the configured address; see
   * `takeActivationSocket`.
   */
  readonly socket?: ListeningDescriptor | undefined;
  /**
   * Set in the primary process of several: instead of the configured address it listens on this socket, for requests
   * that worker processes relay.
   */
  readonly relayed?: RelayTarget;
  /** Set in a worker process: passes requests to the primary process. */
  readonly relay?: RelayRequest;
  /** Set in a worker process: counts the connections of clients of all processes. */
  readonly sharedConnections?: SharedConnectionCount;
  /** How several processes share the connections to a site. Default: this one is the only one. */
  readonly sharePool?: (site: SiteId) => PoolShare;
  /** Called for each session that was not known before. */
  onSession?(key: string, until: number): void;
  readonly snapshots: LiveSnapshots;
  readonly api: ApiHandler;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly hooks: RequestHooks;
  /** Default: none, so every request for an asset reaches the web server. */
  readonly sharedAssets?: SharedAssets;
  /** Default: never certain, so requests that only members may send are refused while the owner is away. */
  readonly staffChecks?: GatewayContext['staffChecks'];
  /** Default: every host passes. */
  readonly hosts?: GatewayContext['hosts'];
  /** Default: counts nothing. */
  readonly observer?: GatewayObserver;
  onSignal: GatewayContext['onSignal'];
  onGuarded?(site: SiteConfig): void;
  onNoUpstreamResponse?(site: SiteConfig): void;
  /** What the connector has reported of a site. Default: nothing. */
  facts?(site: SiteId): SiteFacts | null;
}

export interface Gateway {
  /** Open connections of clients. */
  readonly connections: number;
  /**
   * Serves the changed sites with these trusted proxies from the next request on, also on open connections: a proxy keeps
   * them for hours. Requests under way are not affected.
   */
  applyChange(change: LiveChange): void;
  /** Whether there are sites, and none of them can be served. */
  readonly servesNone: boolean;
  /** Requests that wait for a connection to WordPress. */
  readonly waiting: number;
  /** The peer of a connection that is open. */
  findPeer(socket: Socket): Peer | undefined;
  /** The connections to a served site, for requests that another process forwards. */
  findPool(site: SiteId): UpstreamPool | null;
  /** Closes a connection of a client; see `ClientConnectionTable.shed`. */
  shedConnection(address: string | null): void;
  /** Adds a session that another process has seen. */
  addSession(key: string, until: number): void;
  /** Accepted connections of clients, with details of the oldest ones. */
  readonly openClients: OpenClientsReport;
  /** @returns the address on which it listens */
  listen(): Promise<SocketAddress>;
  /**
   * Stops accepting connections, drains running requests for `limits.shutdownSeconds`, then aborts the rest. With a
   * supervisor's socket, later connections are queued for the next guard, so each open connection may first send one
   * more request within `limits.drainSeconds`; its response announces the end of the connection. New connections are
   * accepted meanwhile, and until the requests under way have ended, for half of `limits.shutdownSeconds` at most.
   */
  close(): Promise<void>;
}

/** Room for the header of a relayed request besides those of the client, bytes. */
const RELAY_HEADER_BYTES = 65_536;

/** Used instead of the path of a Unix socket that was passed as a descriptor, since Node can't read that path. */
const UNNAMED_SOCKET = { path: 'passed by the supervisor' };

/** An HTTP server that passes every request to `handleRequest`. */
export function createGateway(parts: GuardServerOptions): Gateway {
  const { config, snapshots, api, logger, clock, hooks, observer = noopObserver, onSignal } = parts;
  const { limits } = config;
  const router = new SiteRouter(config, parts.sharePool);
  const refusals = new RefusalCounter(logger, observer);
  const onRuleError = (rule: string, cause: unknown): void => {
    logger.error({ event: 'rule-failed', rule, err: cause }, 'a rule failed');
  };
  const trusted = new TrustedProxies(config.trustedProxies);
  let isUnix = false;
  const connections = new ClientConnectionTable(
    limits,
    (limit) => refusals.add(`too-many-${limit}`),
    parts.sharedConnections ?? null,
  );
  const gateway: GatewayContext = {
    router,
    snapshots: snapshots,
    api,
    logger,
    clock,
    ...hooks,
    sharedAssets: parts.sharedAssets ?? { find: async () => null },
    staffChecks: parts.staffChecks ?? {
      isCertain: () => false,
      confirm: async () => false,
      recordMissingSignal: () => {},
    },
    hosts: parts.hosts ?? { find: () => 'proved', check: async () => 'proved' },
    random: Math.random,
    refusals,
    observer,
    onSignal,
    onGuarded: (site) => parts.onGuarded?.(site),
    onNoUpstreamResponse: (site) => parts.onNoUpstreamResponse?.(site),
    trusted,
    relay: parts.relay ?? null,
    findPeer: (socket) => connections.get(socket)?.peer,
    trustedHeaders: new Set(config.trustedProxyHeaders),
    targetBytes: limits.targetBytes,
    facts: (site) => parts.facts?.(site) ?? null,
    ownAddresses: createOwnAddresses(clock),
    idleMs: limits.idleSeconds * 1000,
    createRequestId: createRequestIds(),
    onRuleError,
    tunnels: new OpenTunnels(snapshots, onRuleError),
    sessions: new SessionCache((key, until) => parts.onSession?.(key, until)),
  };
  const server = createServer({
    maxHeaderSize: limits.headerBytes + (parts.relayed === undefined ? 0 : RELAY_HEADER_BYTES),
    headersTimeout: limits.headerSeconds * 1000,
    // A whole upload has no time limit. The connection's idle timeout ends inactive ones.
    requestTimeout: 0,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 65_000,
    noDelay: true,
    insecureHTTPParser: false,
    // Otherwise Node itself would send some responses, which would be missing from the log and from the requests under
    // way.
    requireHostHeader: false,
    IncomingMessage: createRequestClass(
      (request) => {
        const connection = connections.get(request.socket);
        return connection?.isRelay === true ? null : acceptHandshake(gateway, connection, request);
      },
      (request) => connections.get(request.socket)?.isFull === true,
    ),
    // Newer releases of Node call this; older ones read the property.
    ...{ shouldUpgradeCallback: (request: GuardRequest) => request.upgrade },
  });
  // Node's own listeners, which read requests from a connection that is already in the table.
  const readers = server.listeners('connection') as ((socket: Socket) => void)[];
  // By default Node stops reading at 2,000 headers and drops the rest.
  server.maxHeadersCount = 0;
  // Node's own method would reset idle connections whose client is still sending.
  server.closeIdleConnections = () => {};
  const onRequest = (request: IncomingMessage, response: ServerResponse, continueFirst: boolean): void => {
    const connection = connections.get(request.socket);
    // A client can't send this header: guard alone knows who is connected.
    const relayed = takeRelayHeader(request);
    connection?.receive(request, response, () => {
      let forwarded: ForwardedLogin | null = null;
      if (!connection.isRelay) observer.requested();
      else {
        const origin = readRelayedOrigin(connection, request, relayed);
        if (origin === null) {
          connection.abort();
          return;
        }
        forwarded = origin.forwarded;
      }
      try {
        handleRequest(gateway, request, response, connection.peer, { expectsContinue: continueFirst, forwarded });
      } catch (cause) {
        // A defect in guard must cost only this client's connection, not end the service.
        logger.error({ event: 'request-failed', err: cause }, 'a request could not be handled');
        connection.socket.destroy();
      }
    });
  };
  const readPeer = (socket: Socket): Peer | null => {
    const peer = trusted.readPeer(socket, isUnix);
    if (peer === null) refusals.add('no-address');
    return peer;
  };
  const readRelayedOrigin = (
    connection: ClientConnection,
    request: IncomingMessage,
    header: string | undefined,
  ): RelayedOrigin | null => {
    const origin = readOrigin(parts.relayed?.key ?? '', header);
    const peer = origin === null ? null : trusted.toRelayedPeer(origin);
    if (origin === null || peer === null) {
      logger.error({ event: 'relayed-request-refused' }, 'A request on the socket of the processes is not theirs.');
      return null;
    }
    connection.peer = peer;
    request.httpVersion = origin.httpVersion;
    return origin;
  };
  const proxies = new ProxyProtocol({
    trusted,
    timeoutMs: limits.headerSeconds * 1000,
    readPeer,
    onAccepted: (socket, peer) => connections.accept(socket, peer),
    onRefused(fault, { address }) {
      refusals.add(`proxy-header:${fault}`);
      logger.debug({ event: 'proxy-header-refused', fault, address: address.text }, 'no valid PROXY header');
    },
  });
  if (parts.relayed !== undefined) {
    server.on('connection', (socket) => connections.accept(socket, trusted.unixPeer, true));
  } else if (config.proxyProtocol) proxies.attach(server);
  else {
    server.on('connection', (socket) => {
      const peer = readPeer(socket);
      if (peer === null) socket.destroy();
      else connections.accept(socket, peer);
    });
  }
  const readAgainOrRefuse = (error: ParserError, connection: ClientConnection): void => {
    const request = findRawRequest(error);
    if (request === null || (connection.isFull && !connection.isBusy)) {
      refuseMalformedRequest(gateway, error, connection);
    } else if (connection.isBusy) {
      // The parser has failed, and a response under way belongs to it. The client may send the request again.
      connection.becomeLast();
      connection.ignore(request.chunk.length);
    } else {
      const stream = connections.readAgain(connection, request);
      for (const read of readers) read.call(server, stream);
    }
  };
  server.on('timeout', (socket) => connections.get(socket)?.onTimeout());
  server.on('request', (request, response) => onRequest(request, response, false));
  server.on('checkContinue', (request, response) => onRequest(request, response, true));
  server.on('checkExpectation', (request, response) => onRequest(request, response, false));
  server.on('upgrade', (request: GuardRequest, socket, early) => {
    const connection = connections.get(request.socket);
    if (connection !== undefined && request.isDropped) {
      // Newer releases of Node may pass a stream above the socket.
      if (socket !== connection.socket) socket.on('error', () => connection.socket.destroy());
      connection.ignoreInput(early);
    } else if (connection === undefined || request.handshake === null) socket.destroy();
    else {
      observer.requested();
      openWebSocket(gateway, connection, request.handshake, request, early);
    }
  });
  server.on('connect', (request, stream) => {
    const connection = connections.get(request.socket);
    // Newer releases of Node may pass a stream above the socket.
    stream.on('error', () => request.socket.destroy());
    if (connection === undefined || connection.isBusy) {
      if (connection === undefined) request.socket.destroy();
      else connection.abort();
      return;
    }
    observer.requested();
    const { host, 'x-forwarded-for': forwardedFor } = request.headers;
    const origin = findOrigin(gateway, connection.peer, { host, forwardedFor: joinLines(forwardedFor) });
    recordVisit(gateway, origin, request, 405, 'ambiguous:method');
    connection.end(toRawResponse('405 Method Not Allowed'));
  });
  server.on('clientError', (error: ParserError, socket: Socket) => {
    const connection = connections.get(socket);
    // A parser that failed at a raw byte still enforces its timeouts, although another one reads the connection now.
    if (connection !== undefined && connection.socket !== socket) return;
    if (connection === undefined || error.code === 'ECONNRESET') socket.destroy();
    // The client may not have read its last response yet.
    else if (connection.isEnding) connection.ignore(error.rawPacket?.length ?? 0);
    else if (!socket.writable) socket.destroy();
    // Bytes after the last request of a connection are ignored. That request still gets its response (RFC 9112 section
    // 9.6).
    else if (connection.isBusy && isAfterLast(error, connection)) connection.ignore(error.rawPacket?.length ?? 0);
    else readAgainOrRefuse(error, connection);
  });

  const open = new OpenClients(server, clock);
  const reportOpen = () => open.report((socket) => connections.get(socket));

  return {
    get openClients() {
      return reportOpen();
    },
    get connections() {
      return connections.size;
    },
    get servesNone() {
      return router.servesNone;
    },
    get waiting() {
      return router.waiting;
    },
    findPeer: gateway.findPeer,
    findPool: (site) => router.findServed(site)?.pool ?? null,
    shedConnection: (address) => connections.shed(address),
    addSession: (key, until) => gateway.sessions.addKey(key, until),
    async listen() {
      const bound = await listenOn(server, parts.relayed ?? parts.socket ?? config.listen);
      const address = bound ?? ('path' in config.listen ? config.listen : UNNAMED_SOCKET);
      isUnix = 'path' in address;
      return address;
    },
    applyChange(change) {
      if (trusted.replace(change.trustedProxies)) connections.updatePeers((peer) => trusted.toCurrent(peer));
      router.applyChange(change);
    },
    async close() {
      const shutdownMs = limits.shutdownSeconds * 1000;
      const drainMs = parts.socket === undefined ? 0 : limits.drainSeconds * 1000;
      let usedMs = 0;
      // Also without a drain: a connection whose request ends before the others are drained must not be reset.
      const earlier = connections.announceEnd();
      if (drainMs > 0) {
        await settledWithin(drainMs, earlier.closed);
        await readArrived();
        earlier.drain();
        gateway.tunnels.closeAll();
        // New clients are served until then; otherwise one slow download would stop them all.
        usedMs += await settledWithin(shutdownMs / 2, earlier.closed);
      }
      // The `close` of Node's HTTP server would stop its timeouts of incomplete requests at once.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      // The first requests of connections that were just accepted may be on their way.
      if (drainMs > 0) usedMs += await settledWithin(Math.min(drainMs, shutdownMs / 2), closed);
      await readArrived();
      // Stops Node's own timeouts of open connections.
      server.close(() => {});
      refusals.stop();
      connections.stop();
      router.close();
      proxies.destroy();
      connections.drain();
      gateway.tunnels.closeAll();
      const timer = setTimeout(() => {
        const { shutdownSeconds: seconds } = limits;
        logger.warn(
          { event: 'shutdown-cut-requests', seconds, clients: reportOpen(), waitingForWordPress: router.waiting },
          'Requests did not end within limits.shutdownSeconds; they are cut.',
        );
        connections.destroy();
        router.destroy();
      }, shutdownMs - usedMs);
      await closed;
      clearTimeout(timer);
      router.destroy();
    },
  };
}

/** Waits until a promise resolves, or for `ms`. @returns the time that this took, milliseconds */
async function settledWithin(ms: number, promise: Promise<unknown>): Promise<number> {
  const from = performance.now();
  const settled = new AbortController();
  await Promise.race([promise, pause(ms, undefined, { signal: settled.signal }).catch(() => undefined)]);
  settled.abort();
  return Math.min(ms, performance.now() - from);
}

/** Reads the requests that the kernel already has: the event loop may have been held up. */
async function readArrived(): Promise<void> {
  // The first one may belong to the present turn of the event loop.
  for (let turn = 0; turn < 2; turn++) await turnOver();
}

/** A request as guard's server reads it. */
type GuardRequest = IncomingMessage & {
  /** Whether the request switches protocols. Missing in Node's types. */
  readonly upgrade: boolean;
  /** Decision on an accepted WebSocket handshake; null for any other request. */
  readonly handshake: Allowed | null;
  /** Whether it arrived when the connection was full. */
  readonly isDropped: boolean;
};

/**
 * Creates the class of incoming requests. As soon as there is a listener for `upgrade`, Node 20 emits that event for
 * every request with an `Upgrade` header, and an upgrade can't be declined. Node checks the request's property
 * `upgrade`. In this class it is true for CONNECT and accepted handshakes, so that Node handles all other requests as
 * usual. It is also true for requests that are dropped, because an upgrade makes Node's parser release the connection.
 * Otherwise the parser would continue to create a request for every few bytes.
 */
function createRequestClass(
  accept: (request: IncomingMessage) => Allowed | null,
  isFull: (request: IncomingMessage) => boolean,
): typeof IncomingMessage {
  return class extends IncomingMessage {
    offered = false;
    handshake: Allowed | null = null;
    isDropped = false;
    isEvaluated = false;

    get upgrade(): boolean {
      if (!this.isEvaluated) {
        this.isEvaluated = true;
        this.isDropped = isFull(this);
        if (this.offered && !this.isDropped && this.method !== 'CONNECT') this.handshake = accept(this);
      }
      return this.isDropped || this.handshake !== null || (this.offered && this.method === 'CONNECT');
    }

    set upgrade(offered: boolean | null) {
      // Node's constructor sets it first, then its parser. Later Node assigns the value that the getter returned.
      if (!this.isEvaluated) this.offered = offered === true;
    }
  };
}

/** Refuses what Node's parser cannot read: malformed, ambiguous or oversized heads and bodies, and incomplete heads. */
function refuseMalformedRequest(gateway: GatewayContext, error: ParserError, connection: ClientConnection): void {
  const { socket, peer } = connection;
  gateway.observer.requested();
  gateway.refusals.add(`malformed:${error.code ?? 'unknown'}`);
  // The client would take the refusal for the response to an earlier request.
  if (connection.isBusy) {
    connection.abort();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  // Browsers open spare connections that they may never use.
  if (socket.bytesRead > peer.headerBytes) {
    const { code, rawPacket } = error;
    recordMalformedRequest(gateway, peer, { code, rawPacket, status });
  }
  connection.end(toRawResponse(status));
}

/** Whether bytes arrived after the last request of a connection, or a raw target after a full queue. */
function isAfterLast({ code }: ParserError, connection: ClientConnection): boolean {
  return code === 'HPE_CLOSED_CONNECTION' || (code === 'HPE_INVALID_URL' && connection.isFull);
}

/** Node's error for a request that it can't parse. */
type ParserError = NodeJS.ErrnoException & RefusedBytes;

function toRawResponse(status: string): string {
  const body = `${status.slice(4)}\n`;
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${body.length}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`;
}
