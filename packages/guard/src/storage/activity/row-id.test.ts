import fc from 'fast-check';
import { expect, it } from 'vitest';
import { firstIdOf, hourOf, lastIdOf, secondOf } from './row-id.js';

const second = fc.integer({ min: 1_577_836_800, max: 4_000_000_000 });

it('ids stand in the order of time and tell their second', () => {
  fc.assert(
    fc.property(second, second, (a, b) => {
      expect(secondOf(firstIdOf(a))).toBe(a);
      expect(secondOf(lastIdOf(a))).toBe(a);
      expect(Number.isSafeInteger(lastIdOf(a))).toBe(true);
      if (a < b) expect(lastIdOf(a)).toBeLessThan(firstIdOf(b));
    }),
  );
});

it('times before 2020 and far in the future still make an id', () => {
  expect(firstIdOf(0)).toBe(0);
  expect(firstIdOf(-5)).toBe(0);
  expect(lastIdOf(253_402_300_799)).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
  expect(hourOf(7199)).toBe(3600);
});
