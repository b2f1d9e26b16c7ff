import { describe, expect, it } from 'vitest';
import { loginMessages } from './login/limits.js';
import { serverMessage, serverMessages } from './server-messages.js';

describe('a text of the server', () => {
  it('is sent in English and as code and parameters', () => {
    const time = { time: '2026-11-23 06:00' };
    expect(serverMessage('away_until', { time })).toEqual({
      english: 'Away Mode is on until 2026-11-23 06:00.',
      code: 'away_until',
      params: { time },
    });
  });

  it('has the plural form of its number, and small numbers at its start are words', () => {
    expect(serverMessage('plugins_failed', { count: 1 }).english).toBe('1 plugin failed.');
    expect(serverMessage('plugins_failed', { count: 1234 }).english).toBe('1,234 plugins failed.');
    expect(serverMessage('plugins_outdated', { count: { inWords: 1 } }).english).toBe('One plugin is out of date');
    expect(serverMessage('plugins_outdated', { count: { inWords: 7 } }).english).toBe('Seven plugins are out of date');
    expect(serverMessage('plugins_outdated', { count: { inWords: 12 } }).english).toBe('12 plugins are out of date');
  });

  it('contains names unchanged, even if they look like placeholders', () => {
    const names = { login: '{email}', email: '$&', since: { time: '2026-01-02' } };
    expect(serverMessage('administrator_since', names).english).toBe('{email} ($&), since 2026-01-02, no login known');
  });

  it('is the same in guard and in the browser for values that both check', () => {
    expect([
      serverMessages.username_typed,
      serverMessages.username_exists,
      serverMessages.username_not_allowed,
    ]).toEqual([loginMessages.usernameTyped, loginMessages.usernameExists, loginMessages.usernameNotAllowed]);
  });

  it('with plural forms has the parameter “count”', () => {
    for (const entry of Object.values(serverMessages)) {
      if (typeof entry !== 'string') expect(entry.other).toContain('{count}');
    }
  });
});
