import { describe, expect, it } from 'vitest';
import { THROTTLE_AFTER, THROTTLE_WINDOW_MS, ThrottledAccounts } from './throttled-accounts.js';

const NOW = Date.UTC(2026, 10, 21);

function watched() {
  const reported: [string, readonly number[]][] = [];
  return { reported: reported, accounts: new ThrottledAccounts((site, users) => reported.push([site, users])) };
}

describe('an account', () => {
  it('is throttled after more than 20 failures within 15 minutes, and reported once', () => {
    const { reported, accounts } = watched();
    for (let i = 0; i < THROTTLE_AFTER; i++) accounts.recordFailure('site', 1, NOW + i);
    expect(reported).toEqual([]);
    for (let i = 0; i < 30; i++) accounts.recordFailure('site', 1, NOW + THROTTLE_AFTER + i);
    expect(reported).toEqual([['site', [1]]]);
    expect(accounts.list('site')).toEqual([1]);
  });

  it('is not throttled when the failures are spread over more time', () => {
    const { reported, accounts } = watched();
    for (let i = 0; i < 200; i++) accounts.recordFailure('site', 1, NOW + (i * THROTTLE_WINDOW_MS) / THROTTLE_AFTER);
    expect(reported).toEqual([]);
  });

  it('is no longer throttled 15 minutes after the attack has ended', () => {
    const { reported, accounts } = watched();
    for (let i = 0; i <= THROTTLE_AFTER; i++) accounts.recordFailure('site', 1, NOW);
    accounts.sweep(NOW + THROTTLE_WINDOW_MS - 1);
    expect(reported).toHaveLength(1);
    accounts.sweep(NOW + THROTTLE_WINDOW_MS);
    expect(reported).toEqual([
      ['site', [1]],
      ['site', []],
    ]);
    expect(accounts.list('site')).toEqual([]);
  });

  it('is listed with the other throttled accounts of its site only', () => {
    const { reported, accounts } = watched();
    for (const [site, user] of [
      ['a', 9],
      ['a', 2],
      ['b', 5],
    ] as const) {
      for (let i = 0; i <= THROTTLE_AFTER; i++) accounts.recordFailure(site, user, NOW);
    }
    expect(reported).toEqual([
      ['a', [9]],
      ['a', [2, 9]],
      ['b', [5]],
    ]);
  });
});
