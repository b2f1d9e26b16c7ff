import { networkKey } from '../lib/address.js';
import { Limiter } from '../lib/limiter.js';
import { type SocketAddress, toUpstreamAuthority } from '../lib/socket-address.js';
import { toClientResponseHead } from './message-head.js';
import { SlowDownloads } from './slow-downloads.js';
import { UploadLimiter } from './upload-limiter.js';
import { UpstreamConnection, type UpstreamFailure } from './upstream-client.js';

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

/**
 * The permits of a pool whose connections several processes share: one of them counts, and the others ask it. A permit
 * is a number.
 */
export interface SharedPermits {
  /** Calls one of the two once, now or later, unless the request is cancelled. */
  acquire(waiter: ConnectionWaiter, answer: { granted(permit: number): void; refused(): void }): void;
  cancel(waiter: ConnectionWaiter): void;
  /** See `UpstreamPool.recordLeft` and `UpstreamPool.recordResponse`. */
  recordLeft(permit: number): void;
  recordResponse(permit: number): void;
  release(permit: number): void;
}

/**
 * How several processes share the connections to one web server. One of them counts. The others may use a few without
 * asking, which it does not give away, and ask for the rest.
 */
export type PoolShare =
  | { readonly role: 'counts'; readonly workers: number }
  | { readonly role: 'asks'; readonly workers: number; readonly permits: SharedPermits };

/** Which part of the connections that a process may use without asking one address may use. */
const OWN_PART_PER_ADDRESS = 4;

/**
 * How many connections a process that asks may use without asking. None if that were too few for any address to use
 * one: they would be lost to all.
 *
 * @param maximum of all processes
 */
export function ownConnections(maximum: number, workers: number): number {
  const part = Math.floor(maximum / (2 * workers));
  return part < OWN_PART_PER_ADDRESS ? 0 : part;
}

