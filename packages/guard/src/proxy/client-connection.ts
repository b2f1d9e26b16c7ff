import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Address, parseAddress } from '../lib/address.js';
import type { AddressSet } from '../lib/address-set.js';
import { addressKey } from '../login/address-key.js';

/** Requests that may wait on one connection for the answers before theirs (RFC 9112 section 9.3.2). */
const MAX_PIPELINED = 100;
/** How long a client has to read the last bytes of a connection that guard has ended, milliseconds. */
const LINGER_MS = 2000;

const UNKNOWN_PEER: Address = { words: [0, 0, 0xffff, 0], text: '0.0.0.0', family: 4 };

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Begins to answer; everything that is held for the request is taken from here on. */
  readonly start: () => void;
}

/**
 * One connection of a client, from its first byte to its end. It has one request under way at a time: what is held for
 * a request (an upstream connection, a permit, a timer) is given back when its response closes, and Node closes the
 * response of the request under way, and no other, when the socket closes.
 */
export class ClientConnection {
  readonly peer: Address;
  #current: Exchange | null = null;
  #waiting: Exchange[] = [];
  /** No later request on this connection is answered (RFC 9112 section 9.6). */
  #isLast = false;
  #isEnding = false;
  #isTunnel = false;
  #lateBody: NodeJS.Timeout | undefined;

  constructor(
    readonly socket: Socket,
    private readonly idleMs: number,
    /** Told when a request comes and none was under way, and when the last one is over. */
    private readonly onBusy: (connection: ClientConnection, busy: boolean) => void,
  ) {
    this.peer = parseAddress(socket.remoteAddress ?? '') ?? UNKNOWN_PEER;
    // Node takes its own listener away from sockets that leave HTTP; an error without a listener ends the process.
    socket.on('error', () => socket.destroy());
  }

  /** Whether a request is under way, or another protocol has taken over. */
  get isBusy(): boolean {
    return this.#current !== null || this.#isTunnel;
  }

