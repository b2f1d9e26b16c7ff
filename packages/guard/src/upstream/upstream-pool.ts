import { networkKey } from '../lib/address.js';
import { Limiter } from '../lib/limiter.js';
import { Shares } from '../lib/shares.js';
import { type SocketAddress, toUpstreamAuthority } from '../lib/socket-address.js';
import { toClientResponseHead } from './message-head.js';
import { UpstreamConnection, type UpstreamFailure } from './upstream-client.js';

/** A request whose body is too long or too slow to be buffered before it acquires a connection. */
export interface UploadWaiter {
  /** Key of the client's address. */
  readonly from: string;
  /** The request may acquire a connection to WordPress. */
  granted(): void;
  /** Too many requests are queued already, or this one has stalled and others are queued. */
  refused(): void;
  /** Bytes of the body that have arrived; null while the body is not being read, so that no more can arrive. */
  received(): number | null;
}

/** Interval between two checks for stalled bodies while others wait, milliseconds. */
const STALL_CHECK_MS = 1000;
/** A body that receives fewer bytes between two checks has stalled. */
const STALLED_BYTES = 1024;

/**
 * Permits to hold a connection to WordPress while a body arrives. Clients may send slowly, so uploads get at most half
 * of the connections, and those of one address an eighth; the other connections stay free for other requests. Some
 * permits are reserved for addresses that hold none. When such an address is queued nevertheless, a stalled body is
 * cut: the newest one of the address that holds most permits in the network that holds most.
 */
