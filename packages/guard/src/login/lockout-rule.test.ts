import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AttemptEntry,
  applyFailure,
  applySuccess,
  correctClock,
  FORGET_AFTER_MS,
  getLockStage,
  getRemainingChecks,
  isExpired,
  isLocked,
  NO_FAILURES,
} from './lockout-rule.js';

const HOUR = 3600_000;
const NOW = Date.UTC(2026, 10, 21);
const OWNER = 1;
const limits = fc.constantFrom(3 as const, 5 as const);

/** The entry after failures one millisecond apart, each after the end of the previous lock. */
function failing(times: number, limit: 3 | 5): { entry: AttemptEntry; now: number; waits: number[] } {
  let entry = NO_FAILURES;
  let now = NOW;
  const waits: number[] = [];
  for (let i = 0; i < times; i++) {
    now = Math.max(now + 1, entry.lockedUntil);
    const before = entry.lockedUntil;
    entry = applyFailure(entry, OWNER, limit, now);
    if (entry.lockedUntil !== before) waits.push((entry.lockedUntil - now) / HOUR);
  }
  return { entry, now, waits };
}

describe('the lockout rule', () => {
  it('waits 1 hour at n failures, 24 hours at 2n, 7 days at 3n and every n after that', () => {
    expect(failing(20, 5).waits).toEqual([1, 24, 168, 168]);
    expect(failing(12, 3).waits).toEqual([1, 24, 168, 168]);
    expect(failing(4, 5).waits).toEqual([]);
  });

  it('gives the current stage of a lock', () => {
    expect([5, 10, 15, 20].map((times) => getLockStage(failing(times, 5).entry, 5))).toEqual([1, 2, 3, 3]);
  });

  it('locks exactly when no check is left, whatever the number of failures', () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 60 }), (limit, times) => {
        const { entry, now } = failing(times, limit);
        expect(isLocked(entry, limit, now)).toBe(times % limit === 0);
        expect(getRemainingChecks(entry, limit)).toBe(limit - (times % limit));
      }),
    );
  });

  it('never allows more checks than n before a lock, in any mix of failures and successes', () => {
    fc.assert(
      fc.property(limits, fc.array(fc.boolean(), { maxLength: 60 }), (limit, outcomes) => {
        let entry = NO_FAILURES;
        let sinceSuccess = 0;
        for (const [i, success] of outcomes.entries()) {
          if (isLocked(entry, limit, NOW + i)) return;
          entry = success ? applySuccess(entry, OWNER, NOW + i) : applyFailure(entry, OWNER, limit, NOW + i);
          sinceSuccess = success ? 0 : sinceSuccess + 1;
          expect(sinceSuccess).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  it('clears nothing at a success while locked, and does not extend a lock at a failure', () => {
    const { entry, now } = failing(5, 5);
    expect(applySuccess(entry, OWNER, now + 1)).toBe(entry);
    expect(applyFailure(entry, OWNER, 5, now + 1).lockedUntil).toBe(entry.lockedUntil);
    expect(applySuccess(entry, OWNER, entry.lockedUntil)).toBe(NO_FAILURES);
  });

  it('does not extend a lock for checks that were under way when it began', () => {
    const { entry, now } = failing(5, 5);
    let late = entry;
    for (let round = 1; round <= 30; round++) late = applyFailure(late, OWNER, 5, now + round);
    expect(late).toMatchObject({ failures: 35, lockedUntil: now + HOUR });
  });

  it('allows at most n failures at an account before a lock, whatever other users log in between', () => {
    const users = fc.array(fc.record({ user: fc.constantFrom(0, 1, 2, 3), right: fc.boolean() }), { maxLength: 80 });
    fc.assert(
      fc.property(limits, users, (limit, outcomes) => {
        let entry = NO_FAILURES;
        let atOwner = 0;
        for (const [i, { user, right }] of outcomes.entries()) {
          if (isLocked(entry, limit, NOW + i)) return;
          if (right && user === 0) continue;
          entry = right ? applySuccess(entry, user, NOW + i) : applyFailure(entry, user, limit, NOW + i);
          if (user === OWNER) atOwner = right ? 0 : atOwner + 1;
          expect(entry.accounts.filter((account) => account === OWNER)).toHaveLength(atOwner);
          expect(atOwner).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  it('keeps a lock when n changes, and locks no address while the limit is off', () => {
    const { entry, now } = failing(3, 3);
    expect(isLocked(entry, 5, now)).toBe(true);
    expect(isLocked(entry, 0, now)).toBe(false);
    expect(getRemainingChecks(entry, 0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('expires 7 days after the last lock or failure, not before', () => {
    const { entry } = failing(10, 5);
    expect(isExpired(entry, entry.lockedUntil + FORGET_AFTER_MS - 1)).toBe(false);
    expect(isExpired(entry, entry.lockedUntil + FORGET_AFTER_MS)).toBe(true);
  });

  it('does not extend a lock beyond 7 days because of a wrong clock', () => {
    const stored = { ...NO_FAILURES, failures: 5, lockedUntil: NOW + 1000 * HOUR, lastFailure: NOW };
    expect(correctClock(stored, NOW)).toEqual({ ...stored, lockedUntil: NOW + 168 * HOUR });
    const ahead = { ...stored, lockedUntil: NOW + 1000 * HOUR, lastFailure: NOW + 999 * HOUR };
    expect(correctClock(ahead, NOW)).toEqual({ ...stored, lockedUntil: NOW + HOUR });
    const before = { ...stored, failures: 2, lockedUntil: 0, lastFailure: NOW - HOUR };
    expect(correctClock(before, NOW)).toEqual(before);
  });
});
