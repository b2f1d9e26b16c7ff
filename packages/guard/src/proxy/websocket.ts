import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { RawHeaders } from '../protections/protection.js';
import { isMember, readSignal } from '../wordpress/signature.js';
import { canonicalPath } from './canonical-path.js';
import type { ClientConnection } from './client-connection.js';
import { siblingTarget } from './decoy-target.js';
import { examine, type Pass } from './examine.js';
import type { GateDeps } from './gate-deps.js';
import { noteVisit } from './note-visit.js';
import { editAnswer } from './prepare-answer.js';
import { refusal } from './refuse.js';
import { type RequestFacts, requestFacts } from './request-facts.js';
import { requestHead } from './request-head.js';
import { forwardedHead } from './response-head.js';
import type { ResponseHead } from './upstream/response-parser.js';
import type { UpstreamConnection, UpstreamFailure, UpstreamHandler } from './upstream/upstream-connection.js';
import { FAILURE_PAGES, noteFailure } from './upstream-failures.js';
import { visitorFacts } from './visitor-facts.js';

/** Most bytes that a client may send behind its handshake before that is answered. */
const EARLY_BYTES = 64 * 1024;
/** Open WebSockets may be silent; that the other side has vanished shows by TCP keep-alive after this time, milliseconds. */
const KEEP_ALIVE_MS = 60_000;
/** How long one side of a WebSocket may stay open when the other has ended, milliseconds. */
const HALF_OPEN_MS = 5000;
/** Nothing counts what comes of a password in a handshake, so none is checked: a note that takes no bytes says so. */
const NO_PASSWORDS = { decoy: false, repeated: true } as const;

/**
 * Whether a request leaves HTTP: a WebSocket handshake (RFC 6455 section 4.1) that every rule lets pass. Any other
 * upgrade is ignored (RFC 9110 section 7.8): the request is answered like one that offers none, and so is a handshake
 * that is refused, has to do with logging in, or comes behind a request that is not answered yet.
 *
 * @returns what the rules said of it, or null
 */
export function acceptHandshake(
  deps: GateDeps,
  connection: ClientConnection | undefined,
  request: IncomingMessage,
): Pass | null {
  const { method, headers, httpVersion } = request;
  if (method !== 'GET' || httpVersion !== '1.1' || headers.upgrade?.toLowerCase() !== 'websocket') return null;
  if (connection === undefined || connection.isBusy) return null;
  const examined = examine(deps, request, connection.peer);
  if (examined.kind !== 'pass' || examined.road !== 'other' || examined.uri !== null) return null;
  return examined.facts.hasBasic ? null : examined;
}

/**
 * Passes a handshake on and, once WordPress's web server has agreed with 101, joins the two sockets. A refusal is passed
 * back and ends the connection. Until it is answered a handshake is a request like any other and takes one of the pool's
 * connections: WordPress makes a whole page for one that it does not understand.
 *
 * @param early bytes that came behind the head
 */
export function openWebSocket(
  deps: GateDeps,
  connection: ClientConnection,
  pass: Pass,
  request: IncomingMessage,
  early: Buffer,
): void {
  connection.becomeTunnel();
  const { socket: client } = connection;
  const { facts, site } = pass;
  deps.tunnels.watch(client, { site: site.config.id, facts, cut: () => client.destroy() });
  new Handshake(deps, connection, pass, request, early).start(pass.target, facts);
}

