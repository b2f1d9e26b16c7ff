import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a cookie is good for. Each has a key of its own, derived from the site's secret. */
export type CookiePurpose = 'device' | 'visit';

/**
 * Names of the cookies. They name neither the product nor WordPress, so that no cache in front takes visitors who
 * carry one for signed-in users.
 */
export const COOKIE_NAMES: Readonly<Record<CookiePurpose, string>> = { device: 'known_device', visit: 'visit_mark' };

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

/** The value of a cookie, or null when the header has none or more than one of that name. */
export function cookieValue(header: string | undefined, name: string): string | null {
  if (header === undefined || !header.includes(name)) return null;
  let found: string | null = null;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals === -1 || pair.slice(0, equals).trim() !== name) continue;
    if (found !== null) return null;
    found = pair.slice(equals + 1).trim();
  }
  return found;
}

/** Text of a `Set-Cookie` header. @param seconds how long the browser keeps it */
export function setCookie(
  purpose: CookiePurpose,
  value: string,
  where: { readonly home: string; readonly scheme: 'http' | 'https'; readonly seconds: number },
): string {
  const secure = where.scheme === 'https' ? '; Secure' : '';
  const path = where.home === '' ? '/' : where.home;
  return `${COOKIE_NAMES[purpose]}=${value}; Path=${path}; Max-Age=${where.seconds}; HttpOnly; SameSite=Lax${secure}`;
}
