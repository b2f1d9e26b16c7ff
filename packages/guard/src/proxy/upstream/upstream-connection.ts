import { connect, type Socket } from 'node:net';
import { type Ready, sendTogether } from '../send-together.js';
import { ResponseParser, type ResponseSink } from './response-parser.js';

/** Why a request got no (whole) answer. Goes to the log; visitors see a generic page. */
export type UpstreamFailure = 'connect' | 'timeout' | 'closed' | 'syntax' | 'busy';

export interface UpstreamHandler extends ResponseSink {
  onFailure(kind: UpstreamFailure, cause: unknown): void;
  /** WordPress's web server takes more of the request body again. */
  onDrain(): void;
}

export interface UpstreamAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * A head that has begun is whole after this time, milliseconds: web servers send it in one piece. Bytes that come one
 * by one are no silence, so they would hold a connection for ever.
 */
const HEAD_MS = 30_000;

/** One connection to WordPress's web server, used for one request after another. */
export class UpstreamConnection implements Ready {
  readonly socket: Socket;
  readonly #parser = new ResponseParser();
  #handler: UpstreamHandler | null = null;
  /** What the parser talks to; made once, not once per request. */
  readonly #sink: ResponseSink = {
    onInformation: (head) => this.#handler?.onInformation(head),
    onHead: (head, complete) => this.#handler?.onHead(head, complete),
    onBody: (piece, last) => this.#handler?.onBody(piece, last),
    onComplete: (reusable, rest) => this.#complete(reusable, rest),
  };
  #bodySent = true;
  #connected = false;
  #timeoutMs = 0;
  #headTimer: NodeJS.Timeout | null = null;

  /**
   * @param onIdle called when the connection can take another request
   * @param onGone called once when it is gone for good
   */
  constructor(
    address: UpstreamAddress,
    private readonly onIdle: (connection: UpstreamConnection) => void,
    onGone: (connection: UpstreamConnection) => void,
  ) {
    const socket = connect({ host: address.host, port: address.port, noDelay: true });
    this.socket = socket;
    socket.on('connect', () => {
      this.#connected = true;
    });
    socket.on('data', (data) => {
      if (this.#handler === null) {
        // An answer nobody asked for: the connection cannot be trusted any more.
        socket.destroy();
        return;
      }
      try {
        this.#parser.execute(data);
        this.#watchHead();
      } catch (cause) {
        this.#fail('syntax', cause);
      }
    });
    socket.on('drain', () => this.#handler?.onDrain());
    socket.on('timeout', () => {
      if (this.#visitorIsSlow()) socket.setTimeout(this.#timeoutMs);
      else this.#fail('timeout', new Error('no answer in time'));
    });
    socket.on('error', (cause) => this.#fail(this.#connected ? 'closed' : 'connect', cause));
    socket.on('end', () => {
      try {
        this.#parser.finish();
      } catch (cause) {
        this.#fail('closed', cause);
      }
    });
    socket.on('close', () => {
      this.#fail('closed', new Error('connection closed'));
      onGone(this);
    });
  }

  /**
   * Sends a request head and gets ready for the answer.
   * @param head request line and header lines up to and including the empty line, latin1
   * @param expectsBody whether `sendBody` and `endBody` will follow
   * @param timeoutMs longest silence of WordPress's web server; time in which the visitor is the slow one does not count
   */
  send(
    head: string,
    handler: UpstreamHandler,
    options: { headRequest: boolean; expectsBody: boolean; timeoutMs: number },
  ): void {
    this.#handler = handler;
    this.#bodySent = !options.expectsBody;
    this.#timeoutMs = options.timeoutMs;
    this.#parser.expect(this.#sink, options.headRequest);
    this.socket.setTimeout(options.timeoutMs);
    this.socket.cork();
    this.socket.write(head, 'latin1');
    sendTogether(this);
  }

  /** The head, and what of the body came with it, at the end of the turn. */
  sendNow(): void {
    this.socket.uncork();
  }

  /** Returns false when the caller should wait for `onDrain`. */
  sendBody(piece: Buffer): boolean {
    return this.socket.write(piece);
  }

  endBody(): void {
    this.#bodySent = true;
    // From here on the silence is WordPress's.
    this.socket.setTimeout(this.#timeoutMs);
  }

  get destroyed(): boolean {
    return this.socket.destroyed;
  }

  destroy(): void {
    this.#handler = null;
    this.#forgetHead();
    this.socket.destroy();
  }

  #watchHead(): void {
    if (!this.#parser.isInsideHead) {
      if (this.#headTimer !== null) this.#forgetHead();
      return;
    }
    this.#headTimer ??= setTimeout(
      () => this.#fail('timeout', new Error('the head of the answer came too slowly')),
      Math.min(HEAD_MS, this.#timeoutMs),
    );
  }

  #forgetHead(): void {
    if (this.#headTimer !== null) clearTimeout(this.#headTimer);
    this.#headTimer = null;
  }

  #complete(reusable: boolean, rest: Buffer | null): void {
    const handler = this.#handler;
    this.#handler = null;
    const keep = reusable && this.#bodySent;
    handler?.onComplete(keep, rest);
    if (rest !== null) return;
    // Answered before the request was whole: what is left of the body must never be taken for another request.
    if (!keep || this.socket.destroyed) this.socket.destroy();
    else {
      // The visitor may have been too slow for an earlier piece of this answer.
      this.socket.resume();
      this.onIdle(this);
    }
  }

  /** Whether the silence is the visitor's: more of the body is to come, or what came has not been taken yet. */
  #visitorIsSlow(): boolean {
    if (this.#handler === null || !this.#connected) return false;
    return this.socket.isPaused() || (!this.#bodySent && this.socket.writableLength === 0);
  }

  #fail(kind: UpstreamFailure, cause: unknown): void {
    const handler = this.#handler;
    this.#handler = null;
    this.#forgetHead();
    this.socket.destroy();
    handler?.onFailure(kind, cause);
  }
}