class Handshake implements UpstreamHandler {
  #upstream: UpstreamConnection | null = null;
  #requestId = '';
  #facts: RequestFacts;
  /** The client has got a part of the answer. */
  #started = false;
  #joined = false;
  #isChunked = false;
  /** The missing page beside the one that was asked for is being fetched. */
  #isDecoy = false;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  readonly #client: Socket;
  readonly #waiting = {
    use: (upstream: UpstreamConnection): void => this.#send(upstream),
    fail: (kind: UpstreamFailure, cause: unknown): void => this.onFailure(kind, cause),
  };
  #target = '';

  constructor(
    private readonly deps: GateDeps,
    private readonly connection: ClientConnection,
    private readonly pass: Pass,
    private readonly request: IncomingMessage,
    early: Buffer,
  ) {
    this.#facts = pass.facts;
    this.#client = connection.socket;
    const client = this.#client;
    if (early.length > 0) this.#keepEarly(early);
    client.on('data', this.#keepEarly);
    client.on('end', this.#leave);
    client.on('close', () => {
      if (this.#upstream !== null) this.#upstream.destroy();
      else this.pass.site.pool.leave(this.#waiting);
    });
    // A WebSocket may be silent for as long as it likes, but what is sent must be taken by the other side.
    client.on('timeout', () => {
      const isStuck = client.writableLength > 0 || (this.#joined && this.#upstream?.socket.writableLength !== 0);
      if (isStuck) client.destroy();
      else client.setTimeout(this.deps.idleMs);
    });
    client.setTimeout(deps.idleMs);
  }

  start(target: string, facts: RequestFacts): void {
    this.#target = target;
    this.#facts = facts;
    this.#requestId = this.deps.nextId();
    this.pass.site.pool.take(this.#waiting);
  }

  readonly #keepEarly = (piece: Buffer): void => {
    this.#early.push(piece);
    this.#earlyBytes += piece.length;
    if (this.#earlyBytes > EARLY_BYTES) this.#client.pause();
  };

  /** A client that leaves before the answer wants none. */
  readonly #leave = (): void => {
    this.#client.destroy();
  };

  #send(upstream: UpstreamConnection): void {
    const { deps, pass } = this;
    this.#upstream = upstream;
    const head = requestHead({
      method: 'GET',
      target: this.#target,
      rawHeaders: this.request.rawHeaders,
      visitor: visitorFacts(pass, this.#requestId, deps.clock(), null, NO_PASSWORDS),
      body: 'none',
      stopped: pass.policy.stopHeaders(this.#facts, deps.onFault),
      upstreamHost: pass.site.pool.host,
      upgrade: 'websocket',
    });
    upstream.send(head, this, { headRequest: false, expectsBody: false, timeoutMs: deps.timeoutMs });
  }

  onInformation(): void {}
  onDrain(): void {}

  onHead(head: ResponseHead): void {
    const { deps, pass, request } = this;
    const { headers, signal: value } = forwardedHead(head);
    const { config } = pass.site;
    const signal = readSignal(config.secret, value, this.#requestId);
    deps.onSignal(config, signal);
    if (signal.kind === 'ok' && signal.flags.includes('a')) {
      this.#upstream?.destroy();
      this.#upstream = null;
      this.#answerMissingPage();
      return;
    }
    if (!isMember(signal)) noteVisit(deps, pass, request, head.status, null);
    editAnswer(deps, pass, this.#facts, headers);
    this.#started = true;
    if (head.status === 101) {
      headers.push('Connection', 'Upgrade', 'Upgrade', 'websocket');
      this.#client.write(headText(head.status, head.reason, headers), 'latin1');
      return;
    }
    const hasBody = head.status !== 204 && head.status !== 304;
    this.#isChunked = hasBody && !hasHeader(headers, 'content-length');
    this.#client.write(closingHead(head.status, head.reason, headers, deps.clock(), this.#isChunked), 'latin1');
  }

  onBody(piece: Buffer): void {
    if (piece.length === 0) return;
    const client = this.#client;
    const upstream = this.#upstream?.socket;
    client.cork();
    if (this.#isChunked) client.write(`${piece.length.toString(16)}\r\n`, 'latin1');
    let more = client.write(piece);
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
    noteFailure(this.deps, this.pass.site.config, kind, cause, this.#requestId);
    if (this.#started) this.#client.destroy();
    else this.#refuse(FAILURE_PAGES[kind]);
  }

  /** WordPress would have sent an anonymous client to the hidden login: there is nothing here, then. */
  #answerMissingPage(): void {
    const { deps, pass } = this;
    const target = siblingTarget(pass.target, deps.random);
    const missing = canonicalPath(target);
    if (this.#isDecoy || !missing.ok) {
      this.#refuse('not-found');
      return;
    }
    this.#isDecoy = true;
    const { method, address, now } = pass.facts;
    const { path, query } = missing;
    const { paths } = pass.policy;
    this.start(target, requestFacts({ method, address, now, path, query, paths, credentials: pass.facts }));
  }

  #refuse(page: 'not-found' | (typeof FAILURE_PAGES)[UpstreamFailure]): void {
    const { deps, pass, request } = this;
    const { host, address, policy } = pass;
    const refused = { page, language: policy.language, host, address: address.text };
    const { accept } = request.headers;
    const answer = refusal({ ...refused, requestId: this.#requestId, time: deps.clock() }, accept);
    noteVisit(deps, pass, request, answer.status, null);
    policy.editHeaders(this.#facts, answer.headers, deps.onFault);
    const reason = STATUS_CODES[answer.status] ?? '';
    const head = closingHead(answer.status, reason, answer.headers, deps.clock(), false);
    this.connection.end(Buffer.concat([Buffer.from(head, 'latin1'), answer.body]));
  }

  #join(upstream: UpstreamConnection, rest: Buffer): void {
    const client = this.#client;
    const { socket } = upstream;
    this.#joined = true;
    this.pass.site.pool.letGo(upstream);
    client.removeListener('data', this.#keepEarly).removeListener('end', this.#leave);
    client.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setTimeout(0);
    socket.removeAllListeners('data');
    if (rest.length > 0) client.write(rest);
    for (const piece of this.#early.splice(0)) socket.write(piece);
    socket.on('close', () => this.connection.end());
    client.on('end', () => {
      const late = setTimeout(() => client.destroy(), HALF_OPEN_MS);
      client.once('close', () => clearTimeout(late));
    });
    socket.pipe(client);
    client.pipe(socket);
  }
}

/**
 * The head of an answer that ends the connection, written as Node's server writes it: a handshake at the hidden login is
 * answered by that server, and must look like one at any missing page.
 */
function closingHead(status: number, reason: string, headers: RawHeaders, now: number, chunked: boolean): string {
  const all = [...headers];
  if (!hasHeader(headers, 'date')) all.push('Date', new Date(now).toUTCString());
  all.push('Connection', 'close');
  if (chunked) all.push('Transfer-Encoding', 'chunked');
  return headText(status, reason, all);
}

function hasHeader(headers: RawHeaders, name: string): boolean {
  for (let i = 0; i < headers.length; i += 2) if (headers[i]?.toLowerCase() === name) return true;
  return false;
}

function headText(status: number, reason: string, headers: RawHeaders): string {
  let text = `HTTP/1.1 ${status} ${reason}\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}
