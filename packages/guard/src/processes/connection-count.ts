/** The limits of connections of clients, for all processes together. */
interface ConnectionLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
}

/** Counts the connections of clients that all workers have accepted. Pure bookkeeping: the workers close connections. */
export class ConnectionCount {
  readonly #perAddress = new Map<string, number>();
  /** The connections of each worker, to be forgotten when it ends. */
  readonly #ofWorker = new Map<object, Map<string | null, number>>();
  #total = 0;

  constructor(private readonly limits: ConnectionLimits) {}

  get total(): number {
    return this.#total;
  }

  /**
   * Counts a new connection.
   * @param address key of the client's address; null for a trusted proxy, which has no limit of its own
   * @returns the address, or null for all clients, of which the worker has to close a connection; undefined for none
   */
  open(worker: object, address: string | null): string | null | undefined {
    const own = this.#ofWorker.get(worker) ?? new Map<string | null, number>();
    this.#ofWorker.set(worker, own);
    own.set(address, (own.get(address) ?? 0) + 1);
    this.#total++;
    if (address !== null) {
      const count = (this.#perAddress.get(address) ?? 0) + 1;
      this.#perAddress.set(address, count);
      if (count > this.limits.connectionsPerAddress) return address;
    }
    return this.#total > this.limits.connections ? null : undefined;
  }

  close(worker: object, address: string | null): void {
    const own = this.#ofWorker.get(worker);
    const count = own?.get(address) ?? 0;
    if (own === undefined || count === 0) return;
    if (count === 1) own.delete(address);
    else own.set(address, count - 1);
    this.#subtract(address, 1);
  }

  /** Forgets the connections of a worker that has ended. */
  forget(worker: object): void {
    for (const [address, count] of this.#ofWorker.get(worker) ?? []) this.#subtract(address, count);
    this.#ofWorker.delete(worker);
  }

  #subtract(address: string | null, count: number): void {
    this.#total -= count;
    if (address === null) return;
    const left = (this.#perAddress.get(address) ?? 0) - count;
    if (left > 0) this.#perAddress.set(address, left);
    else this.#perAddress.delete(address);
  }
}
