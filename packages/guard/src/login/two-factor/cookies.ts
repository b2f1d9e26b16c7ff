import { createHash } from 'node:crypto';
import { cookieValues } from '../../lib/cookies.js';

/** Name of the cookie that binds a challenge to a browser. */
export const CHALLENGE_COOKIE = 'sf_challenge';

/** Name of the cookie with the trusted-device tokens of a site; sites in sub-directories of one host each have one. */
export function deviceCookie(site: string): string {
  return `sf_device_${createHash('sha256').update(site).digest('hex').slice(0, 8)}`;
}

/** Value of the first cookie of this name, or null. */
export function readCookie(header: string | undefined, name: string): string | null {
  return cookieValues(header, name)[0] ?? null;
}
