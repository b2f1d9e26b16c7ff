import { networkKey } from '../lib/address.js';
import { Shares } from '../lib/shares.js';
import type { UpstreamConnection } from './upstream-client.js';

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
