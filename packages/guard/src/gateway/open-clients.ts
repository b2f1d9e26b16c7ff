import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Clock } from '../lib/clock.js';
import type { ClientConnection } from './client-connection.js';

/** What is said of one open connection of a client. */
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
  /** The oldest few. */
  readonly oldest: readonly OpenClient[];
}

/** Connections that are named one by one: enough to see a pattern in one line of the log. */
const MOST_NAMED = 5;
const MOST_CHARACTERS = 200;

/** Every socket that a server has accepted, also those that no request has come on yet. */
export class OpenClients {
  /** When each was accepted, in that order. */
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

  /** @param toConnection the connection of an accepted socket, or undefined where no request can have come yet */
  report(toConnection: (socket: Socket) => ClientConnection | undefined): OpenClientsReport {
    const now = this.clock();
    // A socket that is destroyed is gone, although its last event has yet to come.
    const open = [...this.#accepted].filter(([socket]) => !socket.destroyed);
    const oldest = open.slice(0, MOST_NAMED).map(([socket, since]) => {
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

/** Node notes the response under way at the socket. Keeping a second note would cost every request, to be read once. */
function findRequest(socket: Socket): string | null {
  const { _httpMessage: response } = socket as Socket & { readonly _httpMessage?: ServerResponse | null };
  const request = response?.req;
  if (request?.url === undefined) return null;
  return `${request.method} ${request.url.replace(/[?#].*/s, '')}`.slice(0, MOST_CHARACTERS);
}