  /**
   * Takes a request: starts it now, or once those before it are answered. Too many, and those after the last one that
   * the connection can have, are dropped: the client sees the connection end and may send them again.
   */
  receive(request: IncomingMessage, response: ServerResponse, start: () => void): void {
    if (this.#isLast || this.#isEnding) return;
    if (this.#current === null) this.#begin({ request, response, start });
    else if (this.#waiting.length < MAX_PIPELINED) this.#waiting.push({ request, response, start });
    else this.#isLast = true;
  }

  /** Another protocol takes the socket over; only its end matters from here on. */
  becomeTunnel(): void {
    this.#isTunnel = true;
    this.#isLast = true;
    this.onBusy(this, true);
    this.socket.setTimeout(0);
  }

  /**
   * Sends the last bytes and ends the connection: once the client has taken them and had time to end its side, or when
   * it takes nothing for the idle time.
   */
  end(lastBytes: string | Buffer = ''): void {
    if (this.#isEnding || this.socket.destroyed) return;
    this.#isEnding = true;
    const { socket } = this;
    // While there is something to take, only taking it counts as progress.
    socket.pause();
    socket.once('timeout', () => socket.destroy());
    socket.setTimeout(this.idleMs);
    socket.end(lastBytes, () => {
      if (socket.destroyed) return;
      // What still comes is thrown away; a socket closed with unread bytes would be reset, and the answer lost with it.
      socket.resume();
      const late = setTimeout(() => socket.destroy(), LINGER_MS);
      socket.once('close', () => clearTimeout(late));
    });
  }

  /** Lets the request under way finish, and then ends. */
  drain(): void {
    this.#waiting = [];
    if (this.#current === null) this.socket.destroy();
    else this.#isLast = true;
  }

  /** The socket was silent for its time. */
  timedOut(): void {
    if (this.#current === null || this.#isClientSilent(this.#current)) this.socket.destroy();
    else this.socket.setTimeout(this.idleMs);
  }

  closed(): void {
    this.#waiting = [];
    clearTimeout(this.#lateBody);
  }

  /**
   * Whether the silence is the client's: it does not take what was sent, or there is room for more of its body. WordPress
   * has a time limit of its own.
   */
  #isClientSilent({ request }: Exchange): boolean {
    if (this.socket.writableLength > 0) return true;
    const hasRoom = request.readableFlowing !== false && request.readableLength < request.readableHighWaterMark;
    return !request.complete && hasRoom;
  }

  #begin(exchange: Exchange): void {
    const { request, response, start } = exchange;
    this.#current = exchange;
    this.onBusy(this, true);
    this.socket.setTimeout(this.idleMs);
    response.on('error', () => this.socket.destroy());
    response.once('close', () => this.#finish(exchange));
    // The server ignores an upgrade that it does not want, but the parser of Node stops reading behind it.
    const ends = request.headers.upgrade !== undefined || (this.#isLast && this.#waiting.length === 0);
    if (ends) response.shouldKeepAlive = false;
    start();
    if (!response.shouldKeepAlive) {
      this.#isLast = true;
      this.#waiting = [];
    }
  }

  #finish({ request }: Exchange): void {
    this.#current = null;
    const { socket } = this;
    if (socket.destroyed) return;
    const next = this.#waiting.shift();
    if (next !== undefined) {
      this.#begin(next);
      return;
    }
    this.onBusy(this, false);
    if (!request.complete) this.#discardBody(request);
    else if (this.#isLast) socket.destroySoon();
  }

  /** Answered before the body was whole: the rest is thrown away, and has a limited time to arrive. */
  #discardBody(request: IncomingMessage): void {
    this.#lateBody = setTimeout(() => this.socket.destroy(), this.idleMs);
    request.once('end', () => {
      clearTimeout(this.#lateBody);
      if (this.#isLast) this.socket.destroySoon();
    });
    request.resume();
  }
}

export interface ConnectionLimits {
  /** Connections of all clients. */
  readonly connections: number;
  /** Connections of one address, IPv6 by /64; trusted proxies have as many as they like. */
  readonly connectionsPerAddress: number;
  /** Seconds. */
  readonly idleSeconds: number;
}

/**
 * All connections of clients, within limits. When there are too many, the one that has been idle longest makes room; one
 * with a request under way never does.
 */
export class ClientConnections {
  readonly #all = new Map<Socket, ClientConnection>();
  /** In the order in which they became idle. */
  readonly #idle = new Set<ClientConnection>();
  readonly #perAddress = new Map<string, number>();

  /** @param onRefused told of each connection that is over a limit: `connections` or `connections-per-address` */
  constructor(
    private readonly limits: ConnectionLimits,
    private readonly trusted: Pick<AddressSet, 'has'>,
    private readonly onRefused: (limit: string) => void,
  ) {}

  get size(): number {
    return this.#all.size;
  }

  /** The connection of a socket that was accepted, or undefined. */
  get(socket: Socket): ClientConnection | undefined {
    return this.#all.get(socket);
  }

  /** Takes on a socket that Node has accepted, or destroys it. */
  accept(socket: Socket): void {
    const connection = new ClientConnection(socket, this.limits.idleSeconds * 1000, (each, busy) => {
      if (busy) this.#idle.delete(each);
      else this.#idle.add(each);
    });
    const key = this.trusted.has(connection.peer) ? null : addressKey(connection.peer);
    if (!this.#hasRoom(key)) {
      socket.destroy();
      return;
    }
    this.#all.set(socket, connection);
    this.#idle.add(connection);
    if (key !== null) this.#perAddress.set(key, (this.#perAddress.get(key) ?? 0) + 1);
    socket.once('close', () => {
      connection.closed();
      this.#all.delete(socket);
      this.#idle.delete(connection);
      if (key !== null) this.#release(key);
    });
  }

  /** Ends idle connections now, and the others when their request is answered. */
  drain(): void {
    for (const connection of this.#all.values()) connection.drain();
  }

  destroy(): void {
    for (const socket of this.#all.keys()) socket.destroy();
  }

  #hasRoom(key: string | null): boolean {
    if (key !== null && (this.#perAddress.get(key) ?? 0) >= this.limits.connectionsPerAddress) {
      this.onRefused('connections-per-address');
      return false;
    }
    if (this.#all.size < this.limits.connections) return true;
    this.onRefused('connections');
    const [longestIdle] = this.#idle;
    if (longestIdle === undefined) return false;
    this.#idle.delete(longestIdle);
    longestIdle.socket.destroy();
    return true;
  }

  #release(key: string): void {
    const left = (this.#perAddress.get(key) ?? 1) - 1;
    if (left === 0) this.#perAddress.delete(key);
    else this.#perAddress.set(key, left);
  }
}
