import { connect, type Socket } from 'node:net';
import type { SocketAddress } from '../lib/socket-address.js';
import { type PendingWrite, scheduleWrite } from './batched-writes.js';
import { type ResponseHead, ResponseParser, type ResponseSink } from './response-parser.js';

/** Why a request got no complete response. For the log only; clients see a generic page. */
export type UpstreamFailure = 'connect' | 'timeout' | 'closed' | 'syntax' | 'busy';

export interface UpstreamHandler extends ResponseSink {
  onFailure(kind: UpstreamFailure, cause: unknown): void;
  /** WordPress's web server reads the request body again. */
  onDrain(): void;
}

/**
 * Maximum time from the first byte of a head to its end, milliseconds; web servers send a head at once. The timeout for
 * missing data does not apply to a head that arrives byte by byte.
 */
const HEAD_MS = 30_000;

/** Receives and ignores a response that is no longer needed. */
const NOBODY: UpstreamHandler = {
  onInformation() {},
  onHead() {},
  onBody() {},
  onComplete() {},
  onFailure() {},
  onDrain() {},
};

/** One connection to WordPress's web server, used for one request after another. */
export class UpstreamConnection implements PendingWrite {
  readonly socket: Socket;
  readonly #parser = new ResponseParser();
  #handler: UpstreamHandler | null = null;
  /** Created once per connection, not once per request. */
  readonly #sink: ResponseSink = {
    onInformation: (head) => this.#handler?.onInformation(head),
    onHead: (head, complete) => this.#handler?.onHead(head, complete),
    onBody: (chunk, last) => this.#handler?.onBody(chunk, last),
    onComplete: (reusable, rest) => this.#complete(reusable, rest),
  };
  #bodySent = true;
  #connected = false;
  /** An earlier request received its response on this connection. */
  #isReused = false;
  #idleSince = 0;
  /** A part of the response to the current request has arrived. */
  #hasResponse = false;
  #timeoutMs = 0;
  #headTimer: NodeJS.Timeout | null = null;

  /**
   * @param onIdle called when the connection is ready for another request
   * @param onClosed called once, when the connection has closed
   */
  constructor(
    address: SocketAddress,
    private readonly onIdle: (connection: UpstreamConnection) => void,
    onClosed: (connection: UpstreamConnection) => void,
  ) {
    const socket =
      'path' in address
        ? connect({ path: address.path })
        : connect({ host: address.host, port: address.port, noDelay: true });
    this.socket = socket;
    socket.on('connect', () => {
      this.#connected = true;
    });
    socket.on('data', (data) => {
      if (this.#handler === null) {
        // A response without a request: the connection is no longer reliable.
        socket.destroy();
        return;
      }
      this.#hasResponse = true;
      try {
        this.#parser.execute(data);
        this.#limitHeadTime();
      } catch (cause) {
        this.#fail('syntax', cause);
      }
    });
    socket.on('drain', () => this.#handler?.onDrain());
    socket.on('timeout', () => {
      if (this.#isClientSlow()) socket.setTimeout(this.#timeoutMs);
      else this.#fail('timeout', new Error('no answer in time'));
    });
    socket.on('error', (cause) => this.#fail(this.#connected ? 'closed' : 'connect', cause));
    socket.on('end', () => {
      // Between this event and `close` a request could still be written, but the server would not read it.
      if (this.#handler === null) {
        socket.destroy();
        return;
      }
      try {
        this.#parser.finish();
      } catch (cause) {
        this.#fail('closed', cause);
      }
    });
    socket.on('close', () => {
      this.#fail('closed', new Error('connection closed'));
      onClosed(this);
    });
  }

  /**
   * Sends a request head and prepares for the response.
   *
   * @param head request line and header lines up to and including the empty line, latin1
   * @param expectsBody whether `sendBody` and `endBody` will follow
   * @param timeoutMs longest time without data from WordPress's web server; time in which guard waits for the client
   *   does not count
   */
  send(
    head: string,
    handler: UpstreamHandler,
    options: { headRequest: boolean; expectsBody: boolean; timeoutMs: number },
  ): void {
    this.#handler = handler;
    this.#hasResponse = false;
    this.#bodySent = !options.expectsBody;
    this.#timeoutMs = options.timeoutMs;
    this.#parser.expect(this.#sink, options.headRequest);
    this.socket.setTimeout(options.timeoutMs);
    this.socket.cork();
    this.socket.write(head, 'latin1');
    scheduleWrite(this);
  }

  /** Writes the head, and the part of the body that arrived with it, at the end of the turn of the event loop. */
  sendNow(): void {
    this.socket.uncork();
  }

  /** Returns false when the caller should wait for `onDrain`. */
  sendBody(chunk: Buffer): boolean {
    return this.socket.write(chunk);
  }

  endBody(): void {
    this.#bodySent = true;
    // From here on guard waits for WordPress.
    this.socket.setTimeout(this.#timeoutMs);
  }

  get destroyed(): boolean {
    return this.socket.destroyed;
  }

  /** Whether the web server may have closed a kept connection without having read the current request. */
  get isStale(): boolean {
    return this.#isReused && !this.#hasResponse;
  }

  /** How long the web server keeps the connection open when it is idle, seconds; null when it did not say. */
  get keepAliveSeconds(): number | null {
    return this.#parser.keepAliveSeconds;
  }

  /** How long the connection has been idle, milliseconds. */
  get idleMs(): number {
    return performance.now() - this.#idleSince;
  }

  destroy(): void {
    this.#handler = null;
    this.#stopHeadTimer();
    this.socket.destroy();
  }

  /**
   * Called when the client has closed its connection after WordPress received the whole request. WordPress continues to
   * process it: a closed connection removes a request neither from a web server's queue nor from PHP. So the connection
   * stays in use until the response begins or times out.
   *
   * @param onHead called when the response begins
   */
  abandon(onHead: (head: ResponseHead) => void): void {
    if (this.#handler === null) return;
    this.#handler = {
      ...NOBODY,
      onHead: (head) => {
        onHead(head);
        this.destroy();
      },
    };
    this.socket.resume();
  }

  #limitHeadTime(): void {
    if (!this.#parser.isInsideHead) {
      if (this.#headTimer !== null) this.#stopHeadTimer();
      return;
    }
    this.#headTimer ??= setTimeout(
      () => this.#fail('timeout', new Error('the head of the answer came too slowly')),
      Math.min(HEAD_MS, this.#timeoutMs),
    );
  }

  #stopHeadTimer(): void {
    if (this.#headTimer !== null) clearTimeout(this.#headTimer);
    this.#headTimer = null;
  }

  #complete(reusable: boolean, rest: Buffer | null): void {
    const handler = this.#handler;
    this.#handler = null;
    const keep = reusable && this.#bodySent;
    handler?.onComplete(keep, rest);
    if (rest !== null) return;
    // The response arrived before the end of the request. The remaining body must not be read as another request.
    if (!keep || this.socket.destroyed) this.socket.destroy();
    else {
      // The socket may still be paused because the client read this response slowly.
      this.socket.resume();
      this.#isReused = true;
      this.#idleSince = performance.now();
      this.onIdle(this);
    }
  }

  /** Whether guard waits for the client: for more of the request body, or for the client to read the response. */
  #isClientSlow(): boolean {
    if (this.#handler === null || !this.#connected) return false;
    return this.socket.isPaused() || (!this.#bodySent && this.socket.writableLength === 0);
  }

  #fail(kind: UpstreamFailure, cause: unknown): void {
    const handler = this.#handler;
    this.#handler = null;
    this.#stopHeadTimer();
    this.socket.destroy();
    handler?.onFailure(kind, cause);
  }
}
