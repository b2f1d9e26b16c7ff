import { describe, expect, it, onTestFinished } from 'vitest';
import { recordedLog } from '../../test/support/logs.js';
import { eventually } from '../../test/support/scratch.js';
import type { RetainedActivity } from './activity-store.js';
import { createRetention, DeferredDays } from './retention.js';

const NOW = 1_800_000_000;

/** Starts the retention of two sites at once, with a store that needs this number of steps. */
function setUp(steps: number, fails = () => false) {
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

describe('retention', () => {
  it('continues in steps until a site has nothing left to delete, with the days and rows of each site', async () => {
    const { calls } = setUp(3);
    await eventually(() => calls.length >= 6);
    const day = 24 * 3600;
    expect(calls.slice(0, 6)).toEqual([
      ...Array(3).fill({ site: 'one', before: NOW - 12 * day, maxRows: 5000, blocked: [7] }),
      ...Array(3).fill({ site: 'two', before: NOW - day, maxRows: 700, blocked: [] }),
    ]);
  });

  it('stops between two steps when guard stops', async () => {
    const { calls, retention } = setUp(1_000_000);
    await eventually(() => calls.length > 3);
    await retention.stop();
    const done = calls.length;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(calls.length).toBe(done);
  });

  it('is tried again after a failure, which is logged once', async () => {
    let failing = true;
    const { calls, events } = setUp(1, () => failing);
    await eventually(() => calls.length >= 3);
    expect(events().filter((event) => event === 'activity-retention-failed')).toHaveLength(1);
    failing = false;
    const before = calls.length;
    await eventually(() => calls.slice(before).some(({ site }) => site === 'two'));
  });
});

describe('lowered days', () => {
  const MINUTE = 60_000;

  /** Returns the days that apply after each observation, given as [seconds, days]. */
  function observed(...steps: readonly (readonly [number, number])[]): number[] {
    const deferred = new DeferredDays(MINUTE);
    return steps.map(([second, days]) => deferred.observe('site', days, second * 1000));
  }

  it('apply a minute after they were first observed', () => {
    expect(observed([0, 12], [60, 12], [70, 5], [129, 5], [130, 5]).slice(1)).toEqual([12, 12, 12, 5]);
  });

  it('never apply when they were raised again within the minute', () => {
    expect(observed([0, 12], [60, 12], [70, 5], [100, 12], [105, 5], [160, 5], [165, 5]).slice(1)).toEqual([
      12, 12, 12, 12, 12, 5,
    ]);
  });

  it('get another minute when they are lowered further', () => {
    expect(observed([0, 12], [60, 12], [70, 9], [120, 3], [130, 3], [179, 3], [180, 3]).slice(1)).toEqual([
      12, 12, 12, 12, 12, 3,
    ]);
  });

  it('apply a minute after a start at the earliest: the change may have been right before it', () => {
    expect(observed([0, 5], [59, 5], [60, 5])).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 5]);
  });

  it('can be undone for a minute: the days before, and the seconds that are left', () => {
    const deferred = new DeferredDays(MINUTE);
    const undo = (second: number, days: number) => {
      deferred.observe('site', days, second * 1000);
      return deferred.findUndo('site', second * 1000);
    };
    expect(undo(0, 12)).toBeNull();
    expect(undo(10, 9)).toEqual({ days: 12, seconds: 60 });
    expect(undo(20.5, 9)).toEqual({ days: 12, seconds: 50 });
    expect(undo(30, 3)).toEqual({ days: 9, seconds: 60 });
    // Raised, but not as far as before.
    expect(undo(40, 8)).toBeNull();
    expect(undo(50, 5)).toEqual({ days: 8, seconds: 60 });
    expect(undo(109, 5)).toEqual({ days: 8, seconds: 1 });
    expect(undo(110, 5)).toBeNull();
    expect(undo(120, 4)).toEqual({ days: 5, seconds: 60 });
    expect(undo(130, 12)).toBeNull();
  });

  it('can’t be undone after a start: the days before are unknown', () => {
    const deferred = new DeferredDays(MINUTE);
    deferred.observe('site', 5, 0);
    expect(deferred.findUndo('site', 0)).toBeNull();
    expect(deferred.findUndo('other', 0)).toBeNull();
  });

  it('apply at once when they are raised', () => {
    expect(observed([0, 5], [60, 5], [61, 8])).toEqual([Number.POSITIVE_INFINITY, 5, 8]);
  });
});

describe('retention after the days were lowered', () => {
  it('deletes nothing for its age until the minute has passed', async () => {
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
      // A round may be running; the second one began after this call.
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
