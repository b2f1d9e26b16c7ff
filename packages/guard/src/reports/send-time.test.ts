import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toLocalTime } from '../lib/time-zone.js';
import { getDueSendTime, lastSendTime, sendMinute, toNextTry } from './send-time.js';

const HOUR = 3600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', '+05:30', '-9.5'];
const site = fc.stringMatching(/^[a-z0-9-]{1,20}$/);
const zone = fc.constantFrom(...zones);
const moment = fc.integer({ min: 1_600_000_000_000, max: 2_000_000_000_000 });

describe('the time of a weekly report', () => {
  it('is the same minute of the week for a site, on one of the days', () => {
    fc.assert(
      fc.property(site, (id) => {
        const minute = sendMinute(id);
        expect(minute).toBe(sendMinute(id));
        expect(Math.floor((minute % 1440) / 60)).toBeGreaterThanOrEqual(8);
        expect(Math.floor((minute % 1440) / 60)).toBeLessThan(18);
        expect(minute).toBeLessThan(7 * 1440);
      }),
    );
  });

  it('is spread: of a thousand sites at most a handful share a minute, and every day has its share', () => {
    const minutes = Array.from({ length: 1000 }, (_, index) => sendMinute(`site-${index}`));
    const shared = new Map<number, number>();
    for (const minute of minutes) shared.set(minute, (shared.get(minute) ?? 0) + 1);
    expect(Math.max(...shared.values())).toBeLessThan(8);
    for (let day = 0; day < 7; day++) {
      expect(minutes.filter((minute) => Math.floor(minute / 1440) === day).length).toBeGreaterThan(90);
    }
  });

  it('is the last one that has passed by the wall clock of the site, also when the clocks change', () => {
    fc.assert(
      fc.property(site, zone, moment, (id, timeZone, now) => {
        const time = lastSendTime(id, timeZone, now);
        expect(time).toBeLessThanOrEqual(now);
        // A week is an hour longer when the clocks go back.
        expect(now - time).toBeLessThan(WEEK + 2 * HOUR);
        const local = new Date(toLocalTime(timeZone, time));
        expect(((local.getUTCDay() + 6) % 7) * 1440 + local.getUTCHours() * 60 + local.getUTCMinutes()).toBe(
          sendMinute(id),
        );
        expect(lastSendTime(id, timeZone, time)).toBe(time);
        expect(lastSendTime(id, timeZone, time - 1)).toBeLessThan(time);
      }),
      { numRuns: 300 },
    );
  });

  it('is due for a day, then skipped', () => {
    const time = lastSendTime('site', 'Europe/Berlin', Date.UTC(2026, 10, 21));
    expect(getDueSendTime('site', 'Europe/Berlin', time)).toBe(time);
    expect(getDueSendTime('site', 'Europe/Berlin', time + DAY - 1)).toBe(time);
    expect(getDueSendTime('site', 'Europe/Berlin', time + DAY)).toBeNull();
    expect(getDueSendTime('site', 'Europe/Berlin', time - 1)).toBeNull();
  });

  it('of a retry is later after each failure, and finally null', () => {
    expect([1, 2, 3, 4, 5].map((tries) => toNextTry(tries, 0))).toEqual([HOUR / 6, HOUR, 6 * HOUR, DAY, null]);
  });
});
