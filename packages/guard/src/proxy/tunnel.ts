import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RawHeaders } from '../protections/protection.js';
import { forwardedHead } from './response-head.js';
import type { ResponseHead } from './upstream/response-parser.js';
import type { UpstreamConnection, UpstreamFailure } from './upstream/upstream-connection.js';
import type { UpstreamPool } from './upstream/upstream-pool.js';

export interface Tunnelling {
  readonly client: Duplex;
  /** The connection of the client, which may lie below it. */
  readonly socket: Socket;
  /** Bytes that the client sent behind the request head. */
  readonly early: Buffer;
  readonly pool: UpstreamPool;
  /** Request head that asks for the switch, made when it goes out: WordPress believes no old one. */
  head(): string;
  readonly timeoutMs: number;
  /** Longest time in which the client takes nothing of a plain answer. */
  readonly idleMs: number;
  editHeaders(headers: RawHeaders): void;
  /** What the connector says. @returns whether its answer may go out; if not, somebody else answers the visitor. */
  onSignal(signal: string | undefined): boolean;
  /** A plain answer to the client, for a handshake that was refused. */
  plainAnswer(): ServerResponse;
  /** The visitor gets this answer. */
  onAnswered(status: number): void;
  onFailure(kind: UpstreamFailure, cause: unknown, started: boolean): void;
}

/**
 * Passes a WebSocket handshake on (RFC 6455 section 4) and, once WordPress's server has agreed with 101, joins the two
 * sockets. A refusal is passed back as a plain answer, framed like any other, and the connection ends. Until it is
 * answered a handshake is a request like any other and takes one of the pool's connections: WordPress makes a whole page
 * for one that it does not understand.
 */
export function tunnel(t: Tunnelling): void {
  let connection: UpstreamConnection | null = null;
  const waiting = {
    use(granted: UpstreamConnection): void {
      connection = granted;
      shakeHands(t, granted, end);
    },
    fail: (kind: UpstreamFailure, cause: unknown): void => t.onFailure(kind, cause, false),
  };
  const end = (): void => {
    if (connection === null) t.pool.leave(waiting);
    else connection.destroy();
  };
  t.client.on('error', end);
  t.client.on('close', end);
  t.client.on('readable', lookForEnd);
  t.client.on('end', leave);
  t.pool.take(waiting);
}

/** Nobody reads from a client while its handshake is under way, so nobody would see it leave. */
function lookForEnd(this: Duplex): void {
  if (this.readableLength === 0) this.read();
}

function leave(this: Duplex): void {
  this.destroy();
}

function shakeHands(t: Tunnelling, connection: UpstreamConnection, end: () => void): void {
  let started = false;
  let answer: ServerResponse | null = null;
  connection.send(
    t.head(),
    {
      onInformation() {},
      onDrain() {},
      onHead(head) {
        started = true;
        const { headers, signal } = forwardedHead(head);
        if (!t.onSignal(signal)) {
          t.client.removeListener('close', end);
          connection.destroy();
          return;
        }
        t.onAnswered(head.status);
        t.editHeaders(headers);
        if (head.status === 101) {
          t.client.write(headText(head, [...headers, 'Connection', 'Upgrade', 'Upgrade', 'websocket']), 'latin1');
          return;
        }
        answer = t.plainAnswer();
        try {
          answer.writeHead(head.status, head.reason, headers);
        } catch (cause) {
          t.onFailure('syntax', cause, true);
        }
      },
      onBody(piece) {
        if ((answer ?? t.client).write(piece)) return;
        connection.socket.pause();
        t.socket.setTimeout(t.idleMs);
        t.client.once('drain', () => {
          t.socket.setTimeout(0);
          connection.socket.resume();
        });
      },
      onComplete(_reusable, rest) {
        if (rest !== null) {
          t.pool.letGo(connection);
          t.socket.setTimeout(0);
          join(t.client, t.early, connection.socket, rest);
          return;
        }
        // The client, whose end ends it, has nothing more to do with it.
        connection.destroy();
        if (answer !== null) answer.end();
        else t.client.end();
      },
      onFailure: (kind, cause) => t.onFailure(kind, cause, started),
    },
    { headRequest: false, expectsBody: false, timeoutMs: t.timeoutMs },
  );
}

function join(client: Duplex, early: Buffer, upstream: Socket, rest: Buffer): void {
  client.removeListener('readable', lookForEnd).removeListener('end', leave);
  upstream.setTimeout(0);
  upstream.removeAllListeners('data');
  if (rest.length > 0) client.write(rest);
  if (early.length > 0) upstream.write(early);
  upstream.on('error', () => client.destroy());
  upstream.on('close', () => client.destroy());
  upstream.pipe(client);
  client.pipe(upstream);
}

function headText(head: ResponseHead, headers: readonly string[]): string {
  let text = `HTTP/1.1 ${head.status} ${head.reason}\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}
