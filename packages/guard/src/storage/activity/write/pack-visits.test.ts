import fc from 'fast-check';
import { expect, it } from 'vitest';
import { packVisits, unpackVisits } from './pack-visits.js';

it('visits come out as they went in, over a copy between threads too', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 });
  const visit = fc.record({
    at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    address: text,
    target: text,
    status: fc.integer({ min: 100, max: 999 }),
    rule: fc.option(text),
    agent: fc.option(text),
    count: fc.integer({ min: 1, max: 1_000_000_000 }),
  });
  fc.assert(
    fc.property(fc.array(visit), (visits) => {
      expect([...unpackVisits(structuredClone(packVisits(visits)))]).toEqual(visits);
    }),
  );
});
