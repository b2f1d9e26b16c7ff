import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  endOfQuietHours,
  findCommonNetwork,
  findStop,
  findWave,
  followOutage,
  HOUR,
  type Lockout,
  type Outage,
  planMessage,
  SETTLE_MS,
  toDevice,
  toNetwork,
  toNextTry,
  WAVE_LATEST_MS,
  WAVE_SETTLE_MS,
} from './alert-rules.js';

const MINUTE = 60_000;
/** 21 November 2026, 15:00 in Berlin. */
const NOON = Date.UTC(2026, 10, 21, 14);
const NIGHT = Date.UTC(2026, 10, 21, 22, 30);
const ZONE = 'Europe/Berlin';
const limits = { perHour: 4, quietHours: false, timeZone: ZONE, sentAt: [] as number[], now: NOON };
const alert = (kind: string, createdAt: number) => ({ kind, createdAt });

describe('the plan of messages to a person', () => {
  it('waits some seconds for further alerts of the same message', () => {
    const waiting = [alert('software-added', NOON - 1000)];
    expect(planMessage(waiting, limits)).toEqual({ send: null, until: NOON - 1000 + SETTLE_MS });
    const both = [...waiting, alert('software-added', NOON)];
    expect(planMessage(both, { ...limits, now: NOON + SETTLE_MS })).toEqual({ send: both });
  });

  it('waits when the hourly limit is reached, and then sends all waiting alerts in one message', () => {
    const sentAt = [10, 20, 30, 40].map((minutes) => NOON - minutes * MINUTE);
    const waiting = Array.from({ length: 30 }, (_, index) => alert('trouble', NOON - 5 * MINUTE + index));
    expect(planMessage(waiting, { ...limits, sentAt })).toEqual({ send: null, until: NOON + 30 * MINUTE });
    expect(planMessage(waiting, { ...limits, sentAt, now: NOON + 30 * MINUTE })).toEqual({ send: waiting });
  });

  it('keeps the last message of an hour for a new administrator', () => {
    const sentAt = [10, 20, 30].map((minutes) => NOON - minutes * MINUTE);
    const waiting = [alert('software-added', NOON - 5 * MINUTE)];
    expect(planMessage(waiting, { ...limits, sentAt }).send).toBeNull();
    const all = [...waiting, alert('new-administrator', NOON - MINUTE)];
    expect(planMessage(all, { ...limits, sentAt })).toEqual({ send: all });
    const full = [...sentAt, NOON - 2 * MINUTE];
    expect(planMessage(all, { ...limits, sentAt: full })).toEqual({ send: null, until: NOON + 30 * MINUTE });
  });

  it('applies a lowered limit to messages that were sent before', () => {
    const sentAt = [10, 20, 30, 40].map((minutes) => NOON - minutes * MINUTE);
    const plan = planMessage([alert('trouble', NOON - MINUTE)], { ...limits, perHour: 2, sentAt });
    expect(plan).toEqual({ send: null, until: NOON + 50 * MINUTE });
  });

  it('waits until the morning in quiet hours, except for a new administrator', () => {
    const quiet = { ...limits, quietHours: true, now: NIGHT };
    const other = alert('software-added', NIGHT - MINUTE);
    const urgent = alert('new-administrator', NIGHT - MINUTE);
    expect(planMessage([other], quiet)).toEqual({ send: null, until: Date.UTC(2026, 10, 22, 6) });
    expect(planMessage([other, urgent], quiet)).toEqual({ send: [urgent] });
    expect(planMessage([other], { ...quiet, now: Date.UTC(2026, 10, 22, 6) })).toEqual({ send: [other] });
  });

  it('never exceeds the hourly limit', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 * HOUR }), { maxLength: 80 }), (offsets) => {
        const sentAt: number[] = [];
        let waiting: ReturnType<typeof alert>[] = [];
        const arriving = offsets.map((offset) => NOON + offset).sort((a, b) => a - b);
        for (let now = NOON; now <= NOON + 5 * HOUR; now += 30_000) {
          while (arriving[0] !== undefined && arriving[0] <= now) waiting.push(alert('trouble', arriving.shift() ?? 0));
          if (waiting.length === 0) continue;
          const plan = planMessage(waiting, { ...limits, sentAt, now });
          if (plan.send === null) {
            expect(plan.until).toBeGreaterThan(now);
            continue;
          }
          sentAt.push(now);
          waiting = [];
        }
        expect(waiting).toEqual([]);
        for (const at of sentAt) {
          expect(sentAt.filter((other) => other > at - HOUR && other <= at).length).toBeLessThanOrEqual(4);
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['3 minutes ago', NOON - 3 * MINUTE, null],
    ['5 minutes ago', NOON - 5 * MINUTE, { from: NOON - 5 * MINUTE, to: NOON }],
    ['never', null, null],
    ['in the future, before the clock was set back', NOON + HOUR, null],
  ])('finds the time in which guard did not run, after it last ran %s', (_time, last, stop) => {
    expect(findStop(last, NOON)).toEqual(stop);
  });

  it.each([
    ['21:59', Date.UTC(2026, 10, 21, 20, 59), null],
    ['22:00', Date.UTC(2026, 10, 21, 21), Date.UTC(2026, 10, 22, 6)],
    ['03:12', Date.UTC(2026, 10, 22, 2, 12), Date.UTC(2026, 10, 22, 6)],
    ['06:59', Date.UTC(2026, 10, 22, 5, 59, 30), Date.UTC(2026, 10, 22, 6)],
    ['07:00', Date.UTC(2026, 10, 22, 6), null],
  ])('ends the quiet hours at the right time of the site’s time zone, at %s', (_time, now, end) => {
    expect(endOfQuietHours(ZONE, now)).toBe(end);
  });
});

