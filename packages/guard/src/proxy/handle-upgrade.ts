import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isMember, readSignal } from '../wordpress/signature.js';
import { examine } from './examine.js';
import type { GateDeps } from './gate-deps.js';
import { handleRequest } from './handle-request.js';
import { noteVisit } from './note-visit.js';
import { editAnswer } from './prepare-answer.js';
import { requestHead } from './request-head.js';
import { tunnel } from './tunnel.js';
import { noteFailure } from './upstream-failures.js';
import { visitorFacts } from './visitor-facts.js';

/**
 * A request that asks for another protocol. Only WebSocket is passed on; any other wish (`h2c` above all, which would
 * hide further requests from every rule) is ignored and the request answered as if it had not been voiced
 * (RFC 9110 section 7.8); one with a body comes here without its wish (`plain-wish`). The rules are asked first in
 * either case.
 */
export function handleUpgrade(deps: GateDeps, request: IncomingMessage, client: Duplex, early: Buffer): void {
  client.on('error', () => client.destroy());
  const websocket = request.headers.upgrade?.toLowerCase() === 'websocket' && request.method === 'GET';
  const examined = websocket ? examine(deps, request) : null;
  // Whatever has to do with logging in is no WebSocket: it is answered like any other request.
  if (examined?.kind !== 'pass' || examined.road !== 'other' || examined.uri !== null || examined.facts.hasBasic) {
    handleRequest(deps, request, plainAnswer(deps, request, client), false);
    return;
  }
  const { site, policy, facts } = examined;
  const requestId = deps.nextId();
  let member = false;
  const note = (status: number): void => {
    if (!member) noteVisit(deps, examined, request, status, null);
  };
  deps.tunnels.watch(client, { site: site.config.id, facts, cut: () => client.destroy() });
  tunnel({
    client,
    socket: request.socket,
    early,
    pool: site.pool,
    head: () =>
      requestHead({
        method: 'GET',
        target: examined.target,
        rawHeaders: request.rawHeaders,
        visitor: visitorFacts(examined, requestId, deps.clock(), NO_PASSWORDS),
        body: 'none',
        stopped: policy.stopHeaders(facts, deps.onFault),
        upstreamHost: site.pool.host,
        upgrade: 'websocket',
      }),
    timeoutMs: deps.timeoutMs,
    idleMs: deps.idleMs,
    editHeaders: (headers) => editAnswer(deps, examined, facts, headers),
    onSignal(value) {
      const signal = readSignal(site.config.secret, value, requestId);
      member = isMember(signal);
      deps.onSignal(site.config, signal);
      if (signal.kind !== 'ok' || !signal.flags.includes('a')) return true;
      // WordPress would have sent a stranger to the hidden login: no WebSocket, then.
      handleRequest(deps, request, plainAnswer(deps, request, client), false);
      return false;
    },
    plainAnswer: () => plainAnswer(deps, request, client),
    onAnswered: note,
    onFailure(kind, cause, started) {
      noteFailure(deps, site.config, kind, cause, requestId);
      if (!started) {
        const [status, reason] = kind === 'busy' ? [503, 'Service Unavailable'] : [502, 'Bad Gateway'];
        note(status);
        client.write(`HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      }
      client.end();
    },
  });
}

/**
 * What answers a wish for another protocol without granting it. The connection ends with the answer. Node's server has
 * let go of the socket with the wish: that there is room again, and that nothing was taken for too long, must be passed
 * on by hand, or a long answer would never end.
 */
function plainAnswer(deps: GateDeps, request: IncomingMessage, client: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(client as Socket);
  client.on('drain', () => response.emit('drain'));
  // Newer releases of Node hand over a stream above the socket while a body is still to come: it has no timeouts.
  const { socket } = request;
  socket.on('timeout', () => socket.destroy());
  response.on('finish', () => {
    client.end();
    socket.setTimeout(deps.idleMs);
  });
  return response;
}

/** Nothing counts what comes of a password in a handshake, so none is checked. */
const NO_PASSWORDS = { login: 'refuse', why: 'busy' } as const;
