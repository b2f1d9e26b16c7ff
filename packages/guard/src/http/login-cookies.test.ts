import { describe, expect, it } from 'vitest';
import { readCookies } from './headers.js';
import {
  createKnownBrowserCookie,
  createLoginPageCookie,
  hasLoginPageCookie,
  readKnownBrowser,
  signValue,
  verifySignedValue,
} from './login-cookies.js';

const secret = '0f'.repeat(32);
const other = 'a1'.repeat(32);
const NOW = Date.UTC(2026, 10, 21);
const YEAR = 365 * 24 * 3600_000;
const pair = (setCookie: string) => setCookie.split(';')[0] as string;
const login = (more: object = {}) =>
  createKnownBrowserCookie(secret, {
    device: null,
    user: 7,
    freshId: '00112233445566ff',
    now: NOW,
    home: '',
    scheme: 'http',
    ...more,
  });

describe('the cookie of a known browser', () => {
  it('names its accounts, the latest first, at most eight', () => {
    let device = readKnownBrowser(secret, pair(login()), NOW);
    expect(device).toEqual({ id: '00112233445566ff', users: [7] });
    for (const user of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      device = readKnownBrowser(secret, pair(login({ device, user, freshId: 'ffffffffffffffff' })), NOW);
    }
    expect(device).toEqual({ id: '00112233445566ff', users: [9, 8, 7, 6, 5, 4, 3, 2] });
  });

  it('is invalid after a year, at another site, when it was changed, or when it was signed for another purpose', () => {
    const cookie = pair(login());
    const value = cookie.slice(cookie.indexOf('=') + 1);
    expect(readKnownBrowser(secret, cookie, NOW + YEAR)).not.toBeNull();
    expect(readKnownBrowser(secret, cookie, NOW + YEAR + 1000)).toBeNull();
    expect(readKnownBrowser(other, cookie, NOW)).toBeNull();
    expect(readKnownBrowser(secret, cookie.replace('-7.', '-1.'), NOW)).toBeNull();
    expect(readKnownBrowser(secret, undefined, NOW)).toBeNull();
    expect(verifySignedValue(secret, 'visit', value)).toBeNull();
    expect(verifySignedValue(secret, 'device', value)).not.toBeNull();
  });

  it('is limited to the site’s folder, hidden from scripts, and Secure with https', () => {
    expect(login({ home: '/blog', scheme: 'https' })).toMatch(/; Path=\/blog; .*HttpOnly; SameSite=Lax; Secure$/);
    expect(login()).toMatch(/; Path=\/; .*HttpOnly; SameSite=Lax$/);
  });
});

describe('the login-page cookie', () => {
  it('is valid for a day', () => {
    const cookie = pair(createLoginPageCookie(secret, { now: NOW, home: '', scheme: 'http' }));
    const day = 24 * 3600_000;
    expect(hasLoginPageCookie(secret, `a=b; ${cookie}`, NOW + day - 1000)).toBe(true);
    expect(hasLoginPageCookie(secret, cookie, NOW + day)).toBe(false);
    expect(hasLoginPageCookie(other, cookie, NOW)).toBe(false);
    expect(hasLoginPageCookie(secret, `visit_mark=${signValue(secret, 'visit', 'x')}`, NOW)).toBe(false);
  });
});

describe('a site in a folder of another one’s host', () => {
  // Browsers send the cookies of both sites, those with the longer path first (RFC 6265 section 5.4).
  const inBothOrders = (ours: string, theirs: string): string[] => [`${ours}; ${theirs}`, `${theirs}; ${ours}`];
  const where = { now: NOW, home: '/blog', scheme: 'http' } as const;

  it('recognizes known browsers by its own cookie, whatever the order', () => {
    const theirs = pair(
      createKnownBrowserCookie(other, { ...where, home: '', device: null, user: 3, freshId: 'a'.repeat(16) }),
    );
    for (const header of inBothOrders(pair(login(where)), theirs)) {
      expect(readKnownBrowser(secret, header, NOW)).toEqual({ id: '00112233445566ff', users: [7] });
      expect(readKnownBrowser(other, header, NOW)).toEqual({ id: 'a'.repeat(16), users: [3] });
    }
  });

  it('recognizes browsers that have opened the login by its own cookie', () => {
    for (const header of inBothOrders(
      pair(createLoginPageCookie(secret, where)),
      pair(createLoginPageCookie(other, { ...where, home: '' })),
    )) {
      expect([hasLoginPageCookie(secret, header, NOW), hasLoginPageCookie(other, header, NOW)]).toEqual([true, true]);
    }
  });

  it('checks only a few cookies of one name, however many are sent', () => {
    const many = Array.from({ length: 1000 }, (_, at) => `known_device=${at}.x`).join('; ');
    expect(readKnownBrowser(secret, `${many}; ${pair(login())}`, NOW)).toBeNull();
  });
});

describe('a cookie header', () => {
  it('is searched for the complete name', () => {
    expect(readCookies('xa=1; a=2; ab=3; a = 4', 'a')).toEqual(['2', '4']);
    expect(readCookies('xa=1', 'a')).toEqual([]);
    expect(readCookies('a', 'a')).toEqual([]);
    expect(readCookies(undefined, 'a')).toEqual([]);
  });
});
