import { connect, type Socket } from 'node:net';
import { networkKey } from '../lib/address.js';
import { Limiter } from '../lib/limiter.js';
import { Shares } from '../lib/shares.js';
import { type SocketAddress, toUpstreamAuthority } from '../lib/socket-address.js';
import { type PendingWrite, scheduleWrite } from './batched-writes.js';
import { toClientResponseHead } from './message-head.js';
import { type ResponseHead, ResponseParser, type ResponseSink } from './response-parser.js';

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

/** Takes a response that nobody waits for. */
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

  /**
   * The client has left, but WordPress has the whole request and goes on working for it: a closed connection stops neither
   * a web server's queue nor PHP. So the connection stays in use until the response begins or its time is over.
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
  /** Too many requests are waiting already, or this one has stalled and others wait. */
  refused(): void;
  /** Bytes of the body that have come; null while nobody reads it, so that it can't come. */
  received(): number | null;
}

/** Interval between two checks for stalled bodies while others wait, milliseconds. */
const STALL_CHECK_MS = 1000;
/** A body of which fewer bytes have come between two checks has stalled. */
const STALLED_BYTES = 1024;

/**
 * Permits to hold a connection to WordPress while a body arrives. Clients may send slowly, so uploads get at most half of
 * the connections, and those of one address an eighth. The rest stays free for other requests. Some permits are for
 * addresses that hold none; when one of them waits all the same, a body that has stalled gives way: the newest of the
 * address that holds most in the network that holds most.
 */
export class UploadLimiter {
  readonly #perAddress: number;
  /** With the bytes that had come at the last check; null before the first. In the order in which they were granted. */
  readonly #granted = new Map<UploadWaiter, number | null>();
  readonly #limiter: Limiter<UploadWaiter>;
  #checks: NodeJS.Timeout | undefined;

