import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { toCanonicalPath } from '../http/canonical-path.js';
import { toSiblingTarget } from '../http/decoy-target.js';
import type { RawHeaders } from '../http/headers.js';
import { type RequestFacts, toRequestFacts } from '../http/request-facts.js';
import { toClientKey } from '../lib/address.js';
import { isHarmlessResponse } from '../rules/harmless-response.js';
import { needsStaffCheck } from '../rules/snapshot.js';
import { toClientResponseHead, toUpstreamRequestHead } from '../upstream/message-head.js';
import type { ResponseHead } from '../upstream/response-parser.js';
import type { UpstreamConnection, UpstreamFailure, UpstreamHandler } from '../upstream/upstream-client.js';
import type { ConnectionWaiter, Reuse } from '../upstream/upstream-pool.js';
import { isSignedIn, readSignal } from '../wordpress/signature.js';
import type { ClientConnection } from './client-connection.js';
import type { GatewayContext } from './context.js';
import { type Allowed, evaluate } from './evaluate.js';
import { toForwardedClient } from './forwarded-client.js';
import { FAILURE_PAGES, reportUpstreamFailure } from './observer.js';
import { editForwardedHeaders, recordVisit, renderRefusal, toRefusalFormat } from './respond.js';

/** Maximum of bytes that a client may send between its handshake and the response. */
const EARLY_BYTES = 64 * 1024;
/** Open WebSockets may be inactive. TCP keep-alive after this time detects a vanished peer, milliseconds. */
const KEEP_ALIVE_MS = 60_000;
/** How long one side of a WebSocket may stay open after the other has ended, milliseconds. */
const HALF_OPEN_MS = 5000;
/**
 * Passwords in a handshake are not counted, so none may be checked. This note tells the connector without additional
 * bytes.
 */
const NO_PASSWORDS = { decoy: false, repeated: true } as const;

/**
 * Decides whether a request may upgrade: a WebSocket handshake (RFC 6455 section 4.1) that all rules allow. Any other
 * upgrade is ignored (RFC 9110 section 7.8): the request is handled like one without `Upgrade`. So is a handshake that
 * is refused, that concerns the login, or that follows a request without a response yet.
 *
 * @returns the decision that allows it, or null
 */
export function acceptHandshake(
  gateway: GatewayContext,
  connection: ClientConnection | undefined,
  request: IncomingMessage,
): Allowed | null {
  const { method, headers, httpVersion } = request;
  if (method !== 'GET' || httpVersion !== '1.1' || headers.upgrade?.toLowerCase() !== 'websocket') return null;
  if (connection === undefined || connection.isBusy) return null;
  const decision = evaluate(gateway, request, connection.peer);
  if (
    decision === 'health-check' ||
    decision.kind !== 'allow' ||
    decision.loginRoute !== 'other' ||
    decision.uri !== null
  )
    return null;
  // Proving a host takes time, and a handshake can't wait for it.
  if (!decision.isHostProved) return null;
  // A handshake does not tell the connector that the owner is away.
  if (needsStaffCheck(decision.openVerdict)) return null;
  return decision.facts.hasBasic ? null : decision;
}

/**
 * Forwards a handshake and joins the two sockets once WordPress's web server responds with 101. Any other response is
 * forwarded and ends the connection. Until the response, a handshake uses one of the pool's connections like any other
 * request, because WordPress renders a whole page for a handshake that it does not support.
 *
 * @param early bytes that arrived after the head
 */
export function openWebSocket(
  gateway: GatewayContext,
  connection: ClientConnection,
  allowed: Allowed,
  request: IncomingMessage,
  early: Buffer,
): void {
  connection.becomeTunnel();
  const { socket: client } = connection;
  const { facts, site } = allowed;
  gateway.tunnels.add(client, { site: site.config.id, facts, close: () => client.destroy() });
  new Handshake(gateway, connection, allowed, request, early).start(allowed.target, facts);
}

class Handshake implements UpstreamHandler {
  #upstream: UpstreamConnection | null = null;
  #requestId = '';
  #facts: RequestFacts;
  /** The client has received part of the response. */
  #started = false;
  #joined = false;
  #isChunked = false;
  /** The decoy is being fetched. */
  #isDecoy = false;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  readonly #client: Socket;
  readonly #waiting: ConnectionWaiter & { reuse: Reuse };
  #target = '';

