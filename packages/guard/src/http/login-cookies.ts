import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SitePaths } from '../site.js';
import { createCookie, readCookies } from './headers.js';

/** The purposes of signed cookies. Each has its own key, derived from the site's secret. */
export type CookiePurpose = 'device' | 'visit';

/**
 * Names of the cookies. They mention neither the product nor WordPress, so that no cache in front treats visitors who
 * have one as signed-in users.
 */
const COOKIE_NAMES: Readonly<Record<CookiePurpose, string>> = { device: 'known_device', visit: 'visit_mark' };

/** Keys by secret and purpose. Bounded by the number of configured sites. */
const keys = new Map<string, Buffer>();

function keyFor(secret: string, purpose: CookiePurpose): Buffer {
  const name = `${purpose} ${secret}`;
  let key = keys.get(name);
  if (key === undefined) {
    key = createHmac('sha256', secret).update(`${purpose}-cookie\n`).digest();
    keys.set(name, key);
  }
  return key;
}

/** Appends the signature to a value, after a dot. The value may contain only characters that are allowed in cookies. */
export function signValue(secret: string, purpose: CookiePurpose, value: string): string {
  return `${value}.${signature(secret, purpose, value)}`;
}

/** The value without its signature, or null when it was not signed for this purpose with this secret. */
export function verifySignedValue(secret: string, purpose: CookiePurpose, signed: string): string | null {
  const cut = signed.lastIndexOf('.');
  if (cut < 1) return null;
  const value = signed.slice(0, cut);
  const received = Buffer.from(signed.slice(cut + 1), 'latin1');
  const expected = Buffer.from(signature(secret, purpose, value), 'latin1');
  return received.length === expected.length && timingSafeEqual(received, expected) ? value : null;
}

function signature(secret: string, purpose: CookiePurpose, value: string): string {
  return createHmac('sha256', keyFor(secret, purpose)).update(value).digest('base64url');
}

/** Limit of cookies of one name that are checked, since each check computes a signature. */
const CHECKED_MAX = 4;

/**
 * Values of the cookies for this purpose that were signed with this secret, longer paths first. There may be other
 * cookies of the same name: from a site in a folder of the same host, or from a parent or sibling host.
 */
function readSignedCookies(secret: string, purpose: CookiePurpose, header: string | undefined): string[] {
  return readCookies(header, COOKIE_NAMES[purpose])
    .slice(0, CHECKED_MAX)
    .flatMap((signed) => verifySignedValue(secret, purpose, signed) ?? []);
}

/**
 * The folder to which guard's cookies are limited: the home page's, unless WordPress itself is outside that folder.
 * @returns URL path without a trailing slash, '' for the root
 */
export function cookieFolder({ home, admin }: Pick<SitePaths, 'home' | 'admin'>): string {
  return admin.startsWith(`${home}/`) ? home : '';
}

/** A `Set-Cookie` value with a signed cookie. @param seconds how long the browser keeps it */
function createSignedCookie(
  secret: string,
  purpose: CookiePurpose,
  value: string,
  where: { readonly home: string; readonly scheme: 'http' | 'https'; readonly seconds: number },
): string {
  return createCookie({
    name: COOKIE_NAMES[purpose],
    value: signValue(secret, purpose, value),
    path: where.home === '' ? '/' : where.home,
    maxAge: where.seconds,
    secure: where.scheme === 'https',
  });
}

/** A browser that has logged in before. */
export interface KnownBrowser {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** Accounts it logged in to, latest first. */
  readonly users: readonly number[];
}

/** How long a browser stays known after its last login, seconds. */
const KNOWN_SECONDS = 365 * 24 * 3600;
/** Accounts that one cookie remembers. */
const USERS_MAX = 8;

const VALUE = /^([0-9a-f]{16})-(\d{1,12})-(\d{1,15}(?:_\d{1,15})*)$/;

/**
 * Reads the cookie of a known browser. Nobody else can forge one, so the failures of a known browser are not counted
 * against its accounts, and it may log in while they are throttled.
 *
 * @param now milliseconds since the Unix epoch
 */
export function readKnownBrowser(secret: string, cookieHeader: string | undefined, now: number): KnownBrowser | null {
  for (const value of readSignedCookies(secret, 'device', cookieHeader)) {
    const [, id, time, users] = VALUE.exec(value) ?? [];
    if (id === undefined || users === undefined || now / 1000 - Number(time) > KNOWN_SECONDS) continue;
    return { id, users: users.split('_').map(Number) };
  }
  return null;
}

/**
 * `Set-Cookie` text for a browser that has just logged in.
 *
 * @param device the known browser, or null
 * @param freshId 16 random hexadecimal digits, used when the browser was not known
 */
export function createKnownBrowserCookie(
  secret: string,
  login: {
    readonly device: KnownBrowser | null;
    readonly user: number;
    readonly freshId: string;
    readonly now: number;
    readonly home: string;
    readonly scheme: 'http' | 'https';
  },
): string {
  const { device, user, freshId, now, home, scheme } = login;
  const users = [user, ...(device?.users ?? []).filter((known) => known !== user)].slice(0, USERS_MAX);
  const value = `${device?.id ?? freshId}-${Math.floor(now / 1000)}-${users.join('_')}`;
  return createSignedCookie(secret, 'device', value, { home, scheme, seconds: KNOWN_SECONDS });
}

/** How long a visitor of the custom login address may load the files of the login page, seconds. */
const LOGIN_PAGE_SECONDS = 24 * 3600;

/**
 * Whether this browser has opened the custom login address, or the admin area, within a day. The login page loads
 * styles and scripts from the admin folder; only browsers with this cookie can find out that they exist.
 *
 * @param now milliseconds since the Unix epoch
 */
export function hasLoginPageCookie(secret: string, cookieHeader: string | undefined, now: number): boolean {
  return readSignedCookies(secret, 'visit', cookieHeader).some(
    (value) => /^\d{1,12}$/.test(value) && Number(value) * 1000 > now,
  );
}

/** Whether this browser opened the hidden login recently or has logged in before. Its cookies are signed. */
export function isKnownBrowser(secret: string, cookieHeader: string | undefined, now: number): boolean {
  return hasLoginPageCookie(secret, cookieHeader, now) || readKnownBrowser(secret, cookieHeader, now) !== null;
}

/** `Set-Cookie` text of the login-page cookie. */
export function createLoginPageCookie(
  secret: string,
  visit: { readonly now: number; readonly home: string; readonly scheme: 'http' | 'https' },
): string {
  const value = String(Math.floor(visit.now / 1000) + LOGIN_PAGE_SECONDS);
  return createSignedCookie(secret, 'visit', value, { ...visit, seconds: LOGIN_PAGE_SECONDS });
}
