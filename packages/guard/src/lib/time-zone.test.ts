import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfLocalDay, offsetAt, startOfLocalDay, toKnownTimeZone, toLocalTimestamp } from './time-zone.js';

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', '+05:30', '-9.5'];

it('a moment lies between the start and the end of its day, and both are midnight', () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.integer({ min: 1_600_000_000, max: 2_000_000_000 }), (zone, at) => {
      const start = startOfLocalDay(zone, at);
      const end = endOfLocalDay(zone, at);
      expect(start <= at && at < end).toBe(true);
      expect([82_800, 84_600, 86_400, 88_200, 90_000]).toContain(end - start);
      expect(toLocalTimestamp(zone, start).slice(11)).toBe('00:00');
      expect(toLocalTimestamp(zone, end - 1).slice(11)).toBe('23:59');
      expect(toLocalTimestamp(zone, at).slice(0, 10)).toBe(toLocalTimestamp(zone, start).slice(0, 10));
    }),
  );
});

it('a time is shown as on the site’s wall clock', () => {
  const at = Date.parse('2026-11-20T23:30:59Z') / 1000;
  expect(toLocalTimestamp('UTC', at)).toBe('2026-11-20 23:30');
  expect(toLocalTimestamp('Europe/Berlin', at)).toBe('2026-11-21 00:30');
  expect(toLocalTimestamp('+05:45', at)).toBe('2026-11-21 05:15');
  expect(toLocalTimestamp('nonsense', at)).toBe('2026-11-20 23:30');
});

it('a time is correct in any order of queries: alone, or together with times of other zones', () => {
  const clock = (zone: string) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  const named = [
    'UTC',
    'Europe/Berlin',
    'America/St_Johns',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'Pacific/Chatham',
  ];
  const formats = new Map(named.map((zone) => [zone, clock(zone)]));
  const near = fc.constantFrom(Date.UTC(2026, 2, 29, 1), Date.UTC(2026, 9, 25, 1), Date.UTC(2026, 9, 3, 15, 30));
  const lookup = fc.tuple(fc.constantFrom(...named), near, fc.integer({ min: -7200, max: 7200 }));
  fc.assert(
    fc.property(fc.array(lookup, { maxLength: 8 }), (lookups) => {
      for (const [zone, ms, seconds] of lookups) {
        const at = ms / 1000 + seconds;
        expect([zone, toLocalTimestamp(zone, at)]).toEqual([zone, formats.get(zone)?.format(at * 1000)]);
      }
    }),
  );
});

describe('the known time zone of a site', () => {
  const at = (day: string) => Date.parse(`${day}T12:00:00Z`) / 1000;
  const hours = (value: number) => value * 3600;

  it.each([
    ['Europe/Berlin', '2026-11-20', 1],
    ['Europe/Berlin', '2026-07-20', 2],
    ['America/St_Johns', '2026-11-20', -3.5],
    ['Asia/Kathmandu', '2026-11-20', 5.75],
    ['UTC', '2026-11-20', 0],
    ['+05:30', '2026-11-20', 5.5],
    ['-09:30', '2026-11-20', -9.5],
  ])('is WordPress’s own when both clocks agree: %s on %s', (zone, day, offset) => {
    expect(toKnownTimeZone(zone, { time: at(day), offset: hours(offset) })).toBe(zone);
  });

  it.each([
    ['a zone that guard does not know', 'Mars/Olympus_Mons', 2, '+02:00'],
    ['a zone that guard does not know, behind UTC', 'Mars/Olympus_Mons', -3.5, '-03:30'],
    ['a zone whose rules have changed', 'Europe/Berlin', 2, '+02:00'],
    ['a zone whose rules have changed, at UTC', 'Europe/Berlin', 0, '+00:00'],
    ['an offset with a quarter of an hour', 'Nowhere/At_All', 12.75, '+12:45'],
    ['the easternmost zone', 'Nowhere/At_All', 14, '+14:00'],
    ['the westernmost zone', 'Nowhere/At_All', -12, '-12:00'],
  ])('is the offset of the site’s clock, for %s', (_why, zone, offset, known) => {
    const clock = { time: at('2026-11-20'), offset: hours(offset) };
    expect(toKnownTimeZone(zone, clock)).toBe(known);
  });

  it('always shows the time of the site’s clock', () => {
    const minutes = fc.integer({ min: -14 * 60, max: 14 * 60 });
    const moments = fc.integer({ min: 1_600_000_000, max: 2_000_000_000 });
    fc.assert(
      fc.property(fc.constantFrom(...zones, 'Mars/Olympus_Mons'), moments, minutes, (zone, time, ahead) => {
        const known = toKnownTimeZone(zone, { time, offset: ahead * 60 });
        expect(offsetAt(known, time * 1000)).toBe(ahead * 60_000);
      }),
    );
  });

  it('is WordPress’s own on both sides of a clock change', () => {
    // The last second of daylight saving time, and the first of standard time.
    const change = Date.parse('2026-10-25T01:00:00Z') / 1000;
    expect(toKnownTimeZone('Europe/Berlin', { time: change - 1, offset: hours(2) })).toBe('Europe/Berlin');
    expect(toKnownTimeZone('Europe/Berlin', { time: change, offset: hours(1) })).toBe('Europe/Berlin');
  });
});
