import type { IncomingMessage } from 'node:http';
import { type Credentials, NO_CREDENTIALS } from './request-facts.js';

/** What the headers of a request say about who sends it. Read generously: what might count counts. */
export function credentialsOf(request: IncomingMessage): Credentials {
  const { cookie, authorization } = request.headers;
  const overridesMethod = request.headers['x-http-method-override'] !== undefined;
  if (cookie === undefined && authorization === undefined && !overridesMethod) return NO_CREDENTIALS;
  return {
    hasLoginCookie: cookie !== undefined && hasLoginCookie(cookie),
    hasAuthorization: authorization !== undefined,
    hasBasic: authorization !== undefined && saysBasic(request),
    overridesMethod,
  };
}

/**
 * WordPress's session cookies all begin with `wordpress_`; the one that only tests for cookies does not count. PHP
 * reads dots, spaces and brackets in a name as underscores, older ones decode it too.
 */
function hasLoginCookie(header: string): boolean {
  if (!header.includes('wordpress') && !header.includes('%')) return false;
  return header.split(';').some((pair) => {
    const equals = pair.indexOf('=');
    const name = phpName((equals === -1 ? pair : pair.slice(0, equals)).trim());
    return name.startsWith('wordpress_') && name !== 'wordpress_test_cookie';
  });
}

function phpName(name: string): string {
  const decoded = name.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded.trimStart().replace(/[ .[]/g, '_');
}

/** Node keeps the first of several; what comes behind guard may take another. */
function saysBasic(request: IncomingMessage): boolean {
  const raw = request.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (name.length !== 13 || name.toLowerCase() !== 'authorization') continue;
    if (/(?:^|[\s,])basic(?:\s|$)/i.test(raw[i + 1] as string)) return true;
  }
  return false;
}
