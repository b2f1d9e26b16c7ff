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
        const limiter = new ConcurrencyLimiter();
        const held: Record<string, ConcurrencyPermit[]> = { a: [], b: [] };
        const open = new Set<symbol>();
        for (const [now, { do: action, free, key, likelihood }] of steps.entries()) {
          const own = held[key] as ConcurrencyPermit[];
          const before = own.length;
          if (action === 'take') {
            const permit = limiter.tryAcquire(key, free, likelihood, now * 500);
            if (permit !== null) own.push(permit);
            if (permit?.likelihood === 'view') expect(own.length).toBeLessThan(free);
          } else if (action === 'wait') {
            const id = Symbol();
            const waiter = {
              granted: (permit: ConcurrencyPermit) => {
                expect(open.delete(id)).toBe(true);
                own.push(permit);
              },
              refused: () => void expect(open.delete(id)).toBe(true),
            };
            open.add(id);
            if (limiter.enqueue(key, waiter, now + 10) === null) open.delete(id);
          } else if (action === 'release' && before > 0) {
            limiter.release(own.pop() as ConcurrencyPermit);
          } else if (action === 'serve') limiter.serve(key, free);
          else if (action === 'expire') limiter.expire(now);
          else if (action === 'dismiss') limiter.refuseAll(key);
          expect(limiter.countHeld(key)).toBe(own.length);
          expect(own.filter((each) => each.likelihood === 'view').length).toBeLessThanOrEqual(1);
          if (action === 'take' || action === 'serve') expect(own.length).toBeLessThanOrEqual(Math.max(before, free));
        }
        for (const key of ['a', 'b']) {
          limiter.refuseAll(key);
          for (const each of held[key] as ConcurrencyPermit[]) limiter.release(each);
        }
        expect(open.size).toBe(0);
        expect(limiter.size).toBe(0);
      }),
    );
  });

  it('are granted to waiting requests in order of arrival, before new ones', () => {
    const limiter = new ConcurrencyLimiter();
    const order: string[] = [];
    let current = limiter.tryAcquire('a', 1, 'certain', 0) as ConcurrencyPermit;
    for (const name of ['first', 'second']) {
      const granted = (permit: ConcurrencyPermit): void => {
        order.push(name);
        current = permit;
      };
      limiter.enqueue('a', { ...silent, granted }, 100);
    }
    limiter.release(current);
    expect(limiter.tryAcquire('a', 1, 'certain', 0)).toBeNull();
    limiter.serve('a', 1);
    limiter.release(current);
    limiter.serve('a', 1);
    expect(order).toEqual(['first', 'second']);
  });

  it('are reserved, the last one, for a certain password while others hang', () => {
    const limiter = new ConcurrencyLimiter();
    const took = (likelihood: PasswordLikelihood, now: number) => limiter.tryAcquire('a', 5, likelihood, now) !== null;
    expect([took('view', 0), took('view', 0)]).toEqual([true, false]);
    expect([took('possible', 0), took('possible', 0), took('possible', 0)]).toEqual([true, true, true]);
    expect([took('view', 0), took('possible', HUNG_AFTER_MS)]).toEqual([false, false]);
    expect([took('certain', HUNG_AFTER_MS), took('certain', HUNG_AFTER_MS)]).toEqual([true, false]);
  });

  it('are all available to concurrent guesses, by whatever form', () => {
    const limiter = new ConcurrencyLimiter();
    const permits = Array.from({ length: 100 }, (_, i) => limiter.tryAcquire('a', 5, 'possible', i)).filter(Boolean);
    expect(permits).toHaveLength(5);
    expect(limiter.tryAcquire('b', 1, 'view', 0)).toBeNull();
    expect(limiter.tryAcquire('b', 1, 'possible', 0)).not.toBeNull();
  });

  it('are refused to waiting requests after their deadline, and not granted to those that left', () => {
    const limiter = new ConcurrencyLimiter();
    const order: string[] = [];
    limiter.tryAcquire('a', 1, 'certain', 0);
    limiter.enqueue('a', { ...silent, refused: () => order.push('first') }, 100);
    const leave = limiter.enqueue('a', { ...silent, refused: () => order.push('left') }, 100);
    leave?.();
    limiter.expire(99);
    expect(order).toEqual([]);
    limiter.expire(100);
    expect(order).toEqual(['first']);
  });

  it('have a queue of bounded length, for one address and for all together', () => {
    const limiter = new ConcurrencyLimiter();
    const waitAt = (key: string) => limiter.enqueue(key, silent, 1e9) !== null;
    limiter.tryAcquire('a', 1, 'certain', 0);
    expect(Array.from({ length: 100 }, () => waitAt('a')).filter(Boolean)).toHaveLength(64);
    let total = 64;
    for (let i = 0; i < 100; i++) {
      limiter.tryAcquire(`k${i}`, 1, 'certain', 0);
      for (let j = 0; j < 64; j++) if (waitAt(`k${i}`)) total++;
    }
    expect(total).toBe(2000);
  });
});
