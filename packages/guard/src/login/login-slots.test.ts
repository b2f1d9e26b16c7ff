import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LoginSlots } from './login-slots.js';

const silent = { granted: () => {}, expired: () => {} };

describe('slots', () => {
  it('are never more than there are free ones, in any order of events', () => {
    const step = fc.record({
      do: fc.constantFrom('take', 'wait', 'release', 'serve', 'expire', 'dismiss'),
      free: fc.integer({ min: 0, max: 5 }),
      key: fc.constantFrom('a', 'b'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const slots = new LoginSlots();
        const held: Record<string, number> = { a: 0, b: 0 };
        const open = new Set<symbol>();
        for (const [now, { do: what, free, key }] of steps.entries()) {
          const before = held[key] as number;
          if (what === 'take' && slots.take(key, free)) held[key] = before + 1;
          else if (what === 'wait') {
            const place = Symbol();
            const waiter = {
              granted: () => {
                expect(open.delete(place)).toBe(true);
                held[key] = (held[key] as number) + 1;
              },
              expired: () => void expect(open.delete(place)).toBe(true),
            };
            open.add(place);
            if (slots.wait(key, waiter, now + 10) === null) open.delete(place);
          } else if (what === 'release' && before > 0) {
            held[key] = before - 1;
            slots.release(key);
          } else if (what === 'serve') slots.serve(key, free);
          else if (what === 'expire') slots.expire(now);
          else if (what === 'dismiss') slots.dismiss(key);
          expect(slots.taken(key)).toBe(held[key]);
          if (what === 'take' || what === 'serve') expect(held[key]).toBeLessThanOrEqual(Math.max(before, free));
        }
        for (const key of ['a', 'b']) {
          slots.dismiss(key);
          for (let i = held[key] as number; i > 0; i--) slots.release(key);
        }
        expect(open.size).toBe(0);
        expect(slots.size).toBe(0);
      }),
    );
  });

  it('go to those in line first come first served, before anyone new', () => {
    const slots = new LoginSlots();
    const order: string[] = [];
    slots.take('a', 1);
    for (const name of ['first', 'second']) slots.wait('a', { ...silent, granted: () => order.push(name) }, 100);
    slots.release('a');
    expect(slots.take('a', 1)).toBe(false);
    slots.serve('a', 1);
    slots.release('a');
    slots.serve('a', 1);
    expect(order).toEqual(['first', 'second']);
  });

  it('send away who waited too long, and forget who left', () => {
    const slots = new LoginSlots();
    const order: string[] = [];
    slots.take('a', 1);
    slots.wait('a', { ...silent, expired: () => order.push('first') }, 100);
    const leave = slots.wait('a', { ...silent, expired: () => order.push('left') }, 100);
    leave?.();
    slots.expire(99);
    expect(order).toEqual([]);
    slots.expire(100);
    expect(order).toEqual(['first']);
  });

  it('have a line of bounded length, for one address and for all together', () => {
    const slots = new LoginSlots();
    const waitAt = (key: string) => slots.wait(key, silent, 1e9) !== null;
    slots.take('a', 1);
    expect(Array.from({ length: 100 }, () => waitAt('a')).filter(Boolean)).toHaveLength(64);
    let inAll = 64;
    for (let i = 0; i < 100; i++) {
      slots.take(`k${i}`, 1);
      for (let j = 0; j < 64; j++) if (waitAt(`k${i}`)) inAll++;
    }
    expect(inAll).toBe(2000);
  });
});
