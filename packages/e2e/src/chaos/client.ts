import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random.js';

/** How one connection is made: from which address of this machine, and with what its requests are spelled. */
export interface Visit {
  readonly random: Random;
  readonly socket: Socket;
  readonly host: string;
  /** The behaviour that the requests ask of the web server behind guard. */
  readonly behaviour: string;
  /** Name of the kind, to identify a connection that is still open. */
  readonly kind: string;
  /** Header lines of every complete request of this visit. */
  readonly extra: string;
  /** Everything received so far, up to a limit. */
  received(): string;
  /** Opens another connection to the same guard. @param from the address to come from; the same one when left out */
  open(from?: string): Promise<Visit>;
  /** Records how a request that guard must answer was answered. @param status null for no answer */
  note(status: number | null): void;
  /** Keeps the socket open and silent until the run is over, whatever guard does. */
  hold(): void;
  /** Resolves when both sides have closed the connection. */
  readonly closed: Promise<void>;
}

/** One thing that a visitor does on a connection. */
export type Step = (visit: Visit) => void | Promise<void>;

/** Number of bytes of a response that are kept. */
const KEPT = 4096;

/** What a connection is opened with. */
export type VisitFacts = Omit<Visit, 'socket' | 'received' | 'hold' | 'closed' | 'open' | 'note'> & {
  readonly port: number;
  readonly from?: string;
};

/** Receives events of the connections of a visit. */
export interface VisitListener {
  onOpened(socket: Socket): void;
  onLinger(socket: Socket): void;
  onNote(status: number | null): void;
}

/** Opens a connection. Errors only close it, since the other side may close it at any time. */
export async function openVisit(facts: VisitFacts, listener: VisitListener): Promise<Visit> {
  const { port, from, ...rest } = facts;
  const socket = connect({
    ...{ host: '127.0.0.1', port, noDelay: true },
    // A client may keep its side open after guard has closed the other.
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
  listener.onOpened(socket);
  return {
    ...{ ...rest, socket, closed, received: () => received },
    open: (address = from) => openVisit({ ...facts, ...(address === undefined ? {} : { from: address }) }, listener),
    note: listener.onNote,
    hold: () => listener.onLinger(socket),
  };
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

/** Pauses reading, so that the response stays in guard's buffers. */
export function readNothing(ms: number): Step {
  return async ({ socket }) => {
    socket.pause();
    await sleep(ms);
    socket.resume();
  };
}

/** Reads slowly, one chunk at a time, for the given milliseconds or until the end. */
export function readSlowly(ms: number): Step {
  return async ({ socket }) => {
    for (const end = Date.now() + ms; Date.now() < end && !socket.destroyed; ) {
      socket.pause();
      await sleep(200);
      const piece = new Promise<void>((resolve) => {
        socket.once('data', () => {
          socket.pause();
          resolve();
        });
      });
      socket.resume();
      await Promise.race([piece, sleep(200)]);
    }
    socket.pause();
  };
}

/** Waits until the answer has begun, the connection has ended, or the time is over. */
export function awaitResponse(ms = 1500): Step {
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

/** Closes its own side with FIN, reads the rest, and closes. */
export const finish: Step = async (visit) => {
  visit.socket.end();
  await awaitEnd(500)(visit);
  visit.socket.destroy();
};

/** Closes without a word. */
export const disconnect: Step = ({ socket }) => void socket.destroy();

/** Stays connected and silent after guard closes the connection. Guard must still release it. */
export const linger: Step = ({ hold }) => hold();

/** Closes the connection in a random way. */
export const anyEnd: Step = async (visit) => {
  const steps = visit.random.pick<readonly Step[]>([
    [reset],
    [finish],
    [disconnect],
    [pause(1, 40), reset],
    [pause(1, 40), finish],
    [awaitResponse(400), reset],
    [awaitResponse(), disconnect],
    [awaitEnd(700), disconnect],
  ]);
  for (const step of steps) await step(visit);
};

export interface CrowdOptions {
  readonly count: number;
  /** Number of own addresses among which the connections are distributed; by default the address of the visit. */
  readonly addresses?: number;
  /**
   * Steps on one more connection of the last of these addresses while the others are open. It runs only when each of
   * them has a response and is idle, since waiting connections may block others of their address.
   */
  readonly last?: readonly Step[];
}

/** Opens many connections at once, runs the steps on each, and closes them at the end. */
export function crowd({ count, addresses, last = [] }: CrowdOptions, ...steps: readonly Step[]): Step {
  return async (visit) => {
    const network = `127.${visit.random.between(16, 250)}.${visit.random.between(1, 250)}`;
    const toAddress = (turn: number) => (addresses === undefined ? undefined : `${network}.${1 + (turn % addresses)}`);
    const opened: Visit[] = [];
    const one = async (turn: number): Promise<void> => {
      const connection = await visit.open(toAddress(turn));
      opened.push(connection);
      for (const step of steps) await step(connection);
    };
    try {
      await Promise.all(Array.from({ length: count }, (_, turn) => one(turn)));
      if (last.length === 0 || opened.some(({ received }) => received() === '')) return;
      const other = await visit.open(toAddress(count - 1));
      opened.push(other);
      for (const step of last) await step(other);
    } finally {
      for (const { socket } of opened) socket.destroy();
    }
  };
}