describe('a wave of lockouts', () => {
  const lockouts = (count: number, step: number, from = NOON): Lockout[] =>
    Array.from({ length: count }, (_, index) => ({
      uid: `${from}-${index}`,
      at: from + index * step,
      address: `192.0.2.${index}`,
      failures: 5,
    }));

  it('consists of ten lockouts within one hour, not of nine, and not of ten within two hours', () => {
    expect(findWave(lockouts(9, MINUTE), null, NOON + HOUR)).toBeNull();
    expect(findWave(lockouts(10, 10 * MINUTE), null, NOON + 2 * HOUR)).toBeNull();
    expect(findWave(lockouts(10, MINUTE), null, NOON + 2 * HOUR)?.lockouts).toHaveLength(10);
  });

  it('is reported with all lockouts once there was none for a minute', () => {
    const fast = lockouts(50, 1000);
    expect(findWave(fast.slice(0, 20), null, NOON + 20_000)).toBeNull();
    expect(findWave(fast, null, NOON + 49_000 + WAVE_SETTLE_MS - 1)).toBeNull();
    const wave = findWave(fast, null, NOON + 49_000 + WAVE_SETTLE_MS);
    expect([wave?.from, wave?.to, wave?.lockouts.length]).toEqual([NOON, NOON + 49_000, 50]);
  });

  it('is reported after five minutes although it continues', () => {
    const steady = lockouts(60, 20_000);
    const tenth = NOON + 9 * 20_000;
    const until = (now: number) => steady.filter(({ at }) => at <= now);
    const before = tenth + WAVE_LATEST_MS - 1;
    expect(findWave(until(before), null, before)).toBeNull();
    expect(findWave(until(before), null, before + 1)?.lockouts).toHaveLength(until(before).length);
  });

  it('is reported once an hour', () => {
    const next = lockouts(10, 1000, NOON + 10 * MINUTE);
    expect(findWave(next, NOON, NOON + 20 * MINUTE)).toBeNull();
    expect(findWave(next, NOON, NOON + HOUR)?.lockouts).toHaveLength(10);
    // The clock was set back after the last report.
    expect(findWave(next, NOON + 24 * HOUR, NOON + 20 * MINUTE)?.lockouts).toHaveLength(10);
  });
});

describe('networks and devices', () => {
  it.each([
    [['192.0.2.1', '192.0.2.200'], '192.0.2.0/24'],
    [['198.51.100.1', '198.51.7.2'], '198.51.0.0/16'],
    [['192.0.2.1', '203.0.113.1'], null],
    [['2001:db8:77:1::/64', '2001:db8:77:2::/64'], '2001:db8:77::/48'],
    [['2001:db8:77:1::/64', '192.0.2.1'], null],
    [[], null],
  ])('the common network of %j is found', (addresses, network) => expect(findCommonNetwork(addresses)).toBe(network));

  it('a changed address of the same phone belongs to the same network', () => {
    expect(toNetwork('203.0.113.7')).toBe(toNetwork('203.0.200.1'));
    expect(toNetwork('203.0.113.7')).not.toBe(toNetwork('203.1.113.7'));
    expect(toNetwork('2001:db8:1::1')).toBe(toNetwork('2001:db8:ffff::1'));
  });

  it.each([
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
      'Chrome',
      'Windows',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36 Edg/142.0',
      'Edge',
      'Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile Safari/604.1',
      'Safari',
      'iPhone',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox', 'Linux'],
    ['Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/142.0 Mobile Safari/537.36', 'Chrome', 'Android'],
  ])('browser and system are read from %s', (agent, browser, system) =>
    expect(toDevice(agent)).toEqual({ browser, system }),
  );

  it.each(['', 'curl/8.0', 'WordPress/6.5'])('%j is no known device', (agent) => expect(toDevice(agent)).toBeNull());

  it('an outage is reported once, after three minutes', () => {
    let outage: Outage | null = null;
    const reported: number[] = [];
    for (let minute = 0; minute <= 10; minute++) {
      const { report, ...next } = followOutage(outage, NOON + minute * MINUTE);
      if (report) reported.push(minute);
      outage = next;
    }
    expect(reported).toEqual([3]);
    expect(outage?.since).toBe(NOON);
    // The report could not be stored, so it is repeated.
    expect(followOutage({ since: NOON, reported: false }, NOON + 11 * MINUTE).report).toBe(true);
  });

  it('the pause after a failure grows up to an hour', () => {
    const rests = [1, 2, 3, 4, 5, 50].map((failures) => toNextTry(failures, NOON) - NOON);
    expect(rests.map((rest) => rest / 1000)).toEqual([30, 120, 600, 1800, 3600, 3600]);
  });
});
