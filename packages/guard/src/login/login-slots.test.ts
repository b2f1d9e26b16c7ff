import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Claim, LoginSlots } from './login-slots.js';

const silent = { granted: () => {}, expired: () => {} };

describe('slots', () => {
  it('are never more than there are free ones, in any order of events', () => {
    const step = fc.record({
      do: fc.constantFrom('take', 'wait', 'release', 'serve', 'expire', 'dismiss'),
      free: fc.integer({ min: 0, max: 5 }),
      key: fc.constantFrom('a', 'b'),
      claim: fc.constantFrom('certain', 'possible', 'view'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const slots = new LoginSlots();
        const held: Record<string, Claim[]> = { a: [], b: [] };
        const open = new Set<symbol>();
        for (const [now, { do: what, free, key, claim }] of steps.entries()) {
          const mine = held[key] as Claim[];
          const before = mine.length;
          if (what === 'take' && slots.take(key, free, claim)) {
            mine.push(claim);
            if (claim === 'view' || (claim === 'possible' && before > 0)) expect(mine.length).toBeLessThan(free);
          } else if (what === 'wait') {
            const place = Symbol();
            const waiter = {
              granted: () => {
                expect(open.delete(place)).toBe(true);
                mine.push('certain');
              },
              expired: () => void expect(open.delete(place)).toBe(true),
            };
            open.add(place);
            if (slots.wait(key, waiter, now + 10) === null) open.delete(place);
          } else if (what === 'release' && before > 0) {
            slots.release(key, mine.pop() as Claim);
          } else if (what === 'serve') slots.serve(key, free);
          else if (what === 'expire') slots.expire(now);
          else if (what === 'dismiss') slots.dismiss(key);
          expect(slots.taken(key)).toBe(mine.length);
          expect(mine.filter((each) => each === 'view').length).toBeLessThanOrEqual(1);
          if (what === 'take' || what === 'serve') expect(mine.length).toBeLessThanOrEqual(Math.max(before, free));
        }
        for (const key of ['a', 'b']) {
          slots.dismiss(key);
          for (const each of held[key] as Claim[]) slots.release(key, each);
        }
        expect(open.size).toBe(0);
        expect(slots.size).toBe(0);
      }),
    );
  });

  it('go to those in line first come first served, before anyone new', () => {
    const slots = new LoginSlots();
    const order: string[] = [];
    slots.take('a', 1, 'certain');
    for (const name of ['first', 'second']) slots.wait('a', { ...silent, granted: () => order.push(name) }, 100);
    slots.release('a', 'certain');
    expect(slots.take('a', 1, 'certain')).toBe(false);
    slots.serve('a', 1);
    slots.release('a', 'certain');
    slots.serve('a', 1);
    expect(order).toEqual(['first', 'second']);
  });

  it('keep the last one for a password that is certain', () => {
    const slots = new LoginSlots();
    const took = (claim: Claim) => slots.take('a', 5, claim);
    expect([took('view'), took('view')]).toEqual([true, false]);
    expect([took('possible'), took('possible'), took('possible'), took('possible')]).toEqual([true, true, true, false]);
    expect([took('certain'), took('certain')]).toEqual([true, false]);
    slots.release('a', 'view');
    expect([took('view'), took('possible'), took('certain')]).toEqual([false, false, true]);
    // With one left, a form of a plugin still works as long as nothing else goes on.
    expect(slots.take('b', 1, 'view')).toBe(false);
    expect(slots.take('b', 1, 'possible')).toBe(true);
  });

  it('send away who waited too long, and forget who left', () => {
    const slots = new LoginSlots();
    const order: string[] = [];
    slots.take('a', 1, 'certain');
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
    slots.take('a', 1, 'certain');
    expect(Array.from({ length: 100 }, () => waitAt('a')).filter(Boolean)).toHaveLength(64);
    let inAll = 64;
    for (let i = 0; i < 100; i++) {
      slots.take(`k${i}`, 1, 'certain');
      for (let j = 0; j < 64; j++) if (waitAt(`k${i}`)) inAll++;
    }
    expect(inAll).toBe(2000);
  });
});
