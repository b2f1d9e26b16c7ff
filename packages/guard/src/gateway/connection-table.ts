import type { Socket } from 'node:net';
import { toClientKey } from '../lib/address.js';
import { ClientConnection } from './client-connection.js';
import type { Peer } from './peer.js';
import type { RawRequest } from './raw-target.js';

export interface ConnectionLimits {
  /** Connections of all clients. */
  readonly connections: number;
  /** Connections of one address, IPv6 by /64. Does not apply to trusted proxies. */
  readonly connectionsPerAddress: number;
  /** Seconds. */
  readonly idleSeconds: number;
}

/** Counts connections of several processes together, each of which has a table of its own. */
export interface SharedConnectionCount {
  /** @param address key of the client's address; null for a trusted proxy */
  opened(address: string | null): void;
  closed(address: string | null): void;
}

/** The connections of one address. */
interface AddressConnections {
  count: number;
  /** In the order in which they became idle. */
  readonly idle: Set<ClientConnection>;
}

/** The connections at the moment at which their end was announced. */
export interface EarlierConnections {
  /** Resolves when all of them have closed. */
  readonly closed: Promise<unknown>;
  /** See `ClientConnectionTable.drain`. */
  drain(): void;
}

/** Interval between two probes of the connections from which guard does not read, milliseconds. */
const PROBE_MS = 1000;

/**
 * All connections of clients, within limits. When there are too many, in total or of one address, the one that has been
 * idle longest is closed; a busy one is never closed.
 */
export class ClientConnectionTable {
  readonly #all = new Map<Socket, ClientConnection>();
  /** Connections whose socket was replaced by a stream, by that stream. */
  readonly #streams = new Map<Socket, ClientConnection>();
  /** In the order in which they became idle. */
  readonly #idle = new Set<ClientConnection>();
  readonly #perAddress = new Map<string, AddressConnections>();
  #probes: NodeJS.Timeout | undefined;
  #endIsAnnounced = false;

  /**
   * @param onRefused called for each connection over a limit: `connections` or `connections-per-address`
   * @param shared counts the connections of all processes; calls `shed` when they are too many
   */
  constructor(
    private readonly limits: ConnectionLimits,
    private readonly onRefused: (limit: string) => void,
    private readonly shared: SharedConnectionCount | null = null,
  ) {}

  get size(): number {
    return this.#all.size;
  }

  /** The connection of an accepted socket or of its replacement, or undefined. */
  get(socket: Socket): ClientConnection | undefined {
    return this.#all.get(socket) ?? this.#streams.get(socket);
  }

  /** Like `ClientConnection.readAgain`. The connection is still counted once for the limits. */
  readAgain(connection: ClientConnection, request: RawRequest): Socket {
    this.#streams.delete(connection.socket);
    const stream = connection.readAgain(request);
    this.#streams.set(stream, connection);
    return stream;
  }

  /**
   * Registers a socket that Node has accepted, or destroys it when a limit is reached.
   * @param isRelay see `ClientConnection.isRelay`; such a connection has no limit, since its process has counted
   */
  accept(socket: Socket, peer: Peer, isRelay = false): void {
    const key = isRelay || peer.isTrusted ? null : toClientKey(peer.client);
    const ofAddress = key === null ? null : this.#ofAddress(key);
    if (!isRelay && !this.#hasRoom(ofAddress)) {
      socket.destroy();
      return;
    }
    const onBusy = (each: ClientConnection, busy: boolean): void => {
      for (const idle of [isRelay ? undefined : this.#idle, ofAddress?.idle]) {
        if (busy) idle?.delete(each);
        else idle?.add(each);
      }
    };
    const connection = new ClientConnection(socket, peer, this.limits.idleSeconds * 1000, onBusy, isRelay);
    this.#probes ??= setInterval(() => this.#probe(), PROBE_MS).unref();
    this.#all.set(socket, connection);
    if (this.#endIsAnnounced) connection.announceEnd();
    if (!isRelay) this.#idle.add(connection);
    if (!isRelay) this.shared?.opened(key);
    if (ofAddress !== null && key !== null) {
      ofAddress.count++;
      ofAddress.idle.add(connection);
      this.#perAddress.set(key, ofAddress);
    }
    socket.once('close', () => {
      connection.onClose();
      this.#all.delete(socket);
      this.#streams.delete(connection.socket);
      this.#idle.delete(connection);
      if (!isRelay) this.shared?.closed(key);
      if (ofAddress === null || key === null) return;
      ofAddress.idle.delete(connection);
      ofAddress.count--;
      if (ofAddress.count === 0) this.#perAddress.delete(key);
    });
  }

  /**
   * Compares each connection with changed trusted proxies.
   * @param toCurrent returns the peer as it is now; null ends the connection, after a response under way
   */
  updatePeers(toCurrent: (peer: Peer) => Peer | null): void {
    for (const connection of this.#all.values()) {
      if (connection.isRelay) continue;
      const peer = toCurrent(connection.peer);
      if (peer === null) connection.drain();
      else connection.peer = peer;
    }
  }

  /**
   * Announces the end of each connection with its next response, also of those that are accepted from now on.
   *
   * @returns the connections of this moment
   */
  announceEnd(): EarlierConnections {
    this.#endIsAnnounced = true;
    const earlier = [...this.#all];
    for (const [, connection] of earlier) connection.announceEnd();
    return {
      closed: Promise.all(earlier.map(([socket]) => new Promise((resolve) => socket.once('close', resolve)))),
      drain() {
        for (const [, connection] of earlier) connection.drain();
      },
    };
  }

  /** Ends idle connections now, and busy ones after their response. */
  drain(): void {
    for (const connection of this.#all.values()) connection.drain();
  }

  destroy(): void {
    for (const socket of this.#all.keys()) socket.destroy();
  }

  /**
   * Closes a connection, because all processes together have too many: the one that has been idle longest, else the
   * newest one.
   *
   * @param address of this address; null for any
   */
  shed(address: string | null): void {
    this.onRefused(address === null ? 'connections' : 'connections-per-address');
    if (this.#closeOne(address === null ? this.#idle : (this.#perAddress.get(address)?.idle ?? new Set()))) return;
    const matching = [...this.#all].filter(
      ([, { peer }]) => address === null || (!peer.isTrusted && toClientKey(peer.client) === address),
    );
    matching.at(-1)?.[0].destroy();
  }

  /** Called when no further connections are accepted. */
  stop(): void {
    clearInterval(this.#probes);
  }

  #ofAddress(key: string): AddressConnections {
    return this.#perAddress.get(key) ?? { count: 0, idle: new Set() };
  }

  #hasRoom(ofAddress: AddressConnections | null): boolean {
    if (ofAddress !== null && ofAddress.count >= this.limits.connectionsPerAddress) {
      this.onRefused('connections-per-address');
      return this.#closeOne(ofAddress.idle);
    }
    if (this.#all.size < this.limits.connections) return true;
    this.onRefused('connections');
    return this.#closeOne(this.#idle);
  }

  /** Closes the connection that has been idle longest. @returns whether there was one */
  #closeOne(idle: Set<ClientConnection>): boolean {
    const [longestIdle] = idle;
    if (longestIdle === undefined) return false;
    // Its `close` event is emitted later.
    idle.delete(longestIdle);
    longestIdle.socket.destroy();
    return true;
  }

  #probe(): void {
    for (const connection of this.#all.values()) if (connection.isBlind) connection.probe();
  }
}
