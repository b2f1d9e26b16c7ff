import { onTestFinished, vi } from 'vitest';

/** Shorter waits use the real clock, milliseconds: they are mostly polling steps of tests. */
const SHORT_WAIT_MS = 100;

interface Wait {
  readonly endsAt: number;
  readonly end: () => void;
}

export interface PassingTime {
  /** Sets the clock forward and ends the waits that have expired by then, in order. */
  pass(ms: number): void;
}

/**
 * Simulates the passing of time until the test ends. It does for guard in this process what `move-clock.mjs` does for
 * guard in a separate one. It affects the clock (`Date.now`) and the waits (`setTimeout`) that begin from now on. They
 * also continue in real time. Sockets have separate timeouts, see `socketSilence`; so do other threads.
 */
export function passingTime(): PassingTime {
  const { now } = Date;
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const waits = new Map<unknown, Wait>();
  let aheadMs = 0;
  const moved = vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);

  const begin = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): NodeJS.Timeout => {
    const timer = set(() => {
      waits.delete(timer);
      run(...args);
    }, ms);
    if (ms >= SHORT_WAIT_MS) waits.set(timer, { endsAt: Date.now() + ms, end: () => run(...args) });
    return timer;
  };
  globalThis.setTimeout = Object.assign(begin, set) as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    waits.delete(timer);
    clear(timer);
  };
  onTestFinished(() => {
    moved.mockRestore();
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  });

  return {
    pass(ms) {
      aheadMs += ms;
      const due = [...waits].filter(([, { endsAt }]) => endsAt <= Date.now());
      for (const [timer, { end }] of due.sort(([, a], [, b]) => a.endsAt - b.endsAt)) {
        // An earlier callback may have cancelled this one.
        if (!waits.delete(timer)) continue;
        clear(timer as NodeJS.Timeout);
        end();
      }
    },
  };
}
