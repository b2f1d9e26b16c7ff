import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressKey } from '../lib/address.js';
import { flushWrites } from '../upstream/batched-writes.js';
import type { Peer } from './peer.js';

/** Maximum of pipelined requests that wait on one connection (RFC 9112 section 9.3.2). */
const MAX_PIPELINED = 100;
/** How long a client may take to read the last bytes after guard has ended the connection, milliseconds. */
const LINGER_MS = 2000;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Begins handling. Everything held for the request is acquired from here on. */
  readonly start: () => void;
}

/**
 * One connection of a client, from accept to close. It handles one request at a time. What a request holds (an upstream
 * connection, a permit, a timer) is released when its response closes; when the socket closes, Node closes only the
 * response of the request under way.
 */
export class ClientConnection {
  #current: Exchange | null = null;
  #waiting: Exchange[] = [];
  /** No later request on this connection gets a response (RFC 9112 section 9.6). */
  #isLast = false;
  #isEnding = false;
  #isTunnel = false;
  /** The next response is the last one of the connection. */
  #endIsAnnounced = false;
  #bodyTimeout: NodeJS.Timeout | undefined;

  constructor(
    readonly socket: Socket,
    readonly peer: Peer,
    private readonly idleMs: number,
    /** Called when the connection becomes busy and when it becomes idle. */
    private readonly onBusy: (connection: ClientConnection, busy: boolean) => void,
  ) {
    // Node removes its own listener from upgraded sockets, and an error without a listener would end the process.
    socket.on('error', () => socket.destroy());
  }

  /** Whether a request is under way or the connection is a tunnel. */
  get isBusy(): boolean {
    return this.#current !== null || this.#isTunnel;
  }

  /**
   * Starts a request, or queues it until earlier ones have their responses. Requests beyond the limit, or after the last
   * one of the connection, are dropped: the client sees the connection end and may send them again.
   */
  receive(request: IncomingMessage, response: ServerResponse, start: () => void): void {
    if (this.#isLast || this.#isEnding) return;
    if (this.#current === null) this.#begin({ request, response, start });
    else if (this.#waiting.length < MAX_PIPELINED) this.#waiting.push({ request, response, start });
    else this.#isLast = true;
  }

  /** Hands the socket over to another protocol. From here on only its end is observed. */
  becomeTunnel(): void {
    this.#isTunnel = true;
    this.#isLast = true;
    this.onBusy(this, true);
    this.socket.setTimeout(0);
  }

  /**
   * Sends the last bytes and ends the connection: once the client has read them and had time to end its side, or when it
   * reads nothing for the idle timeout.
   */
  end(lastBytes: string | Buffer = ''): void {
    if (this.#isEnding || this.socket.destroyed) return;
    this.#isEnding = true;
    const { socket } = this;
    // While there is something to read, only reading counts as progress.
    socket.pause();
    socket.once('timeout', () => socket.destroy());
    socket.setTimeout(this.idleMs);
    socket.end(lastBytes, () => {
      if (socket.destroyed) return;
      // Discards further input: closing a socket with unread bytes would reset it and lose the response.
      socket.resume();
      const timeout = setTimeout(() => socket.destroy(), LINGER_MS);
      socket.once('close', () => clearTimeout(timeout));
    });
  }

  /** Ends the connection at once. Scheduled writes are flushed first. */
  abort(): void {
    flushWrites();
    this.socket.destroy();
  }

  /**
   * Tells the client with its next response that the connection ends. A connection that is just idle stays open, since a
   * request may be on its way.
   */
  announceEnd(): void {
    this.#endIsAnnounced = true;
    const response = this.#current?.response;
    if (response === undefined || response.headersSent || this.#waiting.length > 0) return;
    response.shouldKeepAlive = false;
    this.#isLast = true;
  }

  /** Ends the connection once the request under way has its response. */
  drain(): void {
    this.#waiting = [];
    if (this.#current === null) {
      this.socket.destroy();
      return;
    }
    this.announceEnd();
    this.#isLast = true;
  }

  /** The socket's timeout has fired. */
  onTimeout(): void {
    if (this.#current === null || this.#isClientSilent(this.#current)) this.socket.destroy();
    else this.socket.setTimeout(this.idleMs);
  }

  onClose(): void {
    this.#waiting = [];
    clearTimeout(this.#bodyTimeout);
  }

  /**
   * Whether the client causes the silence: it does not read what was sent, or does not send its body although there is
   * room. WordPress has a separate timeout.
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
    // The server ignores unwanted upgrades, but Node's parser stops reading after one.
    const isLast = (this.#isLast || this.#endIsAnnounced) && this.#waiting.length === 0;
    const ends = request.headers.upgrade !== undefined || isLast;
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

  /** The response was sent before the body was complete: discards the rest, which has a limited time to arrive. */
  #discardBody(request: IncomingMessage): void {
    this.#bodyTimeout = setTimeout(() => this.socket.destroy(), this.idleMs);
    request.once('end', () => {
      clearTimeout(this.#bodyTimeout);
      if (this.#isLast) this.socket.destroySoon();
    });
    request.resume();
  }
}

export interface ConnectionLimits {
  /** Connections of all clients. */
  readonly connections: number;
  /** Connections of one address, IPv6 by /64. Does not apply to trusted proxies. */
  readonly connectionsPerAddress: number;
  /** Seconds. */
  readonly idleSeconds: number;
}

/**
 * All connections of clients, within limits. When there are too many, the one that has been idle longest is closed; a
 * busy one never is.
 */
export class ClientConnectionTable {
  readonly #all = new Map<Socket, ClientConnection>();
  /** In the order in which they became idle. */
  readonly #idle = new Set<ClientConnection>();
  readonly #perAddress = new Map<string, number>();

  /** @param onRefused called for each connection over a limit: `connections` or `connections-per-address` */
  constructor(
    private readonly limits: ConnectionLimits,
    private readonly onRefused: (limit: string) => void,
  ) {}

  get size(): number {
    return this.#all.size;
  }

  /** The connection of an accepted socket, or undefined. */
  get(socket: Socket): ClientConnection | undefined {
    return this.#all.get(socket);
  }

  /** Registers a socket that Node has accepted, or destroys it when a limit is reached. */
  accept(socket: Socket, peer: Peer): void {
    const connection = new ClientConnection(socket, peer, this.limits.idleSeconds * 1000, (each, busy) => {
      if (busy) this.#idle.delete(each);
      else this.#idle.add(each);
    });
    const key = peer.isTrusted ? null : addressKey(peer.address);
    if (!this.#hasRoom(key)) {
      socket.destroy();
      return;
    }
    this.#all.set(socket, connection);
    this.#idle.add(connection);
    if (key !== null) this.#perAddress.set(key, (this.#perAddress.get(key) ?? 0) + 1);
    socket.once('close', () => {
      connection.onClose();
      this.#all.delete(socket);
      this.#idle.delete(connection);
      if (key !== null) this.#release(key);
    });
  }

  /** Has each connection end with its next response. */
  announceEnd(): void {
    for (const connection of this.#all.values()) connection.announceEnd();
  }

  /** Ends idle connections now, busy ones after their response. */
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
    const count = (this.#perAddress.get(key) ?? 1) - 1;
    if (count === 0) this.#perAddress.delete(key);
    else this.#perAddress.set(key, count);
  }
}
