import { onTestFinished, vi } from 'vitest';

/** Shorter waits are left to the clock, milliseconds: mostly steps in which a test looks again. */
const SHORT_MS = 100;

interface Wait {
  readonly endsAt: number;
  readonly end: () => void;
}

export interface PassingTime {
  /** Moves the clock on and ends the waits that are over by then, in their order. */
  pass(ms: number): void;
}

/**
 * Time that a test lets pass, until the test ends: for guard in this process, what `move-clock.mjs` is for guard in one of
 * its own. The clock (`Date.now`) and the waits (`setTimeout`) that begin from now on take part. They go on by
 * themselves as well. Sockets have limits of their own, see `socketSilence`; so have other threads.
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
    if (ms >= SHORT_MS) waits.set(timer, { endsAt: Date.now() + ms, end: () => run(...args) });
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
      const over = [...waits].filter(([, { endsAt }]) => endsAt <= Date.now());
      for (const [timer, { end }] of over.sort(([, a], [, b]) => a.endsAt - b.endsAt)) {
        // One that ended before may have called this one off.
        if (!waits.delete(timer)) continue;
        clear(timer as NodeJS.Timeout);
        end();
      }
    },
  };
}
