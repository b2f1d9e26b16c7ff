import type { Socket } from 'node:net';
import type { Address } from '../lib/address.js';
import type { OnFault, Policy } from '../policy/compile-policy.js';
import { blockedHead, blockedPage, editBlocked, plainBlocked, refusedPage } from './blocked-answers.js';
import { peerAddress } from './examine.js';
import { refusal } from './refuse.js';

export interface BlockedLaneDeps {
  /** The snapshot in force now. */
  policy(): Policy;
  readonly nextId: () => string;
  readonly now: () => number;
  readonly headerBytes: number;
  readonly headerMs: number;
  /** @param head request line and headers, one character per byte */
  onRefused(address: Address, head: string): void;
  readonly onFault: OnFault;
}

/**
 * Connections of a blocked address are answered here, before an HTTP parser is set up for them: whatever they ask, the
 * answer is the same. Several times faster than the ordinary way, so an attacker who keeps hammering costs next to
 * nothing. See docs/decisions/0003-blocked-lane.md.
 *
 * @param handOver takes the connection, with the bytes not yet answered, once its address is no longer blocked
 */
export function blockedLane(
  deps: BlockedLaneDeps,
  socket: Socket,
  handOver: (socket: Socket, rest: Buffer) => void,
): void {
  const address = peerAddress(socket);
  let pending: Buffer | null = null;

  const onData = (data: Buffer): void => answerAll(pending === null ? data : Buffer.concat([pending, data]));
  const answerAll = (received: Buffer): void => {
    let buffer = received;
    pending = null;
    while (buffer.length > 0) {
      const end = buffer.indexOf('\r\n\r\n');
      if (end === -1) {
        if (buffer.length > deps.headerBytes) socket.destroy();
        else pending = buffer;
        return;
      }
      const policy = deps.policy();
      if (!policy.blocked.has(address)) {
        leave();
        handOver(socket, buffer);
        return;
      }
      const head = buffer.toString('latin1', 0, end + 2);
      buffer = buffer.subarray(end + 4);
      const close = HAS_BODY.test(head) || CLOSES.test(head) || !head.includes(' HTTP/1.1\r\n');
      deps.onRefused(address, head);
      const taken = answer(head, close, policy);
      if (close) {
        socket.removeListener('data', onData);
        // Keep reading what is under way, so that the answer is not lost to a reset; then end.
        socket.resume();
        socket.end();
        return;
      }
      if (!taken) {
        // Whoever asks without reading the answers waits until they are read; they must not pile up here.
        pending = buffer;
        socket.pause();
        return;
      }
    }
  };

  const answer = (head: string, close: boolean, policy: Policy): boolean => {
    const html = /\r\naccept:[^\r\n]*text\/html/i.test(head);
    const bare = head.startsWith('HEAD ');
    if (!html && !bare && !close)
      return socket.write(plainBlocked({ policy, address, host: '', now: deps.now(), onFault: deps.onFault }));
    const host = /\r\nhost:[ \t]*([a-z0-9._:[\]-]+)[ \t]*\r\n/i.exec(head)?.[1] ?? '';
    const asked = { policy, address, host, now: deps.now(), onFault: deps.onFault };
    const requestId = deps.nextId();
    if (html && !bare && !close) return blockedPage(asked).send(socket, requestId);
    const refused = refusal(refusedPage(asked, requestId), html ? 'text/html' : '');
    editBlocked(asked, refused.headers);
    const text = blockedHead(refused.headers, asked.now, close);
    return bare
      ? socket.write(text, 'latin1')
      : socket.write(Buffer.concat([Buffer.from(text, 'latin1'), refused.body]));
  };

  const onDrain = (): void => {
    socket.resume();
    if (pending !== null) answerAll(pending);
  };
  const leave = (): void => {
    socket.removeListener('data', onData);
    socket.removeListener('drain', onDrain);
    socket.removeListener('timeout', onTimeout);
    socket.removeListener('error', onError);
    socket.setTimeout(0);
  };
  const onTimeout = (): void => void socket.destroy();
  const onError = (): void => void socket.destroy();
  socket.setTimeout(deps.headerMs, onTimeout);
  socket.on('error', onError);
  socket.on('drain', onDrain);
  socket.on('data', onData);
}

// A blank behind the zero counts as a body: harmless, and no run of blanks is ever looked at twice.
const HAS_BODY = /\r\n(?:content-length:(?![ \t]*0*\r\n)|transfer-encoding:|upgrade:|expect:)/i;
const CLOSES = /\r\nconnection:[^\r\n]*close/i;
