import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toFirstId, toHour, toLastId, toSecond } from './row-keys.js';

const second = fc.integer({ min: 1_577_836_800, max: 4_000_000_000 });

it('ids sort by time and contain their second', () => {
  fc.assert(
    fc.property(second, second, (a, b) => {
      expect(toSecond(toFirstId(a))).toBe(a);
      expect(toSecond(toLastId(a))).toBe(a);
      expect(Number.isSafeInteger(toLastId(a))).toBe(true);
      if (a < b) expect(toLastId(a)).toBeLessThan(toFirstId(b));
    }),
  );
});

it('times before 2020 and far in the future still have an id', () => {
  expect(toFirstId(0)).toBe(0);
  expect(toFirstId(-5)).toBe(0);
  expect(toLastId(253_402_300_799)).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
  expect(toHour(7199)).toBe(3600);
});
