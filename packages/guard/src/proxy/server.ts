import { createServer, IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { VisitSink } from '../activity/visit.js';
import type { ApiHandler } from '../api/api-call.js';
import type { Config } from '../config.js';
import { AddressSet } from '../lib/address-set.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { LoginGate } from '../login/login-gate.js';
import type { LivePolicy } from '../policy/live-policy.js';
import type { SiteConfig } from '../site.js';
import type { Signal } from '../wordpress/signature.js';
import { type ClientConnection, ClientConnections } from './client-connection.js';
import type { Pass } from './examine.js';
import type { GateDeps } from './gate-deps.js';
import { type GateObserver, noObserver } from './gate-observer.js';
import { handleRequest } from './handle-request.js';
import { KnownMembers } from './known-members.js';
import { noteMalformed, noteVisit } from './note-visit.js';
import { OpenTunnels } from './open-tunnels.js';
import { RefusalCounts } from './refusal-counts.js';
import { requestIds } from './request-id.js';
import { SiteRouter } from './site-router.js';
import { acceptHandshake, openWebSocket } from './websocket.js';

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

/** An HTTP server whose every request goes through `handleRequest`. */
export function createGuardServer(parts: GuardServerDeps): GuardServer {
  const { config, live, api, logger, clock, login, visits, observer = noObserver, onSignal } = parts;
  const { limits } = config;
  const router = new SiteRouter(config);
  const refusals = new RefusalCounts(logger, observer);
  const onFault = (rule: string, cause: unknown): void => {
    logger.error({ event: 'rule-failed', rule, err: cause }, 'a rule failed');
  };
  const trusted = AddressSet.from(config.trustedProxies);
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
    trusted,
    trustedHeaders: new Set(config.trustedProxyHeaders),
    targetBytes: limits.targetBytes,
    timeoutMs: limits.upstreamSeconds * 1000,
    idleMs: limits.idleSeconds * 1000,
    nextId: requestIds(),
    onFault,
    tunnels: new OpenTunnels(live, onFault),
    members: new KnownMembers(),
  };
  const connections = new ClientConnections(limits, trusted, (limit) => refusals.add(`too-many-${limit}`));
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerSeconds * 1000,
    // Whole uploads may take as long as they need; silence is what the connection's idle time ends.
    requestTimeout: 0,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 65_000,
    noDelay: true,
    insecureHTTPParser: false,
    // Answers that Node gives by itself would not be in the log, and not be counted among those under way.
    requireHostHeader: false,
    IncomingMessage: requestClass((request) => acceptHandshake(deps, connections.get(request.socket), request)),
    // Newer releases of Node ask; older ones read the property.
    ...{ shouldUpgradeCallback: (request: GuardRequest) => request.upgrade },
  });
  // Node would otherwise stop reading headers at 2,000 and drop the rest unseen.
  server.maxHeadersCount = 0;
  const onRequest = (request: IncomingMessage, response: ServerResponse, continueFirst: boolean): void => {
    const connection = connections.get(request.socket);
    connection?.receive(request, response, () => {
      observer.requested();
      try {
        handleRequest(deps, request, response, connection.peer, continueFirst);
      } catch (cause) {
        // A mistake of ours costs this one visitor the connection, never the service.
        logger.error({ event: 'request-failed', err: cause }, 'a request could not be handled');
        connection.socket.destroy();
      }
    });
  };
  server.on('connection', (socket) => connections.accept(socket));
  server.on('timeout', (socket) => connections.get(socket)?.timedOut());
  server.on('request', (request, response) => onRequest(request, response, false));
  server.on('checkContinue', (request, response) => onRequest(request, response, true));
  server.on('checkExpectation', (request, response) => onRequest(request, response, false));
  server.on('upgrade', (request: GuardRequest, socket, early) => {
    const connection = connections.get(request.socket);
    if (connection === undefined || request.handshake === null) socket.destroy();
    else {
      observer.requested();
      openWebSocket(deps, connection, request.handshake, request, early);
    }
  });
  server.on('connect', (request, stream) => {
    const connection = connections.get(request.socket);
    // Newer releases of Node may hand over a stream above the socket.
    stream.on('error', () => request.socket.destroy());
    if (connection === undefined || connection.isBusy) {
      request.socket.destroy();
      return;
    }
    observer.requested();
    const address = connection.peer;
    if (!trusted.has(address)) noteVisit(deps, { site: null, address }, request, 405, 'ambiguous:method');
    connection.end(rawAnswer('405 Method Not Allowed'));
  });
  server.on('clientError', (error: ParserError, socket: Socket) => {
    const connection = connections.get(socket);
    if (connection === undefined || error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    // Bytes behind the last request of a connection are no request; that one is still answered (RFC 9112 section 9.6).
    else if (error.code === 'HPE_CLOSED_CONNECTION' && connection.isBusy) return;
    else answerClientError(deps, error, connection);
  });

  return {
    get connections() {
      return connections.size;
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
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      connections.drain();
      const late = setTimeout(() => {
        connections.destroy();
        router.destroy();
      }, limits.shutdownSeconds * 1000);
      await closed;
      clearTimeout(late);
      router.destroy();
    },
  };
}

/** A request as guard's server reads it. */
type GuardRequest = IncomingMessage & {
  /** Whether the request leaves HTTP. Node's types leave it out. */
  readonly upgrade: boolean;
  /** What the rules said of a WebSocket handshake that they let pass. */
  readonly handshake: Pass | null;
};

/**
 * Node 20 hands every request with an `Upgrade` header over as soon as anybody listens for upgrades, with no way to
 * decline one; what it asks is the request's own `upgrade`. Requests of this class say yes for CONNECT and for accepted
 * handshakes, so that all others stay with Node's server, which reads their bodies and answers them.
 */
function requestClass(accept: (request: IncomingMessage) => Pass | null): typeof IncomingMessage {
  return class extends IncomingMessage {
    offered = false;
    handshake: Pass | null = null;
    asked = false;

    get upgrade(): boolean {
      if (!this.offered || this.method === 'CONNECT') return this.offered;
      if (!this.asked) {
        this.asked = true;
        this.handshake = accept(this);
      }
      return this.handshake !== null;
    }

    set upgrade(offered: boolean | null) {
      // Set first by the constructor of Node, then by its parser, and then to what this class said itself.
      if (!this.asked) this.offered = offered === true;
    }
  };
}

/** Requests that Node's parser refuses: broken, ambiguous or oversized heads and bodies, and heads that do not end. */
function answerClientError(deps: GateDeps, error: ParserError, connection: ClientConnection): void {
  const { socket, peer } = connection;
  deps.observer.requested();
  deps.refusals.add(`malformed:${error.code ?? 'unknown'}`);
  // The refusal would be taken for the answer of an earlier request.
  if (connection.isBusy) {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  // Browsers open connections ahead and may never use them. Of a request that could not be read, nothing says for whom
  // a proxy sent it.
  if (socket.bytesRead > 0 && !deps.trusted.has(peer)) noteMalformed(deps, peer, error.rawPacket, status);
  connection.end(rawAnswer(status));
}

/** What Node says of a request that it can't parse. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

function rawAnswer(status: string): string {
  const body = `${status.slice(4)}\n`;
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${body.length}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`;
}
