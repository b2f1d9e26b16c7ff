import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Claim, HANGS_AFTER_MS, LoginSlots, type Slot } from './login-slots.js';

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
        const held: Record<string, Slot[]> = { a: [], b: [] };
        const open = new Set<symbol>();
        for (const [now, { do: what, free, key, claim }] of steps.entries()) {
          const mine = held[key] as Slot[];
          const before = mine.length;
          if (what === 'take') {
            const slot = slots.take(key, free, claim, now * 500);
            if (slot !== null) mine.push(slot);
            if (slot?.claim === 'view') expect(mine.length).toBeLessThan(free);
          } else if (what === 'wait') {
            const place = Symbol();
            const waiter = {
              granted: (slot: Slot) => {
                expect(open.delete(place)).toBe(true);
                mine.push(slot);
              },
              expired: () => void expect(open.delete(place)).toBe(true),
            };
            open.add(place);
            if (slots.wait(key, waiter, now + 10) === null) open.delete(place);
          } else if (what === 'release' && before > 0) {
            slots.release(mine.pop() as Slot);
          } else if (what === 'serve') slots.serve(key, free);
          else if (what === 'expire') slots.expire(now);
          else if (what === 'dismiss') slots.dismiss(key);
          expect(slots.taken(key)).toBe(mine.length);
          expect(mine.filter((each) => each.claim === 'view').length).toBeLessThanOrEqual(1);
          if (what === 'take' || what === 'serve') expect(mine.length).toBeLessThanOrEqual(Math.max(before, free));
        }
        for (const key of ['a', 'b']) {
          slots.dismiss(key);
          for (const each of held[key] as Slot[]) slots.release(each);
        }
        expect(open.size).toBe(0);
        expect(slots.size).toBe(0);
      }),
    );
  });

  it('go to those in line first come first served, before anyone new', () => {
    const slots = new LoginSlots();
    const order: string[] = [];
    let held = slots.take('a', 1, 'certain', 0) as Slot;
    for (const name of ['first', 'second']) {
      const granted = (slot: Slot): void => {
        order.push(name);
        held = slot;
      };
      slots.wait('a', { ...silent, granted }, 100);
    }
    slots.release(held);
    expect(slots.take('a', 1, 'certain', 0)).toBeNull();
    slots.serve('a', 1);
    slots.release(held);
    slots.serve('a', 1);
    expect(order).toEqual(['first', 'second']);
  });

  it('keep the last one for a password that is certain while others hang', () => {
    const slots = new LoginSlots();
    const took = (claim: Claim, now: number) => slots.take('a', 5, claim, now) !== null;
    expect([took('view', 0), took('view', 0)]).toEqual([true, false]);
    expect([took('possible', 0), took('possible', 0), took('possible', 0)]).toEqual([true, true, true]);
    expect([took('view', 0), took('possible', HANGS_AFTER_MS)]).toEqual([false, false]);
    expect([took('certain', HANGS_AFTER_MS), took('certain', HANGS_AFTER_MS)]).toEqual([true, false]);
  });

  it('are all for guesses that come at once, by whatever form', () => {
    const slots = new LoginSlots();
    const taken = Array.from({ length: 100 }, (_, i) => slots.take('a', 5, 'possible', i)).filter(Boolean);
    expect(taken).toHaveLength(5);
    expect(slots.take('b', 1, 'view', 0)).toBeNull();
    expect(slots.take('b', 1, 'possible', 0)).not.toBeNull();
  });

  it('send away who waited too long, and forget who left', () => {
    const slots = new LoginSlots();
    const order: string[] = [];
    slots.take('a', 1, 'certain', 0);
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
    slots.take('a', 1, 'certain', 0);
    expect(Array.from({ length: 100 }, () => waitAt('a')).filter(Boolean)).toHaveLength(64);
    let inAll = 64;
    for (let i = 0; i < 100; i++) {
      slots.take(`k${i}`, 1, 'certain', 0);
      for (let j = 0; j < 64; j++) if (waitAt(`k${i}`)) inAll++;
    }
    expect(inAll).toBe(2000);
  });
});
