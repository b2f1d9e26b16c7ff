import { describe, expect, it } from 'vitest';
import { cleanReferer, maskSecrets } from './mask-secrets.js';

describe('secrets in a URL', () => {
  it.each([
    ['/?pwd=hunter2', '/?pwd=***'],
    ['/wp-login.php?action=rp&key=abc&login=owner', '/wp-login.php?action=rp&key=***&login=owner'],
    ['/?log=owner&user_pass=x%26y&a=1', '/?log=***&user_pass=***&a=1'],
    ['/?_wpnonce=1234', '/?_wpnonce=***'],
    ['/?api_key=1;token=2;page=3', '/?api_key=***;token=***;page=3'],
    ['/?%70assword=x', '/?%70assword=***'],
    ['/?data[secret]=x', '/?data[secret]=***'],
  ])('%s is stored as %s', (target, stored) => {
    expect(maskSecrets(target)).toBe(stored);
  });

  it.each(['/', '/keyboard/', '/?s=password', '/?page=2&monkey=1', '/?token=', '/?token', '/?', '/?=x&&'])(
    '%s is stored unchanged',
    (target) => {
      expect(maskSecrets(target)).toBe(target);
    },
  );
});

describe('a referer', () => {
  const clean = (referer: string) => cleanReferer(referer, (target) => target.startsWith('/my-login'));

  it('is stored without user name, password, fragment and secrets', () => {
    expect(clean('https://me:secret@Example.com/a?token=1&b=2#part')).toBe('https://example.com/a?token=***&b=2');
    expect(clean('http://example.com')).toBe('http://example.com/');
  });

  it('never contains a login address', () => {
    expect(clean('https://example.com/my-login?x=1')).toBe('https://example.com/');
  });

  it('that is no web address is not stored', () => {
    expect([clean('android-app://com.example'), clean('javascript:alert(1)'), clean('')]).toEqual([null, null, null]);
  });
});
