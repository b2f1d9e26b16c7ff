import { Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';

/** Silence passes in steps of this, milliseconds. */
const STEP_MS = 100;

interface Silence {
  readonly limitMs: number;
  silentMs: number;
  bytes: number;
  isOver: boolean;
}

export interface SocketSilence {
  /** Lets all sockets be silent for so long, in no time. Nothing that is on its way comes meanwhile. */
  pass(ms: number): void;
  /** The socket that is connected to a port and has a time limit; the tests have none on theirs. */
  to(port: number): Socket | undefined;
}

/**
 * The limits that `socket.setTimeout` sets, counted by the test instead of the clock until the test ends: a machine that
 * stands still is no silence, and nobody waits for a limit to pass. All sockets of this process take part that get their
 * limit from now on; all other timers go on.
 */
export function socketSilence(): SocketSilence {
  const silences = new Map<Socket, Silence>();
  const set = vi.spyOn(Socket.prototype, 'setTimeout').mockImplementation(function (this: Socket, ms, onTimeout) {
    silences.delete(this);
    if (ms > 0) silences.set(this, { limitMs: ms, silentMs: 0, bytes: countBytes(this), isOver: false });
    if (onTimeout !== undefined) {
      if (ms > 0) this.once('timeout', onTimeout);
      else this.removeListener('timeout', onTimeout);
    }
    return this;
  });
  onTestFinished(() => set.mockRestore());

  const step = (): void => {
    for (const [socket, silence] of [...silences]) {
      if (socket.destroyed) {
        silences.delete(socket);
        continue;
      }
      const bytes = countBytes(socket);
      if (bytes !== silence.bytes) Object.assign(silence, { bytes, silentMs: 0, isOver: false });
      silence.silentMs += STEP_MS;
      if (silence.isOver || silence.silentMs < silence.limitMs) continue;
      // Once, as with Node's own, unless there is more traffic or a new limit.
      silence.isOver = true;
      socket.emit('timeout');
    }
  };
  return {
    pass(ms) {
      for (let passed = 0; passed < ms; passed += STEP_MS) step();
    },
    to: (port) => [...silences.keys()].find((socket) => socket.remotePort === port && !socket.destroyed),
  };
}

function countBytes({ bytesRead, bytesWritten }: Socket): number {
  return bytesRead + bytesWritten;
}
