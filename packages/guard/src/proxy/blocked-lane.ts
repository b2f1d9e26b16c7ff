import type { Socket } from 'node:net';
import type { Address } from '../lib/address.js';
import type { OnFault, Policy } from '../policy/compile-policy.js';
import { blockedHead, blockedPage, editBlocked, plainBlocked, refusedPage } from './blocked-answers.js';
import { type BlockedRequest, BlockedRequests } from './blocked-request.js';
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
  const requests = new BlockedRequests();
  let pending: Buffer | null = null;

  const onData = (data: Buffer): void => answerAll(pending === null ? data : Buffer.concat([pending, data]));
  const answerAll = (received: Buffer): void => {
    let buffer = received;
    pending = null;
    while (buffer.length > 0) {
      const read = requests.read(buffer);
      if (read === null) {
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
      const { request } = read;
      buffer = buffer.subarray(read.length);
      deps.onRefused(address, request.head);
      const taken = answer(request, policy);
      if (request.close) {
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

  const answer = ({ html, bare, close, host }: BlockedRequest, policy: Policy): boolean => {
    if (!html && !bare && !close)
      return socket.write(plainBlocked({ policy, address, host: '', now: deps.now(), onFault: deps.onFault }));
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
