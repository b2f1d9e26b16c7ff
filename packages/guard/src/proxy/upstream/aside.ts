import type { UpstreamConnection } from './upstream-connection.js';

/**
 * Connections whose answers are taken slowly. WordPress is done with most of them, so they do not count among those that
 * requests wait for; else a few visitors who read nothing would keep everybody from the site. Bounded: in all eight
 * times, and for one address half, of what counts.
 */
export class Aside {
  readonly #from = new Map<UpstreamConnection, string>();
  readonly #counts = new Map<string, number>();

  /** @param connections most connections that count */
  constructor(private readonly connections: number) {}

  /** @returns whether it is set aside; `too-many`: its address has too many already */
  add(connection: UpstreamConnection, from: string): 'yes' | 'no' | 'too-many' {
    if (this.#from.has(connection)) return 'yes';
    const count = this.#counts.get(from) ?? 0;
    if (count >= Math.max(1, this.connections / 2)) return 'too-many';
    if (this.#from.size >= this.connections * 8) return 'no';
    this.#from.set(connection, from);
    this.#counts.set(from, count + 1);
    return 'yes';
  }

  has(connection: UpstreamConnection): boolean {
    return this.#from.has(connection);
  }

  delete(connection: UpstreamConnection): void {
    const from = this.#from.get(connection);
    if (from === undefined) return;
    this.#from.delete(connection);
    const left = (this.#counts.get(from) ?? 1) - 1;
    if (left === 0) this.#counts.delete(from);
    else this.#counts.set(from, left);
  }

  all(): Iterable<UpstreamConnection> {
    return this.#from.keys();
  }
}
