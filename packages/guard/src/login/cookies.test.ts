import { describe, expect, it } from 'vitest';
import { cookieValues } from '../lib/cookies.js';
import { deviceCookie, knownDevice } from './device-cookie.js';
import { signValue, verifiedValue } from './signed-cookie.js';
import { holdsVisitMark, visitCookie } from './visit-cookie.js';

const secret = '0f'.repeat(32);
const other = 'a1'.repeat(32);
const NOW = Date.UTC(2026, 10, 21);
const YEAR = 365 * 24 * 3600_000;
const pair = (setCookie: string) => setCookie.split(';')[0] as string;
const login = (more: object = {}) =>
  deviceCookie(secret, {
    device: null,
    user: 7,
    freshId: '00112233445566ff',
    now: NOW,
    home: '',
    scheme: 'http',
    ...more,
  });

describe('the cookie of a device that logged in before', () => {
  it('names its accounts, the latest first, at most eight', () => {
    let device = knownDevice(secret, pair(login()), NOW);
    expect(device).toEqual({ id: '00112233445566ff', users: [7] });
    for (const user of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      device = knownDevice(secret, pair(login({ device, user, freshId: 'ffffffffffffffff' })), NOW);
    }
    expect(device).toEqual({ id: '00112233445566ff', users: [9, 8, 7, 6, 5, 4, 3, 2] });
  });

  it('is worth nothing after a year, at another site, changed, or signed for something else', () => {
    const cookie = pair(login());
    const value = cookie.slice(cookie.indexOf('=') + 1);
    expect(knownDevice(secret, cookie, NOW + YEAR)).not.toBeNull();
    expect(knownDevice(secret, cookie, NOW + YEAR + 1000)).toBeNull();
    expect(knownDevice(other, cookie, NOW)).toBeNull();
    expect(knownDevice(secret, cookie.replace('-7.', '-1.'), NOW)).toBeNull();
    expect(knownDevice(secret, undefined, NOW)).toBeNull();
    expect(verifiedValue(secret, 'visit', value)).toBeNull();
    expect(verifiedValue(secret, 'device', value)).not.toBeNull();
  });

  it('stays with the site’s folder, away from scripts, and on https with https', () => {
    expect(login({ home: '/blog', scheme: 'https' })).toMatch(/; Path=\/blog; .*HttpOnly; SameSite=Lax; Secure$/);
    expect(login()).toMatch(/; Path=\/; .*HttpOnly; SameSite=Lax$/);
  });
});

describe('the mark of a visit at the custom address', () => {
  it('holds for a day', () => {
    const cookie = pair(visitCookie(secret, { now: NOW, home: '', scheme: 'http' }));
    const day = 24 * 3600_000;
    expect(holdsVisitMark(secret, `a=b; ${cookie}`, NOW + day - 1000)).toBe(true);
    expect(holdsVisitMark(secret, cookie, NOW + day)).toBe(false);
    expect(holdsVisitMark(other, cookie, NOW)).toBe(false);
    expect(holdsVisitMark(secret, `visit_mark=${signValue(secret, 'visit', 'x')}`, NOW)).toBe(false);
  });
});

describe('a site in a folder of another one’s host', () => {
  // Browsers send the cookies of both, the one of the longer path first (RFC 6265 section 5.4).
  const beside = (ours: string, theirs: string): string[] => [`${ours}; ${theirs}`, `${theirs}; ${ours}`];
  const where = { now: NOW, home: '/blog', scheme: 'http' } as const;

  it('knows its devices by its own cookie, whichever comes first', () => {
    const theirs = pair(deviceCookie(other, { ...where, home: '', device: null, user: 3, freshId: 'a'.repeat(16) }));
    for (const header of beside(pair(login(where)), theirs)) {
      expect(knownDevice(secret, header, NOW)).toEqual({ id: '00112233445566ff', users: [7] });
      expect(knownDevice(other, header, NOW)).toEqual({ id: 'a'.repeat(16), users: [3] });
    }
  });

  it('knows by its own mark who has been at the login', () => {
    for (const header of beside(pair(visitCookie(secret, where)), pair(visitCookie(other, { ...where, home: '' })))) {
      expect([holdsVisitMark(secret, header, NOW), holdsVisitMark(other, header, NOW)]).toEqual([true, true]);
    }
  });

  it('checks a few cookies of a name and no more, however many are sent', () => {
    const many = Array.from({ length: 1000 }, (_, at) => `known_device=${at}.x`).join('; ');
    expect(knownDevice(secret, `${many}; ${pair(login())}`, NOW)).toBeNull();
  });
});

describe('a cookie header', () => {
  it('is read by the whole name', () => {
    expect(cookieValues('xa=1; a=2; ab=3; a = 4', 'a')).toEqual(['2', '4']);
    expect(cookieValues('xa=1', 'a')).toEqual([]);
    expect(cookieValues('a', 'a')).toEqual([]);
    expect(cookieValues(undefined, 'a')).toEqual([]);
  });
});