/** A request of another process, which holds a permit of this process's pool. */
export interface Borrower {
  /** Key of the client's address. */
  readonly from: string;
  granted(): void;
  refused(): void;
}

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
  /**
   * The client of each connection in use, and of each request of another process: the key of its address. Each holds a
   * permit of that key.
   */
  readonly #inUse = new Map<UpstreamConnection | Borrower, string>();
  /** The permit of each connection in use; empty unless another process counts. */
  readonly #permits = new Map<UpstreamConnection, number>();
  /** Null until there is a slow download: most pools never have one. */
  #slow: SlowDownloads | null = null;
  #uploads: UploadLimiter | null = null;
  readonly #perAddress: number;
  readonly #maxAbandoned: number;
  /**
   * Requests whose clients have closed the connection and that may still be in WordPress's queue, with the number of
   * responses that PHP had sent before.
   */
  readonly #abandoned = new Map<UpstreamConnection | Borrower, number>();
  /** Number of responses from PHP, and the time of the last one, as `performance.now()`. */
  #responses = 0;
  #respondedAt = Number.NEGATIVE_INFINITY;
  #standstill: NodeJS.Timeout | undefined;
  readonly #limiter: Limiter<ConnectionWaiter | Borrower>;
  readonly #shared: SharedPermits | null;
  /** How many connections this process may keep idle. */
  readonly #maxKept: number;
  /** No new connections are opened. */
  #closed = false;
  /** Connections are not kept after their request. */
  #retired = false;
  /** Authority of the web server. */
  readonly host: string;

  /** @param share set when several processes connect to the web server; null when only this one does */
  constructor(
    readonly address: SocketAddress,
    readonly maxConnections: number,
    share: PoolShare | null = null,
  ) {
    const workers = share?.workers ?? 0;
    const own = share === null ? 0 : ownConnections(maxConnections, workers);
    const permits = share?.role === 'asks' ? own : maxConnections - own * workers;
    const perAddress = connectionsPerAddress(maxConnections);
    const ownPerAddress = Math.floor(own / OWN_PART_PER_ADDRESS);
    this.#shared = share?.role === 'asks' ? share.permits : null;
    this.#maxKept = share === null ? maxConnections : Math.ceil(maxConnections / (workers + 1));
    this.host = toUpstreamAuthority(address);
    this.#perAddress = this.#shared === null ? Math.max(1, perAddress - ownPerAddress * workers) : ownPerAddress;
    this.#maxAbandoned = Math.max(MIN_ABANDONED, Math.floor(maxConnections / 8));
    this.#limiter = new Limiter({
      permits,
      reserve: Math.max(0, Math.min(reservedConnections(permits), permits - 1)),
      waiting: maxConnections * 8,
      toGroup: networkKey,
      grant: (waiter) => this.#grant(waiter),
      refuse: (waiter) => refuse(waiter, 'too many requests are waiting for WordPress'),
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
    if (this.#closed) refuse(waiter, 'shutting down');
    else if (this.#shared !== null) {
      if (!this.#isHeldUp() && this.#limiter.tryAcquire(waiter.from, this.#perAddress)) {
        this.#use(waiter);
        return;
      }
      this.#shared.acquire(waiter, {
        granted: (permit) => this.#use(waiter, permit),
        refused: () => refuse(waiter, 'too many requests are waiting for WordPress'),
      });
    } else this.#await(waiter);
  }

  /** Like `acquire`, for a request of another process, which opens the connection. */
  lend(borrower: Borrower): void {
    if (this.#closed) borrower.refused();
    else this.#await(borrower);
  }

  #await(waiter: ConnectionWaiter | Borrower): void {
    if (!this.#isHeldUp() && this.#limiter.tryAcquire(waiter.from, this.#perAddress)) this.#grant(waiter);
    else if (this.#limiter.enqueue(waiter.from, waiter)) this.#serveAtStandstill();
    else refuse(waiter, 'too many requests are waiting for WordPress');
  }

  /** Removes a waiter from the queue. */
  cancel(waiter: ConnectionWaiter | Borrower): void {
    if (this.#shared === null) this.#limiter.cancel(waiter.from, waiter);
    else if ('use' in waiter) this.#shared.cancel(waiter);
  }

  /** Called when the request of another process is over. */
  endLoan(borrower: Borrower): void {
    this.#endUse(borrower);
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
  recordLeft(connection: UpstreamConnection | Borrower): void {
    const permit = this.#findPermit(connection);
    if (permit !== undefined) this.#shared?.recordLeft(permit);
    else if (this.#inUse.has(connection)) this.#abandoned.set(connection, this.#responses);
  }

  /** Called when PHP has answered the request of a connection. */
  recordResponse(connection: UpstreamConnection | Borrower): void {
    const permit = this.#findPermit(connection);
    if (permit !== undefined) {
      this.#shared?.recordResponse(permit);
      return;
    }
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
    this.#slow ??= new SlowDownloads(this.#maxKept);
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

  #grant(waiter: ConnectionWaiter | Borrower): void {
    if ('use' in waiter) this.#use(waiter);
    else {
      this.#inUse.set(waiter, waiter.from);
      waiter.granted();
    }
  }

  #use(waiter: ConnectionWaiter, permit?: number): void {
    const connection = this.#takeIdle(waiter.reuse) ?? this.#open();
    this.#inUse.set(connection, waiter.from);
    if (permit !== undefined) this.#permits.set(connection, permit);
    waiter.use(connection);
  }

  #findPermit(connection: UpstreamConnection | Borrower): number | undefined {
    return this.#shared === null ? undefined : this.#permits.get(connection as UpstreamConnection);
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
    if (this.#all.size >= this.#maxKept) this.#idle.shift()?.destroy();
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

  #endUse(connection: UpstreamConnection | Borrower): void {
    const from = this.#inUse.get(connection);
    if (from === undefined) return;
    this.#inUse.delete(connection);
    const permit = this.#findPermit(connection);
    if (permit !== undefined) {
      this.#permits.delete(connection as UpstreamConnection);
      this.#shared?.release(permit);
      return;
    }
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

function refuse(waiter: ConnectionWaiter | Borrower, why: string): void {
  if ('use' in waiter) waiter.fail('busy', new Error(why));
  else waiter.refused();
}
