import { signedCookie, signedCookies } from './signed-cookie.js';

/** How long someone who came by the custom login address gets the files that the login page needs, seconds. */
const VISIT_SECONDS = 24 * 3600;

/**
 * Whether this browser has been at the custom login address, or in the admin area, within a day. The login page loads
 * styles and scripts from the admin folder; only who holds this mark can tell that they exist.
 *
 * @param now milliseconds since the Unix epoch
 */
export function holdsVisitMark(secret: string, cookieHeader: string | undefined, now: number): boolean {
  return signedCookies(secret, 'visit', cookieHeader).some(
    (value) => /^\d{1,12}$/.test(value) && Number(value) * 1000 > now,
  );
}

/** `Set-Cookie` text of the mark. */
export function visitCookie(
  secret: string,
  visit: { readonly now: number; readonly home: string; readonly scheme: 'http' | 'https' },
): string {
  const value = String(Math.floor(visit.now / 1000) + VISIT_SECONDS);
  return signedCookie(secret, 'visit', value, { ...visit, seconds: VISIT_SECONDS });
}
