import fc from 'fast-check';
import { expect, it } from 'vitest';
import { endOfLocalDay, localTimestamp, startOfLocalDay } from './time-zone.js';

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', '+05:30', '-9.5'];

it('a moment lies between the ends of its day, and both show midnight', () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.integer({ min: 1_600_000_000, max: 2_000_000_000 }), (zone, at) => {
      const start = startOfLocalDay(zone, at);
      const end = endOfLocalDay(zone, at);
      expect(start <= at && at < end).toBe(true);
      expect([82_800, 84_600, 86_400, 88_200, 90_000]).toContain(end - start);
      expect(localTimestamp(zone, start).slice(11)).toBe('00:00');
      expect(localTimestamp(zone, end - 1).slice(11)).toBe('23:59');
      expect(localTimestamp(zone, at).slice(0, 10)).toBe(localTimestamp(zone, start).slice(0, 10));
    }),
  );
});

it('a time stands as the wall clock of the site shows it', () => {
  const at = Date.parse('2026-11-20T23:30:59Z') / 1000;
  expect(localTimestamp('UTC', at)).toBe('2026-11-20 23:30');
  expect(localTimestamp('Europe/Berlin', at)).toBe('2026-11-21 00:30');
  expect(localTimestamp('+05:45', at)).toBe('2026-11-21 05:15');
  expect(localTimestamp('nonsense', at)).toBe('2026-11-20 23:30');
});

it('a time is right however it was asked for: alone, or beside others of other zones', () => {
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
  const ask = fc.tuple(fc.constantFrom(...named), near, fc.integer({ min: -7200, max: 7200 }));
  fc.assert(
    fc.property(fc.array(ask, { maxLength: 8 }), (asks) => {
      for (const [zone, ms, seconds] of asks) {
        const at = ms / 1000 + seconds;
        expect([zone, localTimestamp(zone, at)]).toEqual([zone, formats.get(zone)?.format(at * 1000)]);
      }
    }),
  );
});
