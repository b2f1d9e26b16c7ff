import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type CheckPermit,
  type PasswordCheckLimits,
  PasswordCheckQueue,
  toCurrentGuesses,
} from './password-check-queue.js';

/** Limits under which the site always counts as being guessed at. */
const LIMITS: PasswordCheckLimits = {
  guessThreshold: 0,
  forgetMs: 1,
  maxConcurrent: 2,
  maxConcurrentWhileGuessed: 2,
  pauseFactor: 3,
  maxPauseMs: 1000,
  hungAfterMs: 5000,
  maxWaiting: 3,
};

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  return () => vi.useRealTimers();
});

function queueUnderTest(limits: Partial<PasswordCheckLimits> = {}) {
  const queue = new PasswordCheckQueue(Date.now, { ...LIMITS, ...limits });
  const granted: string[] = [];
  const expired: string[] = [];
  const permits = new Map<string, CheckPermit>();
  const wait = (name: string, failures = 0, site = 'site') =>
    queue.enqueue(
      site,
      failures,
      {
        granted(permit) {
          granted.push(name);
          permits.set(name, permit);
        },
        refused: () => expired.push(name),
      },
      Date.now() + 10_000,
    );
  const release = (name: string, right: boolean) => permits.get(name)?.release(right ? 'right' : 'wrong', Date.now());
  return { queue, granted, expired, wait, release };
}

describe('anonymous clients that need a password check', () => {
  it('are admitted a few at a time, for each site separately', () => {
    const { granted, wait } = queueUnderTest();
    for (const name of ['a', 'b', 'c']) wait(name);
    wait('d', 0, 'other');
    expect(granted).toEqual(['a', 'b', 'd']);
  });

  it('are admitted at once after a correct password', () => {
    const { granted, wait, release } = queueUnderTest();
    for (const name of ['a', 'b', 'c']) wait(name);
    vi.advanceTimersByTime(100);
    release('a', true);
    release('a', true);
    expect(granted).toEqual(['a', 'b', 'c']);
  });

  it('wait three times the duration of a check that was not correct, and a second at most', () => {
    const { granted, wait, release } = queueUnderTest();
    for (const name of ['a', 'b', 'c', 'd']) wait(name);
    vi.advanceTimersByTime(100);
    release('a', false);
    vi.advanceTimersByTime(299);
    expect(granted).toEqual(['a', 'b']);
    vi.advanceTimersByTime(1);
    expect(granted).toEqual(['a', 'b', 'c']);
    vi.advanceTimersByTime(2000);
    release('b', false);
    vi.advanceTimersByTime(1000);
    expect(granted).toEqual(['a', 'b', 'c', 'd']);
  });

  it('do not wait for a check that hangs', () => {
    const { granted, wait, release } = queueUnderTest();
    for (const name of ['a', 'b', 'c', 'd', 'e']) wait(name);
    vi.advanceTimersByTime(5000);
    expect(granted).toEqual(['a', 'b', 'c', 'd']);
    // A late client releases a permit that it no longer has.
    release('a', true);
    expect(granted).toEqual(['a', 'b', 'c', 'd']);
  });

  it('are admitted by their number of failures, then in order of arrival', () => {
    const { granted, wait, release } = queueUnderTest();
    for (const name of ['a', 'b']) wait(name);
    wait('twice', 2);
    wait('once', 1);
    wait('never');
    for (const name of ['a', 'b', 'never', 'once']) release(name, true);
    expect(granted).toEqual(['a', 'b', 'never', 'once', 'twice']);
  });

  it('are refused when the queue is too long, starting with the client that has failed most often', () => {
    const { granted, expired, wait } = queueUnderTest();
    for (const name of ['a', 'b']) wait(name);
    wait('1', 1);
    wait('4', 4);
    wait('2', 2);
    wait('fresh', 0);
    wait('5', 5);
    expect(expired).toEqual(['4', '5']);
    expect(granted).toEqual(['a', 'b']);
  });

  it('are refused at their deadline, and removed when they leave', () => {
    const { queue, granted, expired, wait, release } = queueUnderTest();
    for (const name of ['a', 'b', 'late']) wait(name);
    const out = wait('gone');
    out();
    queue.expire(Date.now() + 9999);
    expect(expired).toEqual([]);
    queue.expire(Date.now() + 10_000);
    release('a', true);
    release('b', true);
    expect([granted, expired]).toEqual([['a', 'b'], ['late']]);
  });

  it('do not wait until failures exceed those of mistyping users, and not after the failures have expired', () => {
    const { granted, wait, release } = queueUnderTest({
      guessThreshold: 2,
      forgetMs: 20_000,
      maxConcurrent: 100,
      maxWaiting: 100,
    });
    const enqueueAll = (names: string) => {
      for (const name of names) wait(name);
    };
    enqueueAll('abcd');
    expect(granted.join('')).toBe('abcd');
    vi.advanceTimersByTime(100);
    for (const name of 'abc') release(name, false);
    // Two permits are paused, and the fourth check is still running.
    enqueueAll('efg');
    expect(granted.join('')).toBe('abcd');
    vi.advanceTimersByTime(300);
    expect(granted.join('')).toBe('abcde');
    for (const name of 'de') release(name, true);
    for (const name of 'fg') release(name, true);
    expect(granted.join('')).toBe('abcdefg');
    vi.advanceTimersByTime(20_000);
    enqueueAll('hijk');
    expect(granted.join('')).toBe('abcdefghijk');
  });

  it('no longer wait a minute after the last of any number of guesses', () => {
    const { granted, wait, release } = queueUnderTest({
      guessThreshold: 60,
      forgetMs: 1000,
      maxConcurrent: 100,
      maxWaiting: 1000,
    });
    for (let n = 0; n < 500; n++) {
      wait(`${n}`);
      release(`${n}`, false);
      vi.advanceTimersByTime(10);
    }
    const before = granted.length;
    vi.advanceTimersByTime(61_000);
    for (const name of ['x', 'y', 'z']) wait(name);
    expect(granted.slice(before)).toEqual(['x', 'y', 'z']);
  });

  it('leave no state behind', () => {
    const { queue, wait, release } = queueUnderTest();
    wait('a');
    wait('b', 0, 'other');
    release('a', true);
    release('b', false);
    vi.advanceTimersByTime(10);
    expect([queue.size, vi.getTimerCount()]).toEqual([0, 0]);
  });
});

describe('recent failures', () => {
  it('expire one after the other', () => {
    const guesses = { count: 3, at: 1000 };
    expect([1000, 2500, 4000, 9000].map((now) => toCurrentGuesses(guesses, 1000, now))).toEqual([3, 1.5, 0, 0]);
  });
  it('do not expire sooner when the clock is set back', () => {
    expect(toCurrentGuesses({ count: 3, at: 9000 }, 1000, 1000)).toBe(3);
  });
});
