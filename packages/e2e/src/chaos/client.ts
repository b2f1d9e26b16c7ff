import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random.js';

/** How one connection is made: from which address of this machine, and with what its requests are spelled. */
export interface Visit {
  readonly random: Random;
  readonly socket: Socket;
  readonly host: string;
  /** What the web server behind is to do with the requests. */
  readonly behaviour: string;
  /** Name of the kind, for those who find a connection that is still open. */
  readonly kind: string;
  /** Header lines that every whole request of this visit carries. */
  readonly extra: string;
  /** Everything received so far, as far as it is kept. */
  received(): string;
  /** Hands the socket over: it stays open and silent until the run is over, whatever guard does. */
  hold(): void;
  /** Fulfilled when the connection has ended for both sides. */
  readonly closed: Promise<void>;
}

/** One thing that a visitor does on a connection. */
export type Step = (visit: Visit) => void | Promise<void>;

/** Most of an answer that is kept. */
const KEPT = 4096;

/** Opens a connection. Errors end it and are no news: the other side may end it at any time. */
export async function openVisit(
  facts: Omit<Visit, 'socket' | 'received' | 'hold' | 'closed'> & { readonly port: number; readonly from?: string },
  onHeld: (socket: Socket) => void,
): Promise<Visit> {
  const { port, from, ...rest } = facts;
  const socket = connect({
    ...{ host: '127.0.0.1', port, noDelay: true },
    // A client may leave its side open as long as it likes after guard has ended the other.
    allowHalfOpen: true,
    ...(from === undefined ? {} : { localAddress: from }),
  });
  let received = '';
  socket.on('data', (bytes) => {
    if (received.length < KEPT) received += bytes.toString('latin1').slice(0, KEPT);
  });
  socket.on('error', () => socket.destroy());
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    socket.once('end', () => resolve());
  });
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve);
    socket.once('close', () => resolve());
  });
  return { ...rest, socket, closed, received: () => received, hold: () => onHeld(socket) };
}

const text = (value: string | Buffer) => (typeof value === 'string' ? Buffer.from(value, 'latin1') : value);

/** Writes bytes as they are. */
export function send(bytes: string | Buffer | ((visit: Visit) => string | Buffer)): Step {
  return (visit) => {
    if (visit.socket.writable) visit.socket.write(text(typeof bytes === 'function' ? bytes(visit) : bytes));
  };
}

/** Writes bytes one piece after another. */
export function sendSlowly(bytes: (visit: Visit) => string, pieces: number, ms: number): Step {
  return async (visit) => {
    const all = text(bytes(visit));
    const size = Math.ceil(all.length / pieces);
    for (let at = 0; at < all.length && visit.socket.writable; at += size) {
      visit.socket.write(all.subarray(at, at + size));
      await sleep(ms);
    }
  };
}

export function pause(low: number, high = low): Step {
  return ({ random }) => sleep(random.between(low, high));
}

/** Takes nothing for a while, so that what guard has to give stays in its buffers. */
export function readNothing(ms: number): Step {
  return async ({ socket }) => {
    socket.pause();
    await sleep(ms);
    socket.resume();
  };
}

/** Waits until the answer has begun, the connection has ended, or the time is over. */
export function awaitAnswer(ms = 1500): Step {
  return async ({ received, socket }) => {
    for (const end = Date.now() + ms; received() === '' && !socket.destroyed && Date.now() < end; ) await sleep(5);
  };
}

/** Waits until guard ends the connection, at most for the time given. */
export function awaitEnd(ms = 1500): Step {
  return ({ closed }) => Promise.race([closed, sleep(ms)]);
}

/** Ends the connection with RST. */
export const reset: Step = ({ socket }) => void socket.resetAndDestroy();

/** Ends its own side with FIN, takes what still comes, and goes. */
export const finish: Step = async (visit) => {
  visit.socket.end();
  await awaitEnd(500)(visit);
  visit.socket.destroy();
};

/** Closes without a word. */
export const leave: Step = ({ socket }) => void socket.destroy();

/** Stays connected and silent, ignoring that guard ends the connection. Guard must let go of it all the same. */
export const linger: Step = ({ hold }) => hold();

/** Any of the ends. */
export const anyEnd: Step = async (visit) => {
  const steps = visit.random.pick<readonly Step[]>([
    [reset],
    [finish],
    [leave],
    [pause(1, 40), reset],
    [pause(1, 40), finish],
    [awaitAnswer(400), reset],
    [awaitAnswer(), leave],
    [awaitEnd(700), leave],
  ]);
  for (const step of steps) await step(visit);
};
