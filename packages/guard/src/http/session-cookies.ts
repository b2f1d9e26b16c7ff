import type { SessionCookieNames } from '../site.js';

/**
 * Cookies with which WordPress recognizes signed-in users. A site may rename them (`LOGGED_IN_COOKIE`, `AUTH_COOKIE`,
 * `SECURE_AUTH_COOKIE`, `COOKIEHASH`); WordPress's own names all begin with `wordpress_`. Those always count, so that
 * no session is missed while the connector has not yet reported the site's own names.
 */

/** Names of a site that has not renamed them. */
export const USUAL_SESSION_COOKIES: SessionCookieNames = Object.freeze({ session: null, all: [] });

const USUAL = 'wordpress_';
const USUAL_SESSION = 'wordpress_logged_in_';
const TEST_COOKIE = 'wordpress_test_cookie';

/**
 * The names that differ from WordPress's own. Most sites have none, and share the data that is compiled from them.
 *
 * @param names `LOGGED_IN_COOKIE` and the names of the other two
 */
export function toSessionCookieNames(names: {
  readonly session: string;
  readonly others: readonly string[];
}): SessionCookieNames {
  const own = (name: string): boolean => name !== '' && !name.startsWith(USUAL);
  const session = names.session !== '' && !names.session.startsWith(USUAL_SESSION) ? names.session : null;
  const all = [...new Set([names.session, ...names.others])].filter(own);
  return session === null && all.length === 0 ? USUAL_SESSION_COOKIES : { session, all };
}

/**
 * Whether a `Cookie` header contains a cookie that may be a session; WordPress's test cookie does not count. PHP reads
 * dots, spaces and brackets in a name as underscores, and older releases also percent-decode it.
 */
export function hasSessionCookie(header: string, { all }: SessionCookieNames): boolean {
  if (all.length === 0 && !header.includes('wordpress') && !header.includes('%')) return false;
  return header.split(';').some((pair) => {
    const equals = pair.indexOf('=');
    const name = toPhpCookieName((equals === -1 ? pair : pair.slice(0, equals)).trim());
    return (name.startsWith(USUAL) && name !== TEST_COOKIE) || all.includes(name);
  });
}

/** The session cookie in a `Cookie` header, as `name=value`; null without one. */
export function readSessionCookie(header: string, { session }: SessionCookieNames): string | null {
  if (session !== null) {
    for (const pair of header.split(';')) {
      const trimmed = pair.trim();
      if (trimmed.startsWith(`${session}=`) && trimmed.length <= session.length + 1 + VALUE_MAX) return trimmed;
    }
  }
  return SESSION.exec(header)?.[1] ?? null;
}

const VALUE_MAX = 512;
const SESSION = /(?:^|;\s*)(wordpress_logged_in_[^=;]{1,64}=[^;]{1,512})/;

/** Whether the value of a `Set-Cookie` header starts a session. */
export function startsSession(setCookie: string, { session }: SessionCookieNames): boolean {
  const text = setCookie.trimStart();
  return text.startsWith(USUAL_SESSION) || (session !== null && text.startsWith(`${session}=`));
}

function toPhpCookieName(name: string): string {
  const decoded = name.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded.trimStart().replace(/[ .[]/g, '_');
}
