import type { IncomingMessage, ServerResponse } from 'node:http';
import { isEventStream, type RawHeaders } from '../http/headers.js';
import { type Address, toClientKey } from '../lib/address.js';
import { endResponse, type PendingWrite, scheduleWrite } from './batched-writes.js';
import {
  type BodyFraming,
  type ForwardedClient,
  readBodyFraming,
  toClientResponseHead,
  toUpstreamRequestHead,
} from './message-head.js';
import { awaitUpload, sendBody } from './request-body.js';
import type { ResponseHead } from './response-parser.js';
import type { UpstreamConnection, UpstreamFailure, UpstreamHandler } from './upstream-client.js';
import type { ConnectionWaiter, Reuse, UpstreamPool } from './upstream-pool.js';

/** Logged when the client closed the connection before the response; the same number as nginx. */
export const CLIENT_CLOSED_REQUEST = 499;

export interface ForwardOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly pool: UpstreamPool;
  /** Client address for which slow uploads and downloads are counted. */
  readonly address: Address;
  readonly target: string;
  /** Called when the request is sent: it may have been queued for long, and WordPress refuses an old signature. */
  toForwardedClient(): ForwardedClient;
  /** Lower-case names of request headers to omit, or null. */
  readonly strippedHeaders: ReadonlySet<string> | null;
  readonly timeoutMs: number;
  /** Longest time without progress of the client, milliseconds. */
  readonly idleMs: number;
  /** The client waits for `100 Continue` before sending the body (RFC 9110 section 10.1.1). */
  readonly expectsContinue: boolean;
  /** Changes the headers of the response in place. */
  editHeaders(headers: RawHeaders): void;
  onSignal(signal: string | undefined): void;
  /** Status of WordPress's response, or `CLIENT_CLOSED_REQUEST` when the client closed the connection before it. */
  onResponse(status: number): void;
  /** Called when the response is an event stream, which may never end. */
  readonly onStream?: () => void;
  readonly handler: ResponseHandler;
  /** Omits the body, because WordPress received it with an earlier request for the same client request. */
  readonly withoutBody?: boolean;
  /** WordPress sent no complete response. `started`: the client has already received a part of it. */
  onFailure(kind: UpstreamFailure, cause: unknown, started: boolean): void;
}

/**
 * Forwards a request to WordPress and its response back, both as streams. A request that may be repeated is sent again,
 * once and on a fresh connection, when the web server closes a kept connection before the first byte of the response,
 * as it does after a long idle time and at each reload (RFC 9110 section 9.2.2, RFC 9112 section 9.3.1).
 */
export function forward(forwarding: ForwardOptions): void {
  new Exchange(forwarding).start();
}

/** RFC 9110 section 9.2.1, without TRACE, which guard refuses. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** One request and its response. */
class Exchange implements UpstreamHandler, PendingWrite {
  #connection: UpstreamConnection | null = null;
  #started = false;
  #over = false;
  #bodyStarted = false;
  #clientIsSlow = false;
  #requestSent = false;
  /**
   * The request was sent completely on a kept connection, and is sent again. The web server may have read the first
   * copy.
   */
  #isRepeated = false;
  #isClientClosed = false;
  #headSeen = false;
  /** Chunks of the body of a response that is held back; null when none is. */
  #held: { readonly chunk: Buffer; readonly last: boolean }[] | null = null;
  #ready: Promise<void> | null = null;
  #lastChunk: Buffer | undefined;
  #stall: StallTimer | null = null;
  readonly #waiting: ConnectionWaiter & { reuse: Reuse };
  readonly #framing: BodyFraming;

  /** Stops waiting for the body and releases the upload permit. */
  #releaseUpload: () => void = () => {};

