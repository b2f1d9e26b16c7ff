import { describe, expect, it, onTestFinished } from 'vitest';
import { recordedLog } from '../testing/log-lines.js';
import { eventually } from '../testing/scratch.js';
import type { RetainedActivity } from './activity-store.js';
import { createRetention } from './retention.js';

const NOW = 1_800_000_000;

/** Retention of two sites that begins at once, over a store that has so many steps to do. */
function underTest(steps: number, fails = () => false) {
  const calls: (RetainedActivity & { site: string })[] = [];
  const { logger, events } = recordedLog();
  const retention = createRetention({
    sites: ['one', 'two'],
    store: {
      async retain(site, keep) {
        calls.push({ site, ...keep });
        if (fails()) throw new Error('disk full');
        return calls.filter((call) => call.site === site).length < steps;
      },
    },
    days: (site) => (site === 'one' ? 12 : 1),
    maxRows: 5000,
    blocked: async (site) => (site === 'one' ? [7] : []),
    clock: () => NOW * 1000,
    logger,
    everyMs: 20,
  });
  onTestFinished(() => retention.stop());
  retention.start();
  return { calls, retention, events };
}

describe('clearing up', () => {
  it('goes on in steps until a site has nothing left, with the days of each site', async () => {
    const { calls } = underTest(3);
    await eventually(() => calls.length >= 6);
    const day = 24 * 3600;
    expect(calls.slice(0, 6)).toEqual([
      ...Array(3).fill({ site: 'one', before: NOW - 12 * day, maxRows: 5000, blocked: [7] }),
      ...Array(3).fill({ site: 'two', before: NOW - day, maxRows: 5000, blocked: [] }),
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
    expect(events().filter((event) => event === 'activity-not-cleared')).toHaveLength(1);
    failing = false;
    const before = calls.length;
    await eventually(() => calls.slice(before).some(({ site }) => site === 'two'));
  });
});
