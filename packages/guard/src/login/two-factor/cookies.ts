import { createHash } from 'node:crypto';

/** Name of the cookie that binds a challenge to a browser. */
export const CHALLENGE_COOKIE = 'sf_challenge';

/** Name of the cookie with the trusted-device tokens of a site; sites in sub-directories of one host each have one. */
export function deviceCookie(site: string): string {
  return `sf_device_${createHash('sha256').update(site).digest('hex').slice(0, 8)}`;
}

/** Value of the first cookie of this name, or null. (RFC 6265 section 4.2) */
export function readCookie(header: string | undefined, name: string): string | null {
  for (const pair of (header ?? '').split(';')) {
    const equals = pair.indexOf('=');
    if (equals !== -1 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return null;
}

/** A `Set-Cookie` value that scripts can't read and other sites' forms don't send. @param maxAge seconds; 0 deletes */
export function writeCookie(cookie: {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly maxAge: number;
  readonly secure: boolean;
}): string {
  const { name, value, path, maxAge, secure } = cookie;
  return `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}
