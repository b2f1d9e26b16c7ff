import { Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';

/** Silence is simulated in steps of this length, milliseconds. */
const STEP_MS = 100;

interface Silence {
  readonly limitMs: number;
  silentMs: number;
  bytes: number;
  isOver: boolean;
}

export interface SocketSilence {
  /** Simulates that all sockets are silent for this time. It takes no real time, so no data in transit arrives. */
  pass(ms: number): void;
  /** The socket that is connected to a port and has a timeout; the sockets of tests have none. */
  to(port: number): Socket | undefined;
}

/**
 * Timeouts of `socket.setTimeout`, counted by the test instead of the clock until the test ends. So a slow machine
 * causes no silence, and no test waits for a timeout. It affects all sockets of this process that set their timeout
 * from now on; all other timers are unaffected.
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
      // Once, as Node does, until there is more traffic or a new timeout.
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
