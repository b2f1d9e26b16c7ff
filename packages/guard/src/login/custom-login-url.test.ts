import { toEnglish } from '@security-optimizer/contract/server-message';
import { describe, expect, it } from 'vitest';
import { siteConfig } from '../../test/support/site-config.js';
import { silentLogger } from '../lib/logger.js';
import { KeyedMutex } from '../lib/mutex.js';
import { defaultSitePaths } from '../site.js';
import { normaliseLoginPath, setCustomLoginUrl } from './custom-login-url.js';

/**
 * Moves the login of a site with this home path.
 * @returns the message for the owner
 */
async function describeChange(home: string): Promise<string> {
  const { message } = await setCustomLoginUrl(
    {
      settings: { read: async () => new Map(), readAll: async () => new Map(), write: async () => 1 },
      pushPolicy: async () => ({}),
      apply: () => {},
      publish: () => {},
      mutex: new KeyedMutex(),
      clock: () => 0,
      logger: silentLogger(),
      loginData: async () => ({
        users: [],
        matches: [],
        roles: null,
        registration: false,
        factor_users: null,
        team: null,
        login_url: '',
        signup_url: '',
      }),
      pathInUse: async () => null,
      paths: () => ({ ...defaultSitePaths, home }),
    },
    {
      site: siteConfig(),
      actor: { id: 1, login: 'owner', address: '192.0.2.1' },
      type: 'custom',
      login: 'my-door',
      signup: '',
    },
  );
  return toEnglish(message);
}

it('the message names the full path of the login, also for a site in a subdirectory', async () => {
  expect(await describeChange('')).toBe('The login is at /my-door now.');
  expect(await describeChange('/blog')).toBe('The login is at /blog/my-door now.');
});

describe('a login path with unusual input', () => {
  it.each([
    [' /My-Door/ ', 'my-door'],
    ['\u200bmy-door\ufeff', 'my-door'],
    ['／ｍｙ－ｄｏｏｒ', 'my-door'],
    ['my\u2011door', 'my-door'],
    ['tür٢', 'tür2'],
  ])('%j is stored as %j', (typed, path) => {
    expect(normaliseLoginPath(typed)).toBe(path);
  });
});
