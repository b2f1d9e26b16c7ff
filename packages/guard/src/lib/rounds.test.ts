import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Rounds } from './rounds.js';

const PAUSE = 1000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A task that counts its runs and lasts until `end` is called. */
function slowTask() {
  const ends: (() => void)[] = [];
  return {
    ends,
    run: () =>
      new Promise<void>((resolve) => {
        ends.push(resolve);
      }),
  };
}

describe('rounds', () => {
  it('begin after a pause, and each pause begins when the round before has ended', async () => {
    const task = slowTask();
    const rounds = new Rounds(task.run, PAUSE);
    rounds.start();
    await vi.advanceTimersByTimeAsync(PAUSE - 1);
    expect(task.ends).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(task.ends).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(10 * PAUSE);
    expect(task.ends).toHaveLength(1);
    task.ends[0]?.();
    await vi.advanceTimersByTimeAsync(PAUSE);
    expect(task.ends).toHaveLength(2);
  });

  it('never overlap, also when one is asked for', async () => {
    const task = slowTask();
    const rounds = new Rounds(task.run, PAUSE);
    const [first, second] = [rounds.round(), rounds.round()];
    await vi.advanceTimersByTimeAsync(0);
    expect(task.ends).toHaveLength(1);
    task.ends[0]?.();
    await first;
    await vi.advanceTimersByTimeAsync(0);
    expect(task.ends).toHaveLength(2);
    task.ends[1]?.();
    await second;
  });

  it('end with the one under way', async () => {
    const task = slowTask();
    const rounds = new Rounds(task.run, PAUSE);
    rounds.start();
    await vi.advanceTimersByTimeAsync(PAUSE);
    let hasStopped = false;
    const stopped = rounds.stop().then(() => {
      hasStopped = true;
    });
    expect(rounds.isStopped).toBe(true);
    await vi.advanceTimersByTimeAsync(10 * PAUSE);
    expect(hasStopped).toBe(false);
    task.ends[0]?.();
    await stopped;
    await vi.advanceTimersByTimeAsync(10 * PAUSE);
    expect(task.ends).toHaveLength(1);
  });
});
