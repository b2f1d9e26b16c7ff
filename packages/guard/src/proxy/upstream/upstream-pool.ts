import { authorityOf } from '../../lib/authority.js';
import { Aside } from './aside.js';
import { BodyLane } from './body-lane.js';
import { type UpstreamAddress, UpstreamConnection, type UpstreamFailure } from './upstream-connection.js';

/** Idle connections are closed after this time, well before a web server would: a request never meets a closing one. */
const IDLE_MS = 4000;

interface Waiting {
  use(connection: UpstreamConnection): void;
  fail(kind: UpstreamFailure, cause: unknown): void;
}

/** Connections to one WordPress, bounded; further requests wait in line, bounded too. */
export class UpstreamPool {
  readonly #idle: UpstreamConnection[] = [];
  readonly #all = new Set<UpstreamConnection>();
  readonly #waiting: Waiting[] = [];
  readonly #aside: Aside;
  #closed = false;
  /** Authority for requests that name no host. */
  readonly host: string;
  /** Leave for requests whose bodies are long in coming. */
  readonly bodies: BodyLane;

  constructor(
    readonly address: UpstreamAddress,
    private readonly maxConnections: number,
  ) {
    this.host = authorityOf(address);
    this.bodies = new BodyLane(maxConnections);
    this.#aside = new Aside(maxConnections);
  }

  /** Hands over a connection now or when one is free. `fail('busy')` when the line is too long. */
  take(waiting: Waiting): void {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (!connection.destroyed) {
        waiting.use(connection);
        return;
      }
    }
    if (this.#closed) waiting.fail('busy', new Error('shutting down'));
    else if (this.#all.size < this.maxConnections) waiting.use(this.#open());
    else if (this.#waiting.length < this.maxConnections * 8) this.#waiting.push(waiting);
    else waiting.fail('busy', new Error('too many requests are waiting for WordPress'));
  }

  /** Takes back someone who no longer wants to wait. */
  leave(waiting: Waiting): void {
    const at = this.#waiting.indexOf(waiting);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  /** A connection that is no longer one for requests, and lives as long as its visitor likes. It counts no more. */
  letGo(connection: UpstreamConnection): void {
    this.#forget(connection);
  }

  /**
   * The visitor takes the answer slowly: it goes on without counting among the connections, and ends with the answer.
   * @param from whose it is
   * @returns false when too many answers of that address are taken slowly: this one cannot go on
   */
  setAside(connection: UpstreamConnection, from: string): boolean {
    const aside = this.#aside.add(connection, from);
    if (aside === 'yes') this.letGo(connection);
    return aside !== 'too-many';
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  /** Ends everything at once, running requests included. */
  destroy(): void {
    this.close();
    for (const connection of [...this.#all, ...this.#aside.all()]) connection.socket.destroy();
  }

  #open(): UpstreamConnection {
    const connection = new UpstreamConnection(
      this.address,
      (idle) => this.#release(idle),
      (gone) => {
        this.#aside.delete(gone);
        this.#forget(gone);
      },
    );
    this.#all.add(connection);
    return connection;
  }

  #release(connection: UpstreamConnection): void {
    if (this.#aside.has(connection)) {
      connection.destroy();
      return;
    }
    const next = this.#waiting.shift();
    if (next !== undefined) next.use(connection);
    else if (this.#closed) connection.destroy();
    else {
      connection.socket.setTimeout(IDLE_MS);
      this.#idle.push(connection);
    }
  }

  #forget(connection: UpstreamConnection): void {
    if (!this.#all.delete(connection)) return;
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    const next = this.#waiting.shift();
    if (next !== undefined) next.use(this.#open());
  }
}
