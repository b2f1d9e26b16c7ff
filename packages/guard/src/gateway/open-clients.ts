import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Clock } from '../lib/clock.js';
import type { ClientConnection } from './client-connection.js';

/** One open connection of a client, as reported in the log. */
export interface OpenClient {
  readonly address: string;
  /** Seconds since guard accepted it. */
  readonly seconds: number;
  /** Method and path of the request under way, without its query, which may hold secrets; null for none or a tunnel. */
  readonly request: string | null;
}

/** The open connections of clients, for the log of a shutdown. */
export interface OpenClientsReport {
  readonly count: number;
  /** The oldest connections, at most `MOST_NAMED`. */
  readonly oldest: readonly OpenClient[];
}

/** Number of connections that are listed: enough to see a pattern in one line of the log. */
const MAX_LISTED = 5;
const MAX_CHARACTERS = 200;

/** Every socket that a server has accepted, also those without a request so far. */
export class OpenClients {
  /** Time at which each was accepted, in that order. */
  readonly #accepted = new Map<Socket, number>();

  constructor(
    server: Server,
    private readonly clock: Clock,
  ) {
    server.on('connection', (socket: Socket) => {
      this.#accepted.set(socket, clock());
      socket.once('close', () => this.#accepted.delete(socket));
    });
  }

  /** @param toConnection the connection of an accepted socket, or undefined when it can't have sent a request yet */
  report(toConnection: (socket: Socket) => ClientConnection | undefined): OpenClientsReport {
    const now = this.clock();
    // A destroyed socket may not have emitted `close` yet.
    const open = [...this.#accepted].filter(([socket]) => !socket.destroyed);
    const oldest = open.slice(0, MAX_LISTED).map(([socket, since]) => {
      const connection = toConnection(socket);
      return {
        address: connection?.peer.address.text ?? socket.remoteAddress ?? 'unknown',
        seconds: Math.max(0, Math.round((now - since) / 1000)),
        request: findRequest(connection?.socket ?? socket),
      };
    });
    return { count: open.length, oldest };
  }
}

/** Node keeps the response under way at the socket. A copy would cost every request, and is needed only once. */
function findRequest(socket: Socket): string | null {
  const { _httpMessage: response } = socket as Socket & { readonly _httpMessage?: ServerResponse | null };
  const request = response?.req;
  if (request?.url === undefined) return null;
  return `${request.method} ${request.url.replace(/[?#].*/s, '')}`.slice(0, MAX_CHARACTERS);
}
