import { LOGIN_PATH_MAX, LOGIN_PATH_MIN, LOGIN_PATH_PATTERN } from '@security-optimizer/contract/login-limits';
import { messages } from '@security-optimizer/contract/messages';
import type { SitePaths } from '../site.js';
import { english } from '../texts/language.js';

export const loginPathTexts = {
  length: english.translate('Use {least} to {most} characters.', { least: LOGIN_PATH_MIN, most: LOGIN_PATH_MAX }),
  wordpress: 'WordPress uses this address itself. Choose another one.',
  same: 'Choose another address than the one for the log-in.',
} as const;

/** First segments that WordPress answers itself: its rewrite rules, feeds, and its own short ways to log-in and admin. */
const RESERVED = new Set([
  ...['admin', 'dashboard', 'login', 'feed', 'rdf', 'rss', 'rss2', 'atom', 'comments', 'page', 'embed', 'trackback'],
  ...['author', 'category', 'tag', 'type', 'search', 'attachment', 'index', 'xmlrpc', 'robots', 'favicon', 'sitemap'],
]);

/** The path as it is stored: without spaces and slashes around it, lower-case, since rules compare lower-case paths. */
export function cleanLoginPath(typed: string): string {
  return typed
    .trim()
    .replace(/^\/+|\/+$/g, '')
    .toLowerCase();
}

/**
 * Whether a cleaned path may serve the log-in or the sign-up, as far as it can be told without asking WordPress.
 * @returns what is wrong in words, or null
 */
export function checkLoginPath(path: string, paths: SitePaths): string | null {
  if (path === '') return messages.required;
  if (!LOGIN_PATH_PATTERN.test(path)) return messages.invalidFormat;
  if (path.length < LOGIN_PATH_MIN || path.length > LOGIN_PATH_MAX) return loginPathTexts.length;
  const [first = ''] = path.split('/');
  // A number is a year of the archive.
  if (first.startsWith('wp-') || RESERVED.has(first) || /^\d+$/.test(first)) return loginPathTexts.wordpress;
  const taken = [paths.admin, paths.includes, paths.content, paths.uploads, paths.home + paths.rest];
  const below = `${paths.home}/${path}/`;
  return taken.some((own) => below.startsWith(`${own}/`)) ? loginPathTexts.wordpress : null;
}
