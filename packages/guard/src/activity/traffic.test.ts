import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toLocalTimestamp } from '../lib/time-zone.js';
import { planTraffic, sumTraffic } from './traffic.js';

const at = (text: string) => Date.parse(text) / 1000;
const now = at('2026-11-21T08:00:00Z');
const hour = (start: number, humans: number) => ({ hour: start, humans, bots: 0, blocked: 0 });

describe('the bars of a period', () => {
  it('are by default the days that the log is kept, with today as the last', () => {
    const { step, edges } = planTraffic(
      { from: null, to: null },
      { timeZone: 'Europe/Berlin', now, retentionDays: 12 },
    );
    expect([step, edges.length]).toEqual(['day', 13]);
    expect(edges.map((edge) => toLocalTimestamp('Europe/Berlin', edge))).toEqual(
      Array.from({ length: 13 }, (_, day) => `2026-11-${10 + day} 00:00`),
    );
  });

  it('are hours for a period of at most two days, also for the kept ones', () => {
    const context = { timeZone: 'UTC', now, retentionDays: 2 };
    expect(planTraffic({ from: null, to: null }, context).edges).toHaveLength(49);
    const short = planTraffic({ from: now - 5400, to: now }, context);
    expect(short).toEqual({ step: 'hour', edges: [now - 7200, now - 3600, now] });
  });

  it('have 23 or 25 hours on the days when the clocks change', () => {
    const context = { timeZone: 'Europe/Berlin', now: at('2026-11-01T12:00:00Z'), retentionDays: 12 };
    const { edges } = planTraffic({ from: at('2026-10-23T22:00:00Z'), to: at('2026-10-26T23:00:00Z') }, context);
    expect(edges.slice(1).map((edge, index) => (edge - (edges[index] as number)) / 3600)).toEqual([24, 25, 24]);
  });

  it('reach back no further than the counts, and not beyond today', () => {
    const { edges } = planTraffic({ from: 0, to: now * 2 }, { timeZone: 'UTC', now, retentionDays: 12 });
    expect(edges).toHaveLength(36);
    expect(edges.at(-1)).toBe(at('2026-11-22T00:00:00Z'));
  });

  it('are refused for a period that ends before it begins', () => {
    expect(() => planTraffic({ from: 10, to: 10 }, { timeZone: 'UTC', now, retentionDays: 12 })).toThrow(
      expect.objectContaining({ fields: { to: 'Use a time after from.' } }),
    );
  });
});

describe('sums of hours', () => {
  it('lose nothing and count nothing twice, in any time zone', () => {
    const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', '-11');
    const hours = fc.uniqueArray(fc.nat(35 * 24), { maxLength: 60 });
    const moment = fc.integer({ min: at('2026-01-01T00:00:00Z'), max: at('2027-01-01T00:00:00Z') });
    fc.assert(
      fc.property(zone, moment, hours, fc.integer({ min: 1, max: 12 }), (timeZone, time, ago, retentionDays) => {
        const plan = planTraffic({ from: null, to: null }, { timeZone, now: time, retentionDays });
        const [first, end] = [plan.edges[0] as number, plan.edges.at(-1) as number];
        const rows = ago.map((back) => hour(time - (time % 3600) - back * 3600, back + 1));
        const inside = rows.filter((row) => row.hour >= first && row.hour < end);
        const traffic = sumTraffic(plan, rows);
        const expected = inside.reduce((sum, row) => sum + row.humans, 0);
        expect(traffic.humans).toBe(expected);
        expect(traffic.bars.reduce((sum, bar) => sum + bar.humans, 0)).toBe(expected);
      }),
    );
  });

  it('add an hour to the day in which it begins', () => {
    const plan = planTraffic({ from: null, to: null }, { timeZone: '+05:30', now, retentionDays: 12 });
    // 18:00 UTC is 23:30 in that time zone: the hour belongs to the day that is about to end.
    const [day] = sumTraffic(plan, [hour(at('2026-11-20T18:00:00Z'), 3)]).bars.filter(({ humans }) => humans > 0);
    expect(toLocalTimestamp('+05:30', day?.from ?? 0)).toBe('2026-11-20 00:00');
  });

  it('separate humans, bots and refused requests', () => {
    const plan = planTraffic({ from: null, to: null }, { timeZone: 'UTC', now, retentionDays: 3 });
    const traffic = sumTraffic(plan, [{ hour: now - 3600, humans: 1, bots: 20, blocked: 300 }]);
    expect(traffic).toMatchObject({ humans: 1, bots: 20, blocked: 300 });
    expect(traffic.bars.at(-1)).toMatchObject({ humans: 1, bots: 20, blocked: 300 });
  });
});
