import type { IncomingMessage, ServerResponse } from 'node:http';
import { CLOSED_EARLY } from '../activity/visit.js';
import type { Address } from '../lib/address.js';
import { addressKey } from '../login/address-key.js';
import type { RawHeaders } from '../protections/protection.js';
import { awaitBody } from './await-body.js';
import { isEventStream } from './event-stream.js';
import type { ExchangeWatch } from './exchange-watch.js';
import { LagWatch } from './lag-watch.js';
import { requestHead, type VisitorFacts } from './request-head.js';
import { forwardedHead } from './response-head.js';
import { endAnswer } from './send-answer.js';
import { type BodyFraming, framingOf, sendBody } from './send-body.js';
import { type Ready, sendTogether } from './send-together.js';
import type { ResponseHead } from './upstream/response-parser.js';
import type { UpstreamConnection, UpstreamFailure, UpstreamHandler } from './upstream/upstream-connection.js';
import type { UpstreamPool } from './upstream/upstream-pool.js';

export interface Forwarding {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly pool: UpstreamPool;
  /** Whose it is: bodies and answers that take long are counted for it as failed log-ins are. */
  readonly address: Address;
  readonly target: string;
  /** Asked when the request goes out: it may have stood in line for long, and WordPress believes no old header. */
  visitor(): VisitorFacts;
  /** Lower-case names of request headers to leave out, or null. */
  readonly stopped: ReadonlySet<string> | null;
  readonly timeoutMs: number;
  /** Longest silence of the client, milliseconds. */
  readonly idleMs: number;
  /** The visitor waits for `100 Continue` before sending the body (RFC 9110 section 10.1.1). */
  readonly continueFirst: boolean;
  /** Changes the headers of the answer in place. */
  editHeaders(headers: RawHeaders): void;
  onSignal(signal: string | undefined): void;
  /** The visitor gets this answer of WordPress, or, with `CLOSED_EARLY`, went away before there was one. */
  onAnswered(status: number): void;
  /** The answer is a stream of events, which may never end. */
  readonly onStream?: () => void;
  readonly watch: ExchangeWatch;
  /** Leaves the body out: this is not the first request to WordPress for the same visitor's one. */
  readonly withoutBody?: boolean;
  /** WordPress gave no whole answer. `started`: the visitor already has a part of it. */
  onFailure(kind: UpstreamFailure, cause: unknown, started: boolean): void;
}

/** Passes a request on to WordPress and its answer back, both as streams. Nothing is ever sent twice. */
export function forward(forwarding: Forwarding): void {
  new Exchange(forwarding).start();
}