  constructor(private readonly f: ForwardOptions) {
    this.#framing = f.withoutBody === true ? 'none' : readBodyFraming(f.request);
    this.#waiting = {
      from: toClientKey(f.address),
      reuse: this.#mayRepeat() ? 'any' : 'young',
      use: (connection) => this.#send(connection),
      fail: (kind, cause) => this.onFailure(kind, cause),
    };
  }

  start(): void {
    const { request, response, pool } = this.f;
    response.on('close', () => this.#clientClosed());
    if (request.complete || this.#framing === 'none') pool.acquire(this.#waiting);
    else {
      this.#releaseUpload = awaitUpload(request, pool.uploads, this.#waiting.from, this.f.idleMs, {
        ready: () => pool.acquire(this.#waiting),
        refused: () => this.#refuseUpload(),
      });
    }
  }

  /** Called when too many bodies are queued, or this one has stalled and others are queued. */
  #refuseUpload(): void {
    if (this.#connection === null) this.f.pool.cancel(this.#waiting);
    else this.#connection.destroy();
    this.onFailure('busy', new Error('too many bodies are waiting for WordPress'));
  }

  #send(connection: UpstreamConnection): void {
    const { request, target, strippedHeaders } = this.f;
    this.#connection = connection;
    const body = this.#framing;
    const head = toUpstreamRequestHead({
      method: request.method as string,
      target,
      rawHeaders: request.rawHeaders,
      visitor: this.f.toForwardedClient(),
      body,
      stripped: strippedHeaders,
      upgrade: null,
    });
    connection.send(head, this, {
      headRequest: request.method === 'HEAD',
      expectsBody: body !== 'none',
      timeoutMs: this.f.timeoutMs,
    });
    this.#requestSent = body === 'none';
    if (body === 'none') return;
    if (this.f.expectsContinue) this.f.response.writeContinue();
    sendBody(request, connection, body, {
      onSent: () => {
        this.#requestSent = true;
        this.#releaseUpload();
      },
      onTooShort: (cause) => this.#fail(cause),
    });
  }

  onDrain(): void {
    this.f.request.resume();
  }

  onInformation(head: ResponseHead): void {
    if (head.status !== 103 || this.f.request.httpVersion === '1.0') return;
    const link: string[] = [];
    for (let i = 0; i < head.headers.length; i += 2) {
      if (head.headers[i]?.toLowerCase() === 'link') link.push(head.headers[i + 1] as string);
    }
    try {
      if (link.length > 0) this.f.response.writeEarlyHints({ link });
    } catch {
      // A hint that Node finds malformed must not fail the response.
    }
  }

  onHead(head: ResponseHead, complete: boolean): void {
    if (head.status === 101) {
      this.#fail(new Error('WordPress switched to a protocol that nobody asked for'));
      return;
    }
    const { headers, signal, login } = toClientResponseHead(head);
    this.f.onSignal(signal);
    if (signal !== undefined && this.#connection !== null) this.f.pool.recordResponse(this.#connection);
    this.#headSeen = true;
    const ready = this.f.handler.onLoginReport(login, head.status, headers);
    if (this.#isClientClosed) {
      this.#over = true;
      this.#connection?.destroy();
      this.f.onResponse(CLIENT_CLOSED_REQUEST);
    } else if (ready === null) this.#respond(head, headers, complete);
    else this.#holdBack(ready, () => this.#respond(head, headers, complete));
  }

  /** Holds a response back until `ready`. The socket is paused, so at most one read is buffered. */
  #holdBack(ready: Promise<void>, respond: () => void): void {
    this.#connection?.socket.pause();
    const held: { chunk: Buffer; last: boolean }[] = [];
    this.#held = held;
    this.#ready = this.#after(ready, () => {
      this.#held = null;
      if (this.#over) return;
      respond();
      for (const { chunk, last } of held) this.onBody(chunk, last);
      if (!this.#clientIsSlow) this.#connection?.socket.resume();
    });
  }

  /** Continues after a promise. A rejection, or an error in `next`, ends only this exchange. */
  #after(ready: Promise<void>, next: () => void): Promise<void> {
    return ready.then(next).catch((cause: unknown) => {
      this.#over = true;
      this.#connection?.destroy();
      this.f.onFailure('syntax', cause, true);
    });
  }

  #respond(head: ResponseHead, headers: RawHeaders, complete: boolean): void {
    const { response } = this.f;
    const replaced = this.f.handler.onHead(head.status, headers);
    if (replaced !== false) {
      this.#over = true;
      if (replaced === 'unread' && !complete) this.#connection?.destroy();
      return;
    }
    this.f.editHeaders(headers);
    try {
      response.writeHead(head.status, head.reason, headers);
    } catch (cause) {
      this.#fail(cause);
      return;
    }
    this.#started = true;
    this.f.onResponse(head.status);
    if (complete) this.#finish(undefined);
    else if (headers.length > 0 && isEventStream(headers)) {
      response.flushHeaders();
      this.f.onStream?.();
      this.#detach();
    }
  }

  onBody(chunk: Buffer, last: boolean): void {
    if (this.#over) return;
    if (this.#held !== null) {
      this.#held.push({ chunk, last });
      return;
    }
    if (last) {
      this.#finish(chunk);
      return;
    }
    this.#bodyStarted = true;
    if (!this.f.response.write(chunk)) this.#waitForClient();
  }

  onComplete(): void {
    // From here on another request may use the connection.
    this.#connection = null;
    this.#releaseUpload();
    // The response arrived before the end of the body. The remaining body is read and discarded, so that the client
    // reads the response.
    if (!this.f.request.complete) this.f.request.resume();
  }

  /** The response can't be forwarded. */
  #fail(cause: unknown): void {
    this.#connection?.destroy();
    this.onFailure('syntax', cause);
  }

  onFailure(kind: UpstreamFailure, cause: unknown): void {
    if (this.#over) return;
    if (kind === 'closed' && this.#mayResend()) {
      this.#connection = null;
      this.#requestSent = false;
      this.#isRepeated = true;
      this.#waiting.reuse = 'fresh';
      this.f.pool.acquire(this.#waiting);
      return;
    }
    if (this.#held !== null) {
      if (this.#ready !== null) void this.#after(this.#ready, () => this.onFailure(kind, cause));
      return;
    }
    this.#over = true;
    this.#releaseUpload();
    this.f.request.resume();
    const ready = this.#headSeen ? null : this.f.handler.onNoResponse(this.#sent(kind));
    if (this.#isClientClosed) {
      this.f.onResponse(CLIENT_CLOSED_REQUEST);
      return;
    }
    const report = (): void => this.f.onFailure(kind, cause, this.#started);
    if (ready === null) report();
    else void this.#after(ready, report);
  }

  /**
   * Whether the web server closed a kept connection at the moment when the request was sent. In general the server has
   * not read the request, so no credentials in it were checked. The exceptions are a server that crashed, was stopped
   * at once, or is configured to end such requests without a response (`return 444`): then one permit was used for two
   * checks. A client can't cause that.
   */
  #mayResend(): boolean {
    return this.#connection?.isStale === true && !this.#isClientClosed && this.#mayRepeat();
  }

  /**
   * Whether the request may be sent twice: its method is safe, or the client has marked it with `Idempotency-Key`
   * (draft-ietf-httpapi-idempotency-key-header). A POST or a request with a body is never repeated.
   */
  #mayRepeat(): boolean {
    const { method = '', headers } = this.f.request;
    const isMarked = headers['idempotency-key'] !== undefined && method !== 'POST';
    return (SAFE_METHODS.has(method) || isMarked) && this.#framing === 'none';
  }

  #finish(chunk: Buffer | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#lastChunk = chunk;
    scheduleWrite(this);
  }

  /** Writes the end of the response at the end of the turn of the event loop. */
  sendNow(): void {
    const { response } = this.f;
    const chunk = this.#lastChunk;
    if (response.destroyed) return;
    try {
      endResponse(response, chunk, !this.#bodyStarted);
    } catch (cause) {
      this.f.onFailure('syntax', cause, true);
    }
  }

  #waitForClient(): void {
    if (this.#clientIsSlow) return;
    this.#clientIsSlow = true;
    const upstream = this.#connection?.socket;
    upstream?.pause();
    this.#stall ??= new StallTimer(() => this.#detach());
    this.#stall.start();
    this.f.response.once('drain', () => {
      this.#stall?.stop();
      this.#clientIsSlow = false;
      if (this.#over) return;
      // So far guard has waited for the client. The timeout for WordPress begins here.
      upstream?.setTimeout(this.f.timeoutMs);
      upstream?.resume();
    });
  }

  /** Removes a response that is read slowly, or never ends, from the pool; ends it when there are too many. */
  #detach(): void {
    if (this.#over || this.#connection === null) return;
    const { pool, response } = this.f;
    const end = (): void => void response.destroy();
    if (!pool.detachSlowDownload(this.#connection, this.#waiting.from, end)) end();
  }

  /** The client has closed the connection or has the complete response. */
  #clientClosed(): void {
    this.#stall?.stop();
    this.#releaseUpload();
    if (this.#over) return;
    if (this.f.handler.outlivesClient && this.#requestSent && !this.#headSeen) {
      this.#isClientClosed = true;
      if (this.#connection !== null) this.f.pool.recordLeft(this.#connection);
      return;
    }
    this.#over = true;
    if (!this.#headSeen) {
      void this.f.handler.onNoResponse(this.#sent('closed'));
      this.f.onResponse(CLIENT_CLOSED_REQUEST);
    } else if (this.#held !== null) this.f.onResponse(CLIENT_CLOSED_REQUEST);
    if (this.#connection === null) this.f.pool.cancel(this.#waiting);
    else if (this.#requestSent && !this.#headSeen) this.f.pool.abandon(this.#connection);
    else this.#connection.destroy();
  }

  #sent(failure: UpstreamFailure): 'nothing' | 'part' | 'whole' {
    // A request that may be repeated has no body, so its first copy was sent completely.
    if (this.#isRepeated) return 'whole';
    if (this.#connection === null || failure === 'connect') return 'nothing';
    return this.#requestSent ? 'whole' : 'part';
  }
}

/**
 * Handles the head of the response. Each exchange calls either `onLoginReport` or `onNoResponse`, even after the client
 * has closed the connection.
 */
export interface ResponseHandler {
  /**
   * Whether the exchange continues to the response head after the client has left, once WordPress has the whole
   * request.
   */
  readonly outlivesClient: boolean;
  /**
   * Called when the head of the response has arrived.
   *
   * @param login the connector's login report
   * @param headers of the response, as WordPress sent them
   * @returns a promise that delays the response, or null; it must not reject
   */
  onLoginReport(login: string | undefined, status: number, headers: RawHeaders): Promise<void> | null;
  /**
   * Called before the head is sent. May add headers.
   *
   * @returns true when the client gets another response instead; `unread` when WordPress's response is a file, whose
   *   rest is not read
   */
  onHead(status: number, headers: RawHeaders): boolean | 'unread';
  /**
   * Called when no head will arrive.
   *
   * @param sent how much of the request WordPress's web server may have received
   * @returns a promise that delays the client's response, or null; it must not reject
   */
  onNoResponse(sent: 'nothing' | 'part' | 'whole'): Promise<void> | null;
}

/** Total time for which a client may stall a response before the download counts as slow, milliseconds. */
const SLOW_MS = 1000;

/** Adds up the time in which a client reads nothing, so that many short stalls count like one long stall. */
export class StallTimer {
  #remainingMs = SLOW_MS;
  #since = 0;
  #slow = false;
  #timer: NodeJS.Timeout | null = null;

  /** @param onSlow called once, when the limit is reached */
  constructor(private readonly onSlow: () => void) {}

  start(): void {
    if (this.#slow) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => {
      this.#slow = true;
      this.onSlow();
    }, this.#remainingMs).unref();
  }

  /** Called when the client reads again, or the exchange has ended. */
  stop(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#remainingMs = Math.max(0, this.#remainingMs - (performance.now() - this.#since));
  }
}