  constructor(
    private readonly gateway: GatewayContext,
    private readonly connection: ClientConnection,
    private readonly allowed: Allowed,
    private readonly request: IncomingMessage,
    early: Buffer,
  ) {
    this.#facts = allowed.facts;
    this.#waiting = {
      from: toClientKey(allowed.address),
      reuse: 'any',
      use: (upstream) => this.#send(upstream),
      fail: (kind, cause) => this.onFailure(kind, cause),
    };
    this.#client = connection.socket;
    const client = this.#client;
    if (early.length > 0) this.#keepEarly(early);
    client.on('data', this.#keepEarly);
    client.on('end', this.#onClientEnd);
    client.on('close', () => {
      const { pool } = this.allowed.site;
      if (this.#upstream === null) pool.cancel(this.#waiting);
      else if (this.#started) this.#upstream.destroy();
      else pool.abandon(this.#upstream);
    });
    // A WebSocket may be inactive without limit, but each side must read what the other sends.
    client.on('timeout', () => {
      const isStuck = client.writableLength > 0 || (this.#joined && this.#upstream?.socket.writableLength !== 0);
      if (isStuck) client.destroy();
      else client.setTimeout(this.gateway.idleMs);
    });
    client.setTimeout(gateway.idleMs);
  }

  start(target: string, facts: RequestFacts): void {
    this.#target = target;
    this.#facts = facts;
    this.#requestId = this.gateway.createRequestId();
    this.allowed.site.pool.acquire(this.#waiting);
  }

  readonly #keepEarly = (chunk: Buffer): void => {
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    // Pausing would hide that the client has closed the connection. A client has to wait for the response (RFC 6455
    // section 4.1).
    if (this.#earlyBytes > EARLY_BYTES) this.#client.destroy();
  };

  /** A client that ends the connection before the response does not need it. */
  readonly #onClientEnd = (): void => {
    this.#client.destroy();
  };

  #send(upstream: UpstreamConnection): void {
    const { gateway, allowed } = this;
    this.#upstream = upstream;
    const head = toUpstreamRequestHead({
      method: 'GET',
      target: this.#target,
      rawHeaders: this.request.rawHeaders,
      visitor: toForwardedClient(allowed, this.#requestId, gateway.clock(), null, NO_PASSWORDS),
      body: 'none',
      stripped: allowed.snapshot.stripRequestHeaders(this.#facts, gateway.onRuleError),
      upgrade: 'websocket',
    });
    upstream.send(head, this, { headRequest: false, expectsBody: false, timeoutMs: allowed.site.timeoutMs });
  }

  onInformation(): void {}
  onDrain(): void {}

  onHead(head: ResponseHead): void {
    const { gateway, allowed, request } = this;
    const { headers, signal: value } = toClientResponseHead(head);
    const { config } = allowed.site;
    const signal = readSignal(config.secret, value, this.#requestId);
    gateway.onSignal(config, signal, allowed);
    if (signal.kind === 'ok' && signal.flags.includes('a')) {
      this.#upstream?.destroy();
      this.#upstream = null;
      this.#sendDecoy404();
      return;
    }
    const unless = allowed.openVerdict?.refusal.unless;
    const shown = { isFromWordPress: signal.kind === 'ok', isFromRegisteredUser: false, headers };
    if (head.status !== 101 && unless !== undefined && !isHarmlessResponse(unless, shown)) {
      this.#upstream?.destroy();
      this.#refuse('not-found');
      return;
    }
    if (!isSignedIn(signal)) recordVisit(gateway, allowed, request, head.status, null, { requestId: this.#requestId });
    editForwardedHeaders(gateway, allowed, this.#facts, headers);
    this.#started = true;
    if (head.status === 101) {
      headers.push('Connection', 'Upgrade', 'Upgrade', 'websocket');
      this.#client.write(toHeadText(head.status, head.reason, headers), 'latin1');
      return;
    }
    const hasBody = head.status !== 204 && head.status !== 304;
    this.#isChunked = hasBody && !hasHeader(headers, 'content-length');
    this.#client.write(toClosingHead(head.status, head.reason, headers, gateway.clock(), this.#isChunked), 'latin1');
  }

  onBody(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const client = this.#client;
    const upstream = this.#upstream?.socket;
    client.cork();
    if (this.#isChunked) client.write(`${chunk.length.toString(16)}\r\n`, 'latin1');
    let more = client.write(chunk);
    if (this.#isChunked) more = client.write('\r\n', 'latin1');
    client.uncork();
    if (more) return;
    upstream?.pause();
    client.once('drain', () => upstream?.resume());
  }

  onComplete(_reusable: boolean, rest: Buffer | null): void {
    const upstream = this.#upstream as UpstreamConnection;
    if (rest !== null) this.#join(upstream, rest);
    else {
      upstream.destroy();
      this.connection.end(this.#isChunked ? '0\r\n\r\n' : '');
    }
  }

  onFailure(kind: UpstreamFailure, cause: unknown): void {
    if (this.#client.destroyed) return;
    if (kind === 'closed' && this.#upstream?.isStale === true) {
      this.#upstream = null;
      this.#waiting.reuse = 'fresh';
      this.allowed.site.pool.acquire(this.#waiting);
      return;
    }
    reportUpstreamFailure(this.gateway, this.allowed.site.config, kind, cause, this.#requestId);
    if (this.#started) this.#client.destroy();
    else this.#refuse(FAILURE_PAGES[kind]);
  }

  /** WordPress would have redirected an anonymous client to the hidden login: responds with a decoy 404 instead. */
  #sendDecoy404(): void {
    const { gateway, allowed } = this;
    const target = toSiblingTarget(allowed.target, gateway.random);
    const missing = toCanonicalPath(target);
    if (this.#isDecoy || !missing.ok) {
      this.#refuse('not-found');
      return;
    }
    this.#isDecoy = true;
    const { method, address, now } = allowed.facts;
    const { path, query } = missing;
    const { paths } = allowed.snapshot;
    this.start(target, toRequestFacts({ method, address, now, path, query, paths, credentials: allowed.facts }));
  }

  #refuse(page: 'not-found' | (typeof FAILURE_PAGES)[UpstreamFailure]): void {
    const { gateway, allowed, request } = this;
    const { host, address, snapshot } = allowed;
    const refused = { page, language: snapshot.language, host, address: address.text };
    const format = toRefusalFormat(request.headers, this.#facts);
    const refusal = renderRefusal({ ...refused, requestId: this.#requestId, time: gateway.clock() }, format);
    recordVisit(gateway, allowed, request, refusal.status, null, { requestId: this.#requestId });
    snapshot.editResponseHeaders(this.#facts, refusal.headers, gateway.onRuleError);
    const reason = STATUS_CODES[refusal.status] ?? '';
    const head = toClosingHead(refusal.status, reason, refusal.headers, gateway.clock(), false);
    this.connection.end(Buffer.concat([Buffer.from(head, 'latin1'), refusal.body]));
  }

  #join(upstream: UpstreamConnection, rest: Buffer): void {
    const client = this.#client;
    const { socket } = upstream;
    this.#joined = true;
    this.allowed.site.pool.detach(upstream);
    client.removeListener('data', this.#keepEarly).removeListener('end', this.#onClientEnd);
    client.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setTimeout(0);
    socket.removeAllListeners('data');
    if (rest.length > 0) client.write(rest);
    for (const chunk of this.#early.splice(0)) socket.write(chunk);
    socket.on('close', () => this.connection.end());
    client.on('end', () => {
      const timeout = setTimeout(() => client.destroy(), HALF_OPEN_MS);
      client.once('close', () => clearTimeout(timeout));
    });
    socket.pipe(client);
    client.pipe(socket);
  }
}

/**
 * The head of a response that ends the connection, in the form that Node's server writes. Node's server handles a
 * handshake at the hidden login, and that response must look like one for any missing page.
 */
function toClosingHead(status: number, reason: string, headers: RawHeaders, now: number, chunked: boolean): string {
  const all = [...headers];
  if (!hasHeader(headers, 'date')) all.push('Date', new Date(now).toUTCString());
  all.push('Connection', 'close');
  if (chunked) all.push('Transfer-Encoding', 'chunked');
  return toHeadText(status, reason, all);
}

function hasHeader(headers: RawHeaders, name: string): boolean {
  for (let i = 0; i < headers.length; i += 2) if (headers[i]?.toLowerCase() === name) return true;
  return false;
}

function toHeadText(status: number, reason: string, headers: RawHeaders): string {
  let text = `HTTP/1.1 ${status} ${reason}\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}
