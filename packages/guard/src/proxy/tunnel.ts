import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RawHeaders } from '../protections/protection.js';
import { forwardedHead } from './response-head.js';
import type { ResponseHead } from './upstream/response-parser.js';
import { type UpstreamAddress, UpstreamConnection, type UpstreamFailure } from './upstream/upstream-connection.js';

export interface Tunnelling {
  readonly client: Duplex;
  /** Bytes that the client sent behind the request head. */
  readonly early: Buffer;
  readonly upstream: UpstreamAddress;
  /** Request head that asks for the switch. */
  readonly head: string;
  readonly timeoutMs: number;
  editHeaders(headers: RawHeaders): void;
  onSignal(signal: string | undefined): void;
  /** The visitor gets this answer. */
  onAnswered(status: number): void;
  onFailure(kind: UpstreamFailure, cause: unknown, started: boolean): void;
}

/**
 * Passes a WebSocket handshake on (RFC 6455 section 4) and, once WordPress's server has agreed with 101, joins the two
 * sockets. A refusal is passed back as a plain answer and the connection ends.
 */
export function tunnel(t: Tunnelling): void {
  let started = false;
  let answer: Buffer[] | null = null;
  const connection = new UpstreamConnection(
    t.upstream,
    () => connection.destroy(),
    () => {},
  );
  t.client.on('error', () => connection.destroy());
  t.client.on('close', () => connection.destroy());
  connection.send(
    t.head,
    {
      onInformation() {},
      onDrain() {},
      onHead(head) {
        started = true;
        const { headers, signal } = forwardedHead(head);
        t.onSignal(signal);
        t.onAnswered(head.status);
        t.editHeaders(headers);
        if (head.status === 101)
          t.client.write(headText(head, [...headers, 'Connection', 'Upgrade', 'Upgrade', 'websocket']), 'latin1');
        else {
          answer = [];
          t.client.write(headText(head, [...headers, 'Connection', 'close']), 'latin1');
        }
      },
      onBody(piece) {
        t.client.write(piece);
      },
      onComplete(_reusable, rest) {
        if (answer !== null || rest === null) t.client.end();
        else join(t.client, t.early, connection.socket, rest);
      },
      onFailure: (kind, cause) => t.onFailure(kind, cause, started),
    },
    { headRequest: false, expectsBody: false, timeoutMs: t.timeoutMs },
  );
}

function join(client: Duplex, early: Buffer, upstream: Socket, rest: Buffer): void {
  upstream.setTimeout(0);
  (client as Socket).setTimeout?.(0);
  upstream.removeAllListeners('data');
  if (rest.length > 0) client.write(rest);
  if (early.length > 0) upstream.write(early);
  upstream.on('error', () => client.destroy());
  upstream.on('close', () => client.destroy());
  upstream.pipe(client);
  client.pipe(upstream);
}

/** The answer never has a length the client could trust after hop-by-hop headers are gone, so it ends with the connection. */
function headText(head: ResponseHead, headers: readonly string[]): string {
  let text = `HTTP/1.1 ${head.status} ${head.reason}\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}
