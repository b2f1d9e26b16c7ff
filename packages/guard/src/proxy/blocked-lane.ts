import type { Socket } from 'node:net';
import type { OnFault, Policy } from '../policy/compile-policy.js';
import { peerAddress } from './examine.js';
import { refusal } from './refuse.js';
import { type RequestFacts, requestFacts } from './request-facts.js';

export interface BlockedLaneDeps {
  /** The snapshot in force now. */
  policy(): Policy;
  readonly nextId: () => string;
  readonly now: () => number;
  readonly headerBytes: number;
  readonly headerMs: number;
  onRefused(): void;
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
      deps.onRefused();
      const taken = socket.write(answer(head, close, policy));
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

  const answer = (head: string, close: boolean, policy: Policy): Buffer | string => {
    const html = /\r\naccept:[^\r\n]*text\/html/i.test(head);
    const bare = head.startsWith('HEAD ');
    if (!html && !bare && !close) return plainAnswer(policy, deps.now());
    const host = /\r\nhost:[ \t]*([a-z0-9._:[\]-]+)[ \t]*\r\n/i.exec(head)?.[1] ?? '';
    const requestId = deps.nextId();
    const refused = refusal(
      { page: 'blocked', host, address: address.text, requestId, time: deps.now() },
      html ? 'text/html' : '',
    );
    policy.editHeaders(facts(policy), refused.headers, deps.onFault);
    const text = responseHead(refused.headers, deps.now(), close);
    return bare ? text : Buffer.concat([Buffer.from(text, 'latin1'), refused.body]);
  };

  const facts = (policy: Policy): RequestFacts =>
    requestFacts({ method: 'GET', address, path: ROOT, query: '', paths: policy.paths });

  /** The plain answer is the same for everyone within one second; most attackers get no other. */
  const plainAnswer = (policy: Policy, now: number): Buffer => {
    const second = Math.floor(now / 1000);
    if (plain?.policy !== policy || plain.second !== second) {
      const refused = refusal({ page: 'blocked', host: '', address: '', requestId: '', time: now }, undefined);
      policy.editHeaders(facts(policy), refused.headers, deps.onFault);
      const head = Buffer.from(responseHead(refused.headers, now, false), 'latin1');
      plain = { policy, second, bytes: Buffer.concat([head, refused.body]) };
    }
    return plain.bytes;
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

let plain: { policy: Policy; second: number; bytes: Buffer } | null = null;

const ROOT = { path: '/', segments: [] } as const;
const HAS_BODY = /\r\n(?:content-length:[ \t]*(?!0*[ \t]*\r\n)|transfer-encoding:|upgrade:|expect:)/i;
const CLOSES = /\r\nconnection:[^\r\n]*close/i;

function responseHead(headers: readonly string[], now: number, close: boolean): string {
  let head = 'HTTP/1.1 403 Forbidden\r\n';
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${head}Date: ${new Date(now).toUTCString()}\r\nConnection: ${close ? 'close' : 'keep-alive'}\r\n\r\n`;
}
