import { createHmac, timingSafeEqual } from 'node:crypto';
import { cookieValues, writeCookie } from '../lib/cookies.js';

/** What a cookie is good for. Each has a key of its own, derived from the site's secret. */
export type CookiePurpose = 'device' | 'visit';

/**
 * Names of the cookies. They name neither the product nor WordPress, so that no cache in front takes visitors who
 * carry one for signed-in users.
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

/** A value with its signature behind a dot. The value must hold only characters that a cookie may. */
export function signValue(secret: string, purpose: CookiePurpose, value: string): string {
  return `${value}.${signature(secret, purpose, value)}`;
}

/** The value that was signed for this purpose with this secret, or null. */
export function verifiedValue(secret: string, purpose: CookiePurpose, signed: string): string | null {
  const cut = signed.lastIndexOf('.');
  if (cut < 1) return null;
  const value = signed.slice(0, cut);
  const given = Buffer.from(signed.slice(cut + 1), 'latin1');
  const expected = Buffer.from(signature(secret, purpose, value), 'latin1');
  return given.length === expected.length && timingSafeEqual(given, expected) ? value : null;
}

function signature(secret: string, purpose: CookiePurpose, value: string): string {
  return createHmac('sha256', keyFor(secret, purpose)).update(value).digest('base64url');
}

/** Of the cookies of a name that a browser sends, so many are looked at: each costs a signature. */
const LOOKED_AT = 4;

/**
 * Values of the cookies of this purpose that were signed with this secret, those of longer paths first. There may be
 * others of the same name: of a site in a folder of the same host, or whatever a host above or beside has set.
 */
export function signedCookies(secret: string, purpose: CookiePurpose, header: string | undefined): string[] {
  return cookieValues(header, COOKIE_NAMES[purpose])
    .slice(0, LOOKED_AT)
    .flatMap((signed) => verifiedValue(secret, purpose, signed) ?? []);
}

/** Text of a `Set-Cookie` header, its value signed. @param seconds how long the browser keeps it */
export function signedCookie(
  secret: string,
  purpose: CookiePurpose,
  value: string,
  where: { readonly home: string; readonly scheme: 'http' | 'https'; readonly seconds: number },
): string {
  return writeCookie({
    name: COOKIE_NAMES[purpose],
    value: signValue(secret, purpose, value),
    path: where.home === '' ? '/' : where.home,
    maxAge: where.seconds,
    secure: where.scheme === 'https',
  });
}
