import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ConcurrencyLimiter,
  type ConcurrencyPermit,
  HUNG_AFTER_MS,
  type PasswordLikelihood,
} from './concurrency-limiter.js';

const silent = { granted: () => {}, refused: () => {} };

describe('permits', () => {
  it('never exceed the limit, in any order of events', () => {
    const step = fc.record({
      do: fc.constantFrom('take', 'wait', 'release', 'serve', 'expire', 'dismiss'),
      free: fc.integer({ min: 0, max: 5 }),
      key: fc.constantFrom('a', 'b'),
      likelihood: fc.constantFrom('certain', 'possible', 'view'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const slots = new ConcurrencyLimiter();
        const held: Record<string, ConcurrencyPermit[]> = { a: [], b: [] };
        const open = new Set<symbol>();
        for (const [now, { do: what, free, key, likelihood }] of steps.entries()) {
          const mine = held[key] as ConcurrencyPermit[];
          const before = mine.length;
          if (what === 'take') {
            const slot = slots.tryAcquire(key, free, likelihood, now * 500);
            if (slot !== null) mine.push(slot);
            if (slot?.likelihood === 'view') expect(mine.length).toBeLessThan(free);
          } else if (what === 'wait') {
            const place = Symbol();
            const waiter = {
              granted: (slot: ConcurrencyPermit) => {
                expect(open.delete(place)).toBe(true);
                mine.push(slot);
              },
              refused: () => void expect(open.delete(place)).toBe(true),
            };
            open.add(place);
            if (slots.enqueue(key, waiter, now + 10) === null) open.delete(place);
          } else if (what === 'release' && before > 0) {
            slots.release(mine.pop() as ConcurrencyPermit);
          } else if (what === 'serve') slots.serve(key, free);
          else if (what === 'expire') slots.expire(now);
          else if (what === 'dismiss') slots.refuseAll(key);
          expect(slots.held(key)).toBe(mine.length);
          expect(mine.filter((each) => each.likelihood === 'view').length).toBeLessThanOrEqual(1);
          if (what === 'take' || what === 'serve') expect(mine.length).toBeLessThanOrEqual(Math.max(before, free));
        }
        for (const key of ['a', 'b']) {
          slots.refuseAll(key);
          for (const each of held[key] as ConcurrencyPermit[]) slots.release(each);
        }
        expect(open.size).toBe(0);
        expect(slots.size).toBe(0);
      }),
    );
  });

  it('are granted to waiting requests in order of arrival, before new ones', () => {
    const slots = new ConcurrencyLimiter();
    const order: string[] = [];
    let held = slots.tryAcquire('a', 1, 'certain', 0) as ConcurrencyPermit;
    for (const name of ['first', 'second']) {
      const granted = (slot: ConcurrencyPermit): void => {
        order.push(name);
        held = slot;
      };
      slots.enqueue('a', { ...silent, granted }, 100);
    }
    slots.release(held);
    expect(slots.tryAcquire('a', 1, 'certain', 0)).toBeNull();
    slots.serve('a', 1);
    slots.release(held);
    slots.serve('a', 1);
    expect(order).toEqual(['first', 'second']);
  });

  it('are reserved, the last one, for a certain password while others hang', () => {
    const slots = new ConcurrencyLimiter();
    const took = (likelihood: PasswordLikelihood, now: number) => slots.tryAcquire('a', 5, likelihood, now) !== null;
    expect([took('view', 0), took('view', 0)]).toEqual([true, false]);
    expect([took('possible', 0), took('possible', 0), took('possible', 0)]).toEqual([true, true, true]);
    expect([took('view', 0), took('possible', HUNG_AFTER_MS)]).toEqual([false, false]);
    expect([took('certain', HUNG_AFTER_MS), took('certain', HUNG_AFTER_MS)]).toEqual([true, false]);
  });

  it('are all available to concurrent guesses, by whatever form', () => {
    const slots = new ConcurrencyLimiter();
    const taken = Array.from({ length: 100 }, (_, i) => slots.tryAcquire('a', 5, 'possible', i)).filter(Boolean);
    expect(taken).toHaveLength(5);
    expect(slots.tryAcquire('b', 1, 'view', 0)).toBeNull();
    expect(slots.tryAcquire('b', 1, 'possible', 0)).not.toBeNull();
  });

  it('are refused to waiting requests after their deadline, and not granted to those that left', () => {
    const slots = new ConcurrencyLimiter();
    const order: string[] = [];
    slots.tryAcquire('a', 1, 'certain', 0);
    slots.enqueue('a', { ...silent, refused: () => order.push('first') }, 100);
    const leave = slots.enqueue('a', { ...silent, refused: () => order.push('left') }, 100);
    leave?.();
    slots.expire(99);
    expect(order).toEqual([]);
    slots.expire(100);
    expect(order).toEqual(['first']);
  });

  it('have a queue of bounded length, for one address and for all together', () => {
    const slots = new ConcurrencyLimiter();
    const waitAt = (key: string) => slots.enqueue(key, silent, 1e9) !== null;
    slots.tryAcquire('a', 1, 'certain', 0);
    expect(Array.from({ length: 100 }, () => waitAt('a')).filter(Boolean)).toHaveLength(64);
    let inAll = 64;
    for (let i = 0; i < 100; i++) {
      slots.tryAcquire(`k${i}`, 1, 'certain', 0);
      for (let j = 0; j < 64; j++) if (waitAt(`k${i}`)) inAll++;
    }
    expect(inAll).toBe(2000);
  });
});
