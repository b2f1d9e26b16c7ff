import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TopCounters } from './top-counters.js';

const CAPACITY = 5;

it('every value with more than its share of all hits is kept, and no count exceeds what is certain', () => {
  const hit = fc.tuple(fc.integer({ min: 0, max: 20 }).map(String), fc.integer({ min: 1, max: 9 }));
  fc.assert(
    fc.property(fc.array(hit, { minLength: 1, maxLength: 300, size: 'max' }), fc.nat(50), (hits, storedEach) => {
      const real = new Map<string, number>();
      const stored = new Map<string, { hits: number; excess: number }>();
      let counters = new TopCounters(CAPACITY);
      let all = 0;
      for (const [index, [value, count]] of hits.entries()) {
        all += count;
        real.set(value, (real.get(value) ?? 0) + count);
        counters.add(value, count);
        if (index % (storedEach + 1) === 0 || index === hits.length - 1) {
          const { changed, removed } = counters.takeChanges();
          for (const name of removed) stored.delete(name);
          for (const [name, counted] of changed) stored.set(name, { ...counted });
          // Continues with the stored counters, as after a restart.
          counters = new TopCounters(
            CAPACITY,
            [...stored].map(([name, counted]) => [name, { ...counted }] as const),
          );
        }
      }
      expect(stored.size).toBeLessThanOrEqual(CAPACITY);
      for (const [value, count] of real) {
        const counted = stored.get(value);
        if (count > all / CAPACITY) expect(counted).toBeDefined();
        if (!counted) continue;
        expect(counted.hits - counted.excess).toBeLessThanOrEqual(count);
        expect(counted.hits).toBeGreaterThanOrEqual(count);
      }
    }),
  );
});

it('storage gets every evicted value that it contains, and no other, however many there are between two calls', () => {
  const names = fc.array(fc.integer({ min: 0, max: 40 }).map(String), { maxLength: 60, size: 'max' });
  fc.assert(
    fc.property(fc.array(names, { maxLength: 12 }), (looks) => {
      const counters = new TopCounters(CAPACITY);
      const stored = new Map<string, { hits: number; excess: number }>();
      for (const values of looks) {
        for (const value of values) counters.add(value, 1);
        const { changed, removed } = counters.takeChanges();
        for (const name of removed) expect(stored.delete(name)).toBe(true);
        for (const [name, counted] of changed) stored.set(name, { ...counted });
        expect(stored.size).toBeLessThanOrEqual(CAPACITY);
        const hits = [...stored.values()].reduce((sum, counted) => sum + counted.hits, 0);
        expect(hits).toBe(looks.slice(0, looks.indexOf(values) + 1).flat().length);
      }
    }),
  );
});

it('counts are exact while there are fewer values than counters', () => {
  const counters = new TopCounters(CAPACITY);
  for (const value of ['a', 'b', 'a', 'c']) counters.add(value, 2);
  expect(new Map(counters.takeChanges().changed)).toEqual(
    new Map([
      ['a', { hits: 4, excess: 0 }],
      ['b', { hits: 2, excess: 0 }],
      ['c', { hits: 2, excess: 0 }],
    ]),
  );
  expect(counters.takeChanges()).toEqual({ changed: [], removed: [] });
});