export class UploadLimiter {
  readonly #perAddress: number;
  /**
   * The bytes that had arrived at the last check; null before the first. In the order in which permits were granted.
   */
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
      toGroup: networkKey,
      grant: (upload) => this.#grant(upload),
      refuse: (upload) => upload.refused(),
    });
  }

  acquire(upload: UploadWaiter): void {
    if (this.#limiter.tryAcquire(upload.from, this.#perAddress)) this.#grant(upload);
    else if (!this.#limiter.enqueue(upload.from, upload)) upload.refused();
    else this.#checks ??= setInterval(() => this.#checkOnceRead(), STALL_CHECK_MS).unref();
  }

  /**
   * Called when the body has arrived or the request has ended. Does nothing for a request without a permit that is not
   * queued.
   */
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

  /** Checks after the event loop has read what has arrived: it runs timers first, on a busy machine late ones. */
  #checkOnceRead(): void {
    setImmediate(() => this.#check());
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

/** Removes one upload from a list: the newest one of the address that has most of them in the network that has most. */
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
 * Connections whose responses are read slowly, or never end. They do not count toward the pool's maximum, or a few
 * clients that read nothing could use up all connections; WordPress has already finished most of these responses.
 * Limits: eight times the pool's maximum in total, and half of that maximum for one address. When there is no room for
 * another one, the newest of the address that has most of them in the network that has most is ended.
 */
export class SlowDownloads {
  /** In the order in which they were added. */
  readonly #all = new Map<UpstreamConnection, SlowDownload>();
  readonly #shares = new Shares(networkKey);
  readonly #maxDownloads: number;
  readonly #perAddress: number;

  /** @param connections the pool's maximum */
  constructor(connections: number) {
    this.#maxDownloads = connections * 8;
    this.#perAddress = Math.max(1, connections / 2);
  }

  /** @returns false when it must end, because its address has too many already */
  add(connection: UpstreamConnection, from: string, end: () => void): boolean {
    if (this.#all.has(connection)) return true;
    if (this.#shares.count(from) >= this.#perAddress) return false;
    if (this.#all.size >= this.#maxDownloads && !this.#endOneFor(from)) return false;
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

/** Idle connections are closed after this time, milliseconds. Most web servers wait longer. */
const IDLE_MS = 4000;
/** A request that can't be sent again uses no connection that has been idle for longer than this, milliseconds. */
const YOUNG_MS = 250;

/**
 * Which connections a request may use. `any`: any connection, since the request can be sent again when the web server
 * closes a kept one. `young`: no connection that has been idle for long, since the request can't be sent again.
 * `fresh`: only a new connection.
 */
export type Reuse = 'any' | 'young' | 'fresh';

/** A request that needs a connection. Exactly one of the methods is called, unless the request is cancelled. */
export interface ConnectionWaiter {
  /** Key of the client's address. */
  readonly from: string;
  readonly reuse: Reuse;
  use(connection: UpstreamConnection): void;
  fail(kind: UpstreamFailure, cause: unknown): void;
}

/**
 * How long an idle connection is kept: a second less than the web server keeps it, since a request may be on its way
 * when the server closes it.
 *
 * @param seconds that the web server has announced, or null
 * @returns milliseconds; 0 to close it at once
 */
export function toIdleMs(seconds: number | null): number {
  return seconds === null ? IDLE_MS : Math.min(IDLE_MS, Math.max(seconds * 1000 - 1000, seconds * 500));
}

/** Minimum number of concurrent requests of one address to WordPress, for a small pool. */
const MIN_PER_ADDRESS = 8;

/**
 * How many of the connections one address may use at the same time. WordPress processes requests in order, so the
 * requests of one address delay all others, even after their client has closed the connection.
 *
 * @param connections the pool's maximum
 */
export function connectionsPerAddress(connections: number): number {
  const share = Math.max(MIN_PER_ADDRESS, Math.floor(connections / 4));
  return Math.max(1, Math.min(share, connections - reservedConnections(connections)));
}

/** Minimum number of abandoned requests that may be in WordPress's queue, for a small pool. */
const MIN_ABANDONED = 16;
/**
 * PHP accepts requests roughly in order, and each of its processes handles one. When this many later requests were
 * answered, a request is no longer queued but slow by itself.
 */
const OVERTAKEN_BY = 64;
/** When WordPress has sent no response for this time, it is not processing a queue, milliseconds. */
const STANDSTILL_MS = 2000;

/** Number of connections that are reserved for addresses that use none. */
function reservedConnections(connections: number): number {
  return connections === 1 ? 0 : Math.ceil(connections / 8);
}

/**
 * A bounded pool of connections to one web server, with a bounded queue of waiting requests. A request uses its
 * connection until WordPress has responded, even when its client has closed the connection before.
 */
export class UpstreamPool {
  readonly #idle: UpstreamConnection[] = [];
  /** Idle connections and those in use. */
  readonly #all = new Set<UpstreamConnection>();
  /** The client of each connection in use: the key of its address. Each holds a permit of that key. */
  readonly #inUse = new Map<UpstreamConnection, string>();
  /** Null until there is a slow download: most pools never have one. */
  #slow: SlowDownloads | null = null;
  #uploads: UploadLimiter | null = null;
  readonly #perAddress: number;
  readonly #maxAbandoned: number;
  /**
   * Requests whose clients have closed the connection and that may still be in WordPress's queue, with the number of
   * responses that PHP had sent before.
   */
  readonly #abandoned = new Map<UpstreamConnection, number>();
  /** Number of responses from PHP, and the time of the last one, as `performance.now()`. */
  #responses = 0;
  #respondedAt = Number.NEGATIVE_INFINITY;
  #standstill: NodeJS.Timeout | undefined;
  readonly #limiter: Limiter<ConnectionWaiter>;
  /** No new connections are opened. */
  #closed = false;
  /** Connections are not kept after their request. */
  #retired = false;
  /** Authority of the web server. */
  readonly host: string;

  constructor(
    readonly address: SocketAddress,
    readonly maxConnections: number,
  ) {
    this.host = toUpstreamAuthority(address);
    this.#perAddress = connectionsPerAddress(maxConnections);
    this.#maxAbandoned = Math.max(MIN_ABANDONED, Math.floor(maxConnections / 8));
    this.#limiter = new Limiter({
      permits: maxConnections,
      reserve: reservedConnections(maxConnections),
      waiting: maxConnections * 8,
      toGroup: networkKey,
      grant: (waiter) => this.#use(waiter),
      refuse: (waiter) => waiter.fail('busy', new Error('too many requests are waiting for WordPress')),
    });
  }

  /** Permits for bodies; created with the first one that has not arrived as a whole. */
  get uploads(): UploadLimiter {
    this.#uploads ??= new UploadLimiter(this.maxConnections);
    return this.#uploads;
  }

  /** Requests that wait for a connection. */
  get waiting(): number {
    return this.#limiter.waiting;
  }

  /** Provides a connection now or when one is free. Calls `fail('busy')` when too many requests are queued. */
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
   * Called when the client has closed the connection while WordPress processes its request: the connection stays in use
   * until WordPress responds. While too many such requests are in WordPress's queue, further requests are queued in the
   * pool, where requests of other addresses can overtake them.
   */
  abandon(connection: UpstreamConnection): void {
    connection.abandon((head) => {
      if (toClientResponseHead(head).signal !== undefined) this.recordResponse(connection);
    });
    this.recordLeft(connection);
  }

  /** Called when the client has closed the connection, but guard itself waits for the response to its request. */
  recordLeft(connection: UpstreamConnection): void {
    if (this.#inUse.has(connection)) this.#abandoned.set(connection, this.#responses);
  }

  /** Called when PHP has answered the request of a connection. */
  recordResponse(connection: UpstreamConnection): void {
    if (!this.#inUse.has(connection)) return;
    this.#responses++;
    this.#respondedAt = performance.now();
    // The oldest are first.
    for (const [each, before] of this.#abandoned) {
      if (this.#responses - before < OVERTAKEN_BY) break;
      this.#abandoned.delete(each);
    }
  }

  /** Removes a connection from the pool when the client decides how long it lasts. It no longer counts. */
  detach(connection: UpstreamConnection): void {
    this.#remove(connection);
  }

  /**
   * Removes the connection of a response that is read slowly or never ends from the pool. It no longer counts, and ends
   * with the response.
   *
   * @param from key of the client's address
   * @param end ends the response when others need the room
   * @returns false when that address has too many of them and this one must end
   */
  detachSlowDownload(connection: UpstreamConnection, from: string, end: () => void): boolean {
    this.#slow ??= new SlowDownloads(this.maxConnections);
    const added = this.#slow.add(connection, from, end);
    if (added) this.detach(connection);
    return added;
  }

  /** Called when no later requests will follow. Requests under way still get connections, which end with them. */
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
    for (const connection of [...this.#all, ...(this.#slow?.all() ?? [])]) connection.socket.destroy();
  }

  #use(waiter: ConnectionWaiter): void {
    const connection = this.#takeIdle(waiter.reuse) ?? this.#open();
    this.#inUse.set(connection, waiter.from);
    waiter.use(connection);
  }

  /** Takes the connection that has been idle for the shortest time. */
  #takeIdle(reuse: Reuse): UpstreamConnection | null {
    if (reuse === 'fresh') return null;
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.destroyed) continue;
      if (reuse === 'any' || connection.idleMs < YOUNG_MS) return connection;
      this.#idle.push(connection);
      return null;
    }
    return null;
  }

  #closeIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  #open(): UpstreamConnection {
    // Requests that use no idle connection must not increase the number of connections without limit.
    if (this.#all.size >= this.maxConnections) this.#idle.shift()?.destroy();
    const connection = new UpstreamConnection(
      this.address,
      (idle) => this.#release(idle),
      (closed) => {
        this.#slow?.delete(closed);
        this.#remove(closed);
      },
    );
    this.#all.add(connection);
    return connection;
  }

  /** Called when a connection has received its whole response. */
  #release(connection: UpstreamConnection): void {
    if (this.#slow?.has(connection)) {
      connection.destroy();
      return;
    }
    const idleMs = toIdleMs(connection.keepAliveSeconds);
    if (idleMs === 0) {
      connection.destroy();
      return;
    }
    connection.socket.setTimeout(idleMs);
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
    return this.#abandoned.size >= this.#maxAbandoned && performance.now() - this.#respondedAt < STANDSTILL_MS;
  }

  #serve(): void {
    if (!this.#isHeldUp()) this.#limiter.serveAll(this.#perAddress);
  }

  /** Serves queued requests after a standstill, since no further response may arrive to trigger it. */
  #serveAtStandstill(): void {
    if (this.#standstill !== undefined || !this.#isHeldUp()) return;
    this.#standstill = setTimeout(() => {
      this.#standstill = undefined;
      this.#serve();
      if (this.#limiter.waiting > 0) this.#serveAtStandstill();
    }, STANDSTILL_MS).unref();
  }
}