/** One request under way. */
class Exchange implements UpstreamHandler, Ready {
  #connection: UpstreamConnection | null = null;
  #started = false;
  #over = false;
  #bodyStarted = false;
  #visitorLags = false;
  #sentWhole = false;
  #gone = false;
  #headSeen = false;
  /** What has come of an answer that is kept back; null when none is. */
  #held: { readonly piece: Buffer; readonly last: boolean }[] | null = null;
  #ready: Promise<void> | null = null;
  #lastPiece: Buffer | undefined;
  #lag: LagWatch | null = null;
  readonly #waiting = {
    use: (connection: UpstreamConnection): void => this.#send(connection),
    fail: (kind: UpstreamFailure, cause: unknown): void => this.onFailure(kind, cause),
  };

  /** Nothing is taken up any longer for a body that is to come. */
  #bodyIsOver: () => void = () => {};

  constructor(private readonly f: Forwarding) {}

  start(): void {
    const { request, response, pool, address } = this.f;
    response.on('close', () => this.#abandoned());
    if (request.complete || this.#framing() === 'none') pool.take(this.#waiting);
    else {
      this.#bodyIsOver = awaitBody(request, pool.bodies, addressKey(address), this.f.idleMs, {
        ready: () => pool.take(this.#waiting),
        refused: () => this.onFailure('busy', new Error('too many bodies are waiting for WordPress')),
      });
    }
  }

  #framing(): BodyFraming {
    return this.f.withoutBody === true ? 'none' : framingOf(this.f.request);
  }

  #send(connection: UpstreamConnection): void {
    const { request, target, stopped } = this.f;
    this.#connection = connection;
    const body = this.#framing();
    const head = requestHead({
      method: request.method as string,
      target,
      rawHeaders: request.rawHeaders,
      visitor: this.f.visitor(),
      body,
      stopped,
      upstreamHost: this.f.pool.host,
      upgrade: null,
    });
    connection.send(head, this, {
      headRequest: request.method === 'HEAD',
      expectsBody: body !== 'none',
      timeoutMs: this.f.timeoutMs,
    });
    this.#sentWhole = body === 'none';
    if (body === 'none') return;
    if (this.f.continueFirst) this.f.response.writeContinue();
    sendBody(request, connection, body, {
      onSent: () => {
        this.#sentWhole = true;
        this.#bodyIsOver();
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
      // A hint that Node finds malformed is not worth failing the answer for.
    }
  }

  onHead(head: ResponseHead, complete: boolean): void {
    if (head.status === 101) {
      this.#fail(new Error('WordPress switched to a protocol that nobody asked for'));
      return;
    }
    const { headers, signal, login } = forwardedHead(head);
    this.f.onSignal(signal);
    this.#headSeen = true;
    const ready = this.f.watch.onLogin(login, head.status, headers);
    if (this.#gone) {
      this.#over = true;
      this.#connection?.destroy();
      this.f.onAnswered(CLOSED_EARLY);
    } else if (ready === null) this.#answer(head, headers, complete);
    else this.#keepBack(ready, () => this.#answer(head, headers, complete));
  }

  /** Keeps an answer back until it may go out. Nothing more is read meanwhile, so it holds one reading at most. */
  #keepBack(ready: Promise<void>, answer: () => void): void {
    this.#connection?.socket.pause();
    const held: { piece: Buffer; last: boolean }[] = [];
    this.#held = held;
    this.#ready = this.#after(ready, () => {
      this.#held = null;
      if (this.#over) return;
      answer();
      for (const { piece, last } of held) this.onBody(piece, last);
      if (!this.#visitorLags) this.#connection?.socket.resume();
    });
  }

  /** Goes on when something is settled. What goes wrong there or then ends this exchange, and nothing else. */
  #after(ready: Promise<void>, next: () => void): Promise<void> {
    return ready.then(next).catch((cause: unknown) => {
      this.#over = true;
      this.#connection?.destroy();
      this.f.onFailure('syntax', cause, true);
    });
  }

  #answer(head: ResponseHead, headers: RawHeaders, complete: boolean): void {
    const { response } = this.f;
    if (this.f.watch.onHead(head.status, headers)) {
      this.#over = true;
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
    this.f.onAnswered(head.status);
    if (complete) this.#finish(undefined);
    else if (headers.length > 0 && isEventStream(headers)) {
      response.flushHeaders();
      this.f.onStream?.();
    }
  }

  onBody(piece: Buffer, last: boolean): void {
    if (this.#over) return;
    if (this.#held !== null) {
      this.#held.push({ piece, last });
      return;
    }
    if (last) {
      this.#finish(piece);
      return;
    }
    this.#bodyStarted = true;
    if (!this.f.response.write(piece)) this.#waitForVisitor();
  }

  onComplete(): void {
    // From here on the connection may be somebody else's.
    this.#connection = null;
    this.#bodyIsOver();
    // Answered before the body was whole: the rest is read and thrown away, so that the visitor gets to the answer.
    if (!this.f.request.complete) this.f.request.resume();
  }

  /** An answer that cannot be passed on. */
  #fail(cause: unknown): void {
    this.#connection?.destroy();
    this.onFailure('syntax', cause);
  }

  onFailure(kind: UpstreamFailure, cause: unknown): void {
    if (this.#over) return;
    if (this.#held !== null) {
      if (this.#ready !== null) void this.#after(this.#ready, () => this.onFailure(kind, cause));
      return;
    }
    this.#over = true;
    this.#bodyIsOver();
    this.f.request.resume();
    const ready = this.#headSeen ? null : this.f.watch.onNoHead(this.#sent(kind));
    if (this.#gone) {
      this.f.onAnswered(CLOSED_EARLY);
      return;
    }
    const answer = (): void => this.f.onFailure(kind, cause, this.#started);
    if (ready === null) answer();
    else void this.#after(ready, answer);
  }

  #finish(piece: Buffer | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#lastPiece = piece;
    sendTogether(this);
  }

  /** The end of the answer, when the turn ends. */
  sendNow(): void {
    const { response } = this.f;
    const piece = this.#lastPiece;
    if (response.destroyed) return;
    try {
      endAnswer(response, piece, !this.#bodyStarted);
    } catch (cause) {
      this.f.onFailure('syntax', cause, true);
    }
  }

  #waitForVisitor(): void {
    if (this.#visitorLags) return;
    this.#visitorLags = true;
    const upstream = this.#connection?.socket;
    upstream?.pause();
    this.#lag ??= new LagWatch(() => this.#setAside());
    this.#lag.begin();
    this.f.response.once('drain', () => {
      this.#lag?.end();
      this.#visitorLags = false;
      if (!this.#over) upstream?.resume();
    });
  }

  /** An answer that is taken slowly does not keep others from WordPress, and ends when there are too many such. */
  #setAside(): void {
    if (this.#over || this.#connection === null) return;
    if (!this.f.pool.setAside(this.#connection, addressKey(this.f.address))) this.f.response.destroy();
  }

  /** The visitor has gone, or has the whole answer. */
  #abandoned(): void {
    this.#lag?.end();
    this.#bodyIsOver();
    if (this.#over) return;
    if (this.f.watch.staysForHead && this.#sentWhole && !this.#headSeen) {
      this.#gone = true;
      return;
    }
    this.#over = true;
    if (!this.#headSeen) {
      void this.f.watch.onNoHead(this.#sent('closed'));
      this.f.onAnswered(CLOSED_EARLY);
    } else if (this.#held !== null) this.f.onAnswered(CLOSED_EARLY);
    if (this.#connection === null) this.f.pool.leave(this.#waiting);
    else this.#connection.destroy();
  }

  #sent(failure: UpstreamFailure): 'nothing' | 'part' | 'whole' {
    if (this.#connection === null || failure === 'connect' || failure === 'busy') return 'nothing';
    return this.#sentWhole ? 'whole' : 'part';
  }
}