  /** @param connections maximum of connections to one web server */
  constructor(connections: number) {
    const permits = Math.max(1, Math.floor(connections / 2));
    this.#perAddress = Math.max(1, Math.floor(connections / 8));
    this.#limiter = new Limiter({
      permits,
      reserve: Math.floor(permits / 8),
      waiting: permits * 8,
      groupOf: networkKey,
      grant: (upload) => this.#grant(upload),
      refuse: (upload) => upload.refused(),
    });
  }

  acquire(upload: UploadWaiter): void {
    if (this.#limiter.tryAcquire(upload.from, this.#perAddress)) this.#grant(upload);
    else if (!this.#limiter.enqueue(upload.from, upload)) upload.refused();
    else this.#checks ??= setInterval(() => this.#check(), STALL_CHECK_MS).unref();
  }

  /** The body has arrived or the request has ended. Does nothing for a request without a permit that does not wait. */
  release(upload: UploadWaiter): void {
    if (this.#granted.delete(upload)) {
      this.#limiter.release(upload.from);
      this.#limiter.serveAll(this.#perAddress);
    } else this.#limiter.cancel(upload.from, upload);
  }

  #grant(upload: UploadWaiter): void {
    this.#granted.set(upload, null);
    upload.granted();
  }

  #check(): void {
    if (this.#limiter.waiting === 0) {
      clearInterval(this.#checks);
      this.#checks = undefined;
      for (const upload of this.#granted.keys()) this.#granted.set(upload, null);
      return;
    }
    const stalled: UploadWaiter[] = [];
    for (const [upload, before] of this.#granted) {
      const now = upload.received();
      if (before !== null && now !== null && now - before < STALLED_BYTES) stalled.push(upload);
      this.#granted.set(upload, now);
    }
    for (let wanted = this.#limiter.withoutPermit; wanted > 0; wanted--) {
      const upload = takeNewestOfLargest(stalled);
      if (upload === null) return;
      this.release(upload);
      upload.refused();
    }
  }
}

/** Takes one upload out of a list: the newest of the address that has most of them in the network that has most. */
function takeNewestOfLargest(uploads: UploadWaiter[]): UploadWaiter | null {
  const shares = new Shares(networkKey);
  for (const { from } of uploads) shares.add(from);
  const largest = shares.largest('') ?? uploads.at(-1)?.from;
  const at = uploads.findLastIndex(({ from }) => from === largest);
  return uploads.splice(at, 1)[0] ?? null;
}

interface SlowDownload {
  readonly connection: UpstreamConnection;
  readonly from: string;
  /** Ends the response to the client. */
  readonly end: () => void;
}

/**
 * Connections whose responses are read slowly, or never end. They do not count toward the pool's maximum, or a few clients
 * that read nothing could use up all connections; WordPress has already finished most of these responses. Bounded: eight
 * times the pool's maximum, and for one address half of that maximum. When there is no room for one more, the newest of the
 * address that has most of them in the network that has most ends.
 */
export class SlowDownloads {
  /** In the order in which they were added. */
  readonly #all = new Map<UpstreamConnection, SlowDownload>();
  readonly #shares = new Shares(networkKey);
  readonly #most: number;
  readonly #perAddress: number;

  /** @param connections the pool's maximum */
  constructor(connections: number) {
    this.#most = connections * 8;
    this.#perAddress = Math.max(1, connections / 2);
  }

  /** @returns false when there is no room for it, because its address has too many already */
  add(connection: UpstreamConnection, from: string, end: () => void): boolean {
    if (this.#all.has(connection)) return true;
    if (this.#shares.count(from) >= this.#perAddress) return false;
    if (this.#all.size >= this.#most && !this.#endOneFor(from)) return false;
    this.#all.set(connection, { connection, from, end });
    this.#shares.add(from);
    return true;
  }

  has(connection: UpstreamConnection): boolean {
    return this.#all.has(connection);
  }

  delete(connection: UpstreamConnection): void {
    const slow = this.#all.get(connection);
    if (slow === undefined) return;
    this.#all.delete(connection);
    this.#shares.delete(slow.from);
  }

  all(): Iterable<UpstreamConnection> {
    return this.#all.keys();
  }

  #endOneFor(newcomer: string): boolean {
    const largest = this.#shares.largest(newcomer);
    const newest = [...this.#all.values()].findLast(({ from }) => from === largest);
    if (newest === undefined) return false;
    this.delete(newest.connection);
    newest.connection.destroy();
    newest.end();
    return true;
  }
}

/** Idle connections are closed after this time, milliseconds. Web servers wait longer, so none closes under a request. */
const IDLE_MS = 4000;

/** A request that needs a connection. Exactly one of the methods is called, unless the request is cancelled. */
export interface ConnectionWaiter {
  /** Key of the client's address. */
  readonly from: string;
  use(connection: UpstreamConnection): void;
  fail(kind: UpstreamFailure, cause: unknown): void;
}

/** Requests of one address that WordPress may have at the same time when its pool is small. */
const MIN_PER_ADDRESS = 8;

/**
 * How many of the connections one address may use at the same time. WordPress works on requests in their order, so those of
 * one address delay all others, even when their client has left.
 *
 * @param connections the pool's maximum
 */
export function connectionsPerAddress(connections: number): number {
  const share = Math.max(MIN_PER_ADDRESS, Math.floor(connections / 4));
  return Math.max(1, Math.min(share, connections - reservedConnections(connections)));
}

/** How many requests of clients that have left may be in WordPress's queue when the pool is small. */
const MIN_ABANDONED = 16;
/**
 * PHP takes requests in about their order, each of its processes for itself. A request after which so many others were
 * answered is in no queue any more: it is slow by itself.
 */
const OVERTAKEN_BY = 64;
/** When WordPress has answered nothing for this long, it does not work a queue off, milliseconds. */
const STANDSTILL_MS = 2000;

/** How many connections are for addresses that use none. */
function reservedConnections(connections: number): number {
  return connections === 1 ? 0 : Math.ceil(connections / 8);
}

/**
 * A bounded pool of connections to one web server, with a bounded queue of waiting requests. A request uses its connection
 * until WordPress has answered, also when its client has left before.
 */
export class UpstreamPool {
  readonly #idle: UpstreamConnection[] = [];
  /** Idle connections and those in use. */
  readonly #all = new Set<UpstreamConnection>();
  /** For whom a connection is used: the key of a client's address. Each holds a permit of that key. */
  readonly #inUse = new Map<UpstreamConnection, string>();
  readonly #slow: SlowDownloads;
  readonly #perAddress: number;
  readonly #maxAbandoned: number;
  /** Requests whose clients have left and that may still be in WordPress's queue: how often PHP had answered before. */
  readonly #abandoned = new Map<UpstreamConnection, number>();
  /** How often PHP has answered, and when it last did, as `performance.now()`. */
  #answers = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #standstill: NodeJS.Timeout | undefined;
  readonly #limiter: Limiter<ConnectionWaiter>;
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
    this.#perAddress = connectionsPerAddress(maxConnections);
    this.#maxAbandoned = Math.max(MIN_ABANDONED, Math.floor(maxConnections / 8));
    this.#limiter = new Limiter({
      permits: maxConnections,
      reserve: reservedConnections(maxConnections),
      waiting: maxConnections * 8,
      groupOf: networkKey,
      grant: (waiter) => this.#use(waiter),
      refuse: (waiter) => waiter.fail('busy', new Error('too many requests are waiting for WordPress')),
    });
  }

  /** Requests that wait for a connection. */
  get waiting(): number {
    return this.#limiter.waiting;
  }

  /** Provides a connection now or when one is free. Calls `fail('busy')` when too many requests are waiting. */
  acquire(waiter: ConnectionWaiter): void {
    if (this.#closed) waiter.fail('busy', new Error('shutting down'));
    else if (!this.#isHeldUp() && this.#limiter.tryAcquire(waiter.from, this.#perAddress)) this.#use(waiter);
    else if (this.#limiter.enqueue(waiter.from, waiter)) this.#serveAtStandstill();
    else waiter.fail('busy', new Error('too many requests are waiting for WordPress'));
  }

  /** Removes a waiter from the queue. */
  cancel(waiter: ConnectionWaiter): void {
    this.#limiter.cancel(waiter.from, waiter);
  }

  /**
   * The client has left while WordPress works on its request: the connection stays in use until WordPress answers. While
   * too many of them are in WordPress's queue, further requests wait here, where those of other addresses pass them.
   */
  abandon(connection: UpstreamConnection): void {
    connection.abandon((head) => {
      if (toClientResponseHead(head).signal !== undefined) this.noteAnswer(connection);
    });
    this.noteLeft(connection);
  }

  /** The client has left, but guard itself waits for the response to its request. */
  noteLeft(connection: UpstreamConnection): void {
    if (this.#inUse.has(connection)) this.#abandoned.set(connection, this.#answers);
  }

  /** PHP has answered the request of a connection. */
  noteAnswer(connection: UpstreamConnection): void {
    if (!this.#inUse.has(connection)) return;
    this.#answers++;
    this.#answeredAt = performance.now();
    // The oldest first.
    for (const [each, before] of this.#abandoned) {
      if (this.#answers - before < OVERTAKEN_BY) break;
      this.#abandoned.delete(each);
    }
  }

  /** Removes a connection from the pool whose lifetime the client decides. It no longer counts. */
  detach(connection: UpstreamConnection): void {
    this.#remove(connection);
  }

  /**
   * Removes the connection of a response from the pool that is read slowly or never ends. It no longer counts and ends with
   * the response.
   *
   * @param from key of the client's address
   * @param end ends the response, when others need the room
   * @returns false when that address has too many of them and this one must end
   */
  detachSlowDownload(connection: UpstreamConnection, from: string, end: () => void): boolean {
    const added = this.#slow.add(connection, from, end);
    if (added) this.detach(connection);
    return added;
  }

  /** No later request comes: requests under way still get connections, which end with them. */
  retire(): void {
    this.#retired = true;
    this.#closeIdle();
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

  #use(waiter: ConnectionWaiter): void {
    const connection = this.#takeIdle() ?? this.#open();
    this.#inUse.set(connection, waiter.from);
    waiter.use(connection);
  }

  #takeIdle(): UpstreamConnection | null {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (!connection.destroyed) return connection;
    }
    return null;
  }

  #closeIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.destroy();
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

  /** A connection has its whole response. */
  #release(connection: UpstreamConnection): void {
    if (this.#slow.has(connection)) {
      connection.destroy();
      return;
    }
    connection.socket.setTimeout(IDLE_MS);
    this.#idle.push(connection);
    this.#endUse(connection);
    if (this.#retired) this.#closeIdle();
  }

  #remove(connection: UpstreamConnection): void {
    if (!this.#all.delete(connection)) return;
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    this.#endUse(connection);
  }

  #endUse(connection: UpstreamConnection): void {
    const from = this.#inUse.get(connection);
    if (from === undefined) return;
    this.#inUse.delete(connection);
    this.#abandoned.delete(connection);
    this.#limiter.release(from);
    this.#serve();
  }

  #isHeldUp(): boolean {
    return this.#abandoned.size >= this.#maxAbandoned && performance.now() - this.#answeredAt < STANDSTILL_MS;
  }

  #serve(): void {
    if (!this.#isHeldUp()) this.#limiter.serveAll(this.#perAddress);
  }

  /** No answer may come that would serve those that are held up now. */
  #serveAtStandstill(): void {
    if (this.#standstill !== undefined || !this.#isHeldUp()) return;
    this.#standstill = setTimeout(() => {
      this.#standstill = undefined;
      this.#serve();
      if (this.#limiter.waiting > 0) this.#serveAtStandstill();
    }, STANDSTILL_MS).unref();
  }
}
