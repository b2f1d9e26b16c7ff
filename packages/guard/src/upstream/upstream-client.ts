import { connect, type Socket } from 'node:net';
import { Limiter } from '../lib/limiter.js';
import { type SocketAddress, toUpstreamAuthority } from '../lib/socket-address.js';
import { type PendingWrite, scheduleWrite } from './batched-writes.js';
import { ResponseParser, type ResponseSink } from './response-parser.js';

/** Why a request got no complete response. For the log only; clients see a generic page. */
export type UpstreamFailure = 'connect' | 'timeout' | 'closed' | 'syntax' | 'busy';

export interface UpstreamHandler extends ResponseSink {
  onFailure(kind: UpstreamFailure, cause: unknown): void;
  /** WordPress's web server reads the request body again. */
  onDrain(): void;
}

/**
 * Maximum time from the first byte of a head to its end, milliseconds; web servers send it in one piece. The timeout for
 * silence does not end a head whose bytes trickle in.
 */
const HEAD_MS = 30_000;

/** One connection to WordPress's web server, used for one request after another. */
export class UpstreamConnection implements PendingWrite {
  readonly socket: Socket;
  readonly #parser = new ResponseParser();
  #handler: UpstreamHandler | null = null;
  /** Created once per connection, not once per request. */
  readonly #sink: ResponseSink = {
    onInformation: (head) => this.#handler?.onInformation(head),
    onHead: (head, complete) => this.#handler?.onHead(head, complete),
    onBody: (piece, last) => this.#handler?.onBody(piece, last),
    onComplete: (reusable, rest) => this.#complete(reusable, rest),
  };
  #bodySent = true;
  #connected = false;
  /** An earlier request got its response on this connection. */
  #isReused = false;
  /** A part of the response to the present request has come. */
  #isAnswered = false;
  #timeoutMs = 0;
  #headTimer: NodeJS.Timeout | null = null;

  /**
   * @param onIdle called when the connection is ready for another request
   * @param onGone called once when the connection has closed
   */
  constructor(
    address: SocketAddress,
    private readonly onIdle: (connection: UpstreamConnection) => void,
    onGone: (connection: UpstreamConnection) => void,
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
        // A response without a request: the connection can't be trusted any more.
        socket.destroy();
        return;
      }
      this.#isAnswered = true;
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
   * Sends a request head and prepares for the response.
   *
   * @param head request line and header lines up to and including the empty line, latin1
   * @param expectsBody whether `sendBody` and `endBody` will follow
   * @param timeoutMs longest silence of WordPress's web server; time in which guard waits for the client does not count
   */
  send(
    head: string,
    handler: UpstreamHandler,
    options: { headRequest: boolean; expectsBody: boolean; timeoutMs: number },
  ): void {
    this.#handler = handler;
    this.#isAnswered = false;
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
  sendBody(piece: Buffer): boolean {
    return this.socket.write(piece);
  }

  endBody(): void {
    this.#bodySent = true;
    // From here on guard waits for WordPress.
    this.socket.setTimeout(this.#timeoutMs);
  }

  get destroyed(): boolean {
    return this.socket.destroyed;
  }

  /** Whether the web server may have closed a kept connection without having read the present request. */
  get isStale(): boolean {
    return this.#isReused && !this.#isAnswered;
  }

  destroy(): void {
    this.#handler = null;
    this.#stopHeadTimer();
    this.socket.destroy();
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
    // The response came before the end of the request. The rest of the body must not be read as another request.
    if (!keep || this.socket.destroyed) this.socket.destroy();
    else {
      // The socket may still be paused because the client read this response slowly.
      this.socket.resume();
      this.#isReused = true;
      this.onIdle(this);
    }
  }

  /** Whether guard waits for the client: for more of the request body, or to read the response. */
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

/** A request whose body is too long or too slow to be buffered before it takes a connection. */
export interface UploadWaiter {
  /** Key of the client's address. */
  readonly from: string;
  /** The request may take a connection to WordPress. */
  granted(): void;
  /** Too many requests are waiting already. */
  refused(): void;
}

/**
 * Permits to hold a connection to WordPress while a body arrives. Clients may send slowly, so uploads get at most half of
 * the connections, and those of one address an eighth. The rest stays free for other requests.
 */
export class UploadLimiter {
  readonly #perAddress: number;
  readonly #granted = new Set<UploadWaiter>();
  readonly #limiter: Limiter<UploadWaiter>;

  /** @param connections maximum of connections to one web server */
  constructor(connections: number) {
    const permits = Math.max(1, Math.floor(connections / 2));
    this.#perAddress = Math.max(1, Math.floor(connections / 8));
    this.#limiter = new Limiter({
      permits,
      waiting: permits * 8,
      grant: (upload) => this.#grant(upload),
      refuse: (upload) => upload.refused(),
    });
  }

  acquire(upload: UploadWaiter): void {
    if (this.#limiter.tryAcquire(upload.from, this.#perAddress)) this.#grant(upload);
    else if (!this.#limiter.enqueue(upload.from, upload)) upload.refused();
  }

  /** The body has arrived or the request has ended. Does nothing for a request without a permit that does not wait. */
  release(upload: UploadWaiter): void {
    if (this.#granted.delete(upload)) {
      this.#limiter.release(upload.from);
      this.#limiter.serveAll(this.#perAddress);
    } else this.#limiter.cancel(upload.from, upload);
  }

  #grant(upload: UploadWaiter): void {
    this.#granted.add(upload);
    upload.granted();
  }
}

/**
 * Connections whose responses are read slowly. They do not count toward the pool's maximum, or a few clients that read
 * nothing could use up all connections; WordPress has already finished most of these responses. Bounded: eight times the
 * pool's maximum, and for one address half of that maximum.
 */
export class SlowDownloads {
  readonly #from = new Map<UpstreamConnection, string>();
  readonly #perAddress: number;
  readonly #limiter: Limiter<never>;

  /** @param connections the pool's maximum */
  constructor(connections: number) {
    this.#perAddress = Math.max(1, connections / 2);
    this.#limiter = new Limiter({ permits: connections * 8, grant() {}, refuse() {} });
  }

  /** @returns whether it was added; `no`: all permits are held; `too-many`: its address has too many already */
  add(connection: UpstreamConnection, from: string): 'yes' | 'no' | 'too-many' {
    if (this.#from.has(connection)) return 'yes';
    if (this.#limiter.held(from) >= this.#perAddress) return 'too-many';
    if (!this.#limiter.tryAcquire(from, this.#perAddress)) return 'no';
    this.#from.set(connection, from);
    return 'yes';
  }

  has(connection: UpstreamConnection): boolean {
    return this.#from.has(connection);
  }

  delete(connection: UpstreamConnection): void {
    const from = this.#from.get(connection);
    if (from === undefined) return;
    this.#from.delete(connection);
    this.#limiter.release(from);
  }

  all(): Iterable<UpstreamConnection> {
    return this.#from.keys();
  }
}

/** Idle connections are closed after this time, milliseconds. Web servers wait longer, so none closes under a request. */
const IDLE_MS = 4000;

/** A request that needs a connection. Exactly one of the methods is called, unless the request is cancelled. */
interface ConnectionWaiter {
  use(connection: UpstreamConnection): void;
  fail(kind: UpstreamFailure, cause: unknown): void;
}

/** The limiter's only key: all requests to one WordPress wait in one queue. */
const KEY = '';

/** A bounded pool of connections to one web server, with a bounded queue of waiting requests. */
export class UpstreamPool {
  readonly #idle: UpstreamConnection[] = [];
  readonly #all = new Set<UpstreamConnection>();
  readonly #slow: SlowDownloads;
  /** One permit for each connection in `#all`, idle ones included. */
  readonly #limiter: Limiter<ConnectionWaiter>;
  /** The connection that the next grant hands over; null to open one. */
  #free: UpstreamConnection | null = null;
  /** No more connections are opened. */
  #closed = false;
  /** Connections are not kept. */
  #retired = false;
  /** Authority for requests that name no host. */
  readonly host: string;
  readonly uploads: UploadLimiter;

  constructor(
    readonly address: SocketAddress,
    readonly maxConnections: number,
  ) {
    this.host = toUpstreamAuthority(address);
    this.uploads = new UploadLimiter(maxConnections);
    this.#slow = new SlowDownloads(maxConnections);
    this.#limiter = new Limiter({
      waiting: maxConnections * 8,
      grant: (waiter) => {
        const free = this.#free;
        this.#free = null;
        waiter.use(free ?? this.#open());
      },
      refuse: (waiter) => waiter.fail('busy', new Error('shutting down')),
    });
  }

  /** Requests that wait for a connection. */
  get waiting(): number {
    return this.#limiter.waiting;
  }

  /** Provides a connection now or when one is free. Calls `fail('busy')` when too many requests are waiting. */
  acquire(waiter: ConnectionWaiter): void {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (!connection.destroyed) {
        waiter.use(connection);
        return;
      }
    }
    if (this.#closed) waiter.fail('busy', new Error('shutting down'));
    else if (this.#limiter.tryAcquire(KEY, this.maxConnections)) waiter.use(this.#open());
    else if (!this.#limiter.enqueue(KEY, waiter)) {
      waiter.fail('busy', new Error('too many requests are waiting for WordPress'));
    }
  }

  /** Removes a waiter from the queue. */
  cancel(waiter: ConnectionWaiter): void {
    this.#limiter.cancel(KEY, waiter);
  }

  /** Removes a connection from the pool whose lifetime the client decides. It no longer counts. */
  detach(connection: UpstreamConnection): void {
    this.#remove(connection);
  }

  /**
   * Removes the connection of a slowly read response from the pool. It no longer counts and ends with the response.
   *
   * @param from key of the client's address
   * @returns false when too many responses to that address are read slowly and this one must end
   */
  detachSlowDownload(connection: UpstreamConnection, from: string): boolean {
    const added = this.#slow.add(connection, from);
    if (added === 'yes') this.detach(connection);
    return added !== 'too-many';
  }

  /** No later request comes: requests under way still get connections, which end with them. */
  retire(): void {
    this.#retired = true;
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  close(): void {
    this.#closed = true;
    this.retire();
  }

  /** Ends all connections at once, including those of running requests. */
  destroy(): void {
    this.close();
    for (const connection of [...this.#all, ...this.#slow.all()]) connection.socket.destroy();
  }

  #open(): UpstreamConnection {
    const connection = new UpstreamConnection(
      this.address,
      (idle) => this.#release(idle),
      (gone) => {
        this.#slow.delete(gone);
        this.#remove(gone);
      },
    );
    this.#all.add(connection);
    return connection;
  }

  #release(connection: UpstreamConnection): void {
    if (this.#slow.has(connection)) connection.destroy();
    else if (this.#limiter.waiting > 0) {
      this.#free = connection;
      this.#limiter.release(KEY);
      this.#limiter.serve(KEY, this.maxConnections);
    } else if (this.#retired) connection.destroy();
    else {
      connection.socket.setTimeout(IDLE_MS);
      this.#idle.push(connection);
    }
  }

  #remove(connection: UpstreamConnection): void {
    if (!this.#all.delete(connection)) return;
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    this.#limiter.release(KEY);
    this.#limiter.serve(KEY, this.maxConnections);
  }
}
