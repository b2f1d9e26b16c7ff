import { describe, expect, it, onTestFinished } from 'vitest';
import { recordedLog } from '../../test/support/logs.js';
import { eventually } from '../../test/support/scratch.js';
import type { RetainedActivity } from './activity-store.js';
import { createRetention, DeferredDays } from './retention.js';

const NOW = 1_800_000_000;

/** Retention of two sites that begins at once, over a store that has so many steps to do. */
function underTest(steps: number, fails = () => false) {
  const calls: (RetainedActivity & { site: string })[] = [];
  const { logger, events } = recordedLog();
  const retention = createRetention({
    sites: () => ['one', 'two'],
    store: {
      async retain(site, keep) {
        calls.push({ site, ...keep });
        if (fails()) throw new Error('disk full');
        return calls.filter((call) => call.site === site).length < steps;
      },
    },
    days: (site) => (site === 'one' ? 12 : 1),
    maxRows: (site) => (site === 'one' ? 5000 : 700),
    blocked: async (site) => (site === 'one' ? [7] : []),
    clock: () => NOW * 1000,
    logger,
    everyMs: 20,
    graceMs: 0,
  });
  onTestFinished(() => retention.stop());
  retention.start();
  return { calls, retention, events };
}

describe('clearing up', () => {
  it('goes on in steps until a site has nothing left, with the days and rows of each site', async () => {
    const { calls } = underTest(3);
    await eventually(() => calls.length >= 6);
    const day = 24 * 3600;
    expect(calls.slice(0, 6)).toEqual([
      ...Array(3).fill({ site: 'one', before: NOW - 12 * day, maxRows: 5000, blocked: [7] }),
      ...Array(3).fill({ site: 'two', before: NOW - day, maxRows: 700, blocked: [] }),
    ]);
  });

  it('stops in the middle when guard does', async () => {
    const { calls, retention } = underTest(1_000_000);
    await eventually(() => calls.length > 3);
    await retention.stop();
    const done = calls.length;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(calls.length).toBe(done);
  });

  it('is tried again after a failure, which the log says once', async () => {
    let failing = true;
    const { calls, events } = underTest(1, () => failing);
    await eventually(() => calls.length >= 3);
    expect(events().filter((event) => event === 'activity-retention-failed')).toHaveLength(1);
    failing = false;
    const before = calls.length;
    await eventually(() => calls.slice(before).some(({ site }) => site === 'two'));
  });
});

describe('days that were lowered', () => {
  const MINUTE = 60_000;

  /** The days that count after each observation, given as [seconds, days]. */
  function observed(...steps: readonly (readonly [number, number])[]): number[] {
    const deferred = new DeferredDays(MINUTE);
    return steps.map(([second, days]) => deferred.observe('site', days, second * 1000));
  }

  it('count a minute after they were first seen', () => {
    expect(observed([0, 12], [60, 12], [70, 5], [129, 5], [130, 5]).slice(1)).toEqual([12, 12, 12, 5]);
  });

  it('never count when they were raised again within the minute', () => {
    expect(observed([0, 12], [60, 12], [70, 5], [100, 12], [105, 5], [160, 5], [165, 5]).slice(1)).toEqual([
      12, 12, 12, 12, 12, 5,
    ]);
  });

  it('have another minute when they are lowered further', () => {
    expect(observed([0, 12], [60, 12], [70, 9], [120, 3], [130, 3], [179, 3], [180, 3]).slice(1)).toEqual([
      12, 12, 12, 12, 12, 3,
    ]);
  });

  it('count a minute after a start at the earliest: the change may have been right before it', () => {
    expect(observed([0, 5], [59, 5], [60, 5])).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 5]);
  });

  it('count at once when they are raised', () => {
    expect(observed([0, 5], [60, 5], [61, 8])).toEqual([Number.POSITIVE_INFINITY, 5, 8]);
  });
});

describe('clearing up after the days were lowered', () => {
  it('asks the store to delete nothing for its age until the minute has passed', async () => {
    const keeps: number[] = [];
    let [now, days] = [NOW * 1000, 12];
    const retention = createRetention({
      sites: () => ['one'],
      store: { retain: async (_site, { before }) => keeps.push(before) === 0 },
      days: () => days,
      maxRows: () => 5000,
      blocked: async () => [],
      clock: () => now,
      logger: recordedLog().logger,
      everyMs: 5,
    });
    onTestFinished(() => retention.stop());
    const seen = async (before: number) => {
      keeps.length = 0;
      // A round may be under way; the second one began after this call.
      await eventually(() => keeps.length >= 2);
      expect(keeps[1]).toBe(before);
    };
    retention.start();
    now += 60_000;
    await seen(now / 1000 - 12 * 86_400);
    days = 2;
    await seen(now / 1000 - 12 * 86_400);
    now += 59_000;
    await seen(now / 1000 - 12 * 86_400);
    now += 1000;
    await seen(now / 1000 - 2 * 86_400);
  });
});
