import fc from 'fast-check';
import { expect, it } from 'vitest';
import { endOfLocalDay, localTimestamp, startOfLocalDay } from './local-days.js';

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
