import type { AttackGoal } from '@security-optimizer/contract/activity/attackers';
import { LOGIN_RULES } from '../rules/login-policy.js';

/** The facts that determine the goal of a request. */
export interface JudgedRequest {
  /** Name of the rule that refused it, or null. */
  readonly rule: string | null;
  /** Path and query as received. */
  readonly target: string;
  /** HTTP status of the response. */
  readonly status: number;
  readonly method: string | null;
  /** Failed logins in it. */
  readonly failedLogins: number;
  /** Whether DNS has verified the client as a search engine. */
  readonly isKnownCrawler: boolean;
}

const HOLE_RULES: ReadonlySet<string> = new Set(['own-files', 'file-editors', 'readme', 'wordpress-version']);

const LOGIN = /\/(?:wp-login|xmlrpc)\.php(?=$|[/;?])/i;
/** Files that no page links to: hidden files, copies of files, dumps, archives (other than a sitemap's), logs. */
const FORGOTTEN_FILE =
  /\/\.(?!well-known(?:\/|$))[^/]+|~$|\.(?:bak|backup|old|orig|save|swp|swo|copy|tmp|log|sql|sqlite|db|env|ini|conf|yml|yaml|pem|key|zip|rar|7z|tar|tgz|bz2)$|(?<!\.xml)\.gz$|wp-config\.php[^/]/i;
/** A page of WordPress with permalinks that contain `index.php`. */
const PERMALINK = /\/index\.php\//i;
const SCRIPT = /\.ph(?:p\d?|tml|ar)(?=$|[/;])/i;
const PLUGIN_PROBE = /\/wp-content\/(?:plugins|themes)\/[^/]+\/(?:.*\.(?:php|txt|md)$|$)/i;
/** Typical parts of attacks in a URL: injections and path traversal. */
const INJECTION =
  /(?:\.\.|%2e%2e)(?:\/|%2f|\\|%5c)|union(?:\s|\+|%20|\/\*.*?\*\/)+(?:all(?:\s|\+|%20)+)?select|<script|%3cscript|php:\/\/|\/etc\/passwd|\$\{jndi|eval\(|base64_decode/i;
const USERS = /[?&]author=\d|\/wp-json\/wp\/v2\/users|rest_route=(?:\/|%2f)wp(?:\/|%2f)v2(?:\/|%2f)users/i;
/** With plain permalinks, themes link to the page of an author by its number. */
const AUTHOR_PAGE = /^[^?]*\?author=\d+$/i;
const COMMENTS = /\/wp-(?:comments-post|trackback)\.php(?=$|[/;?])/i;
/** Characters of a target that are examined. Each pattern takes time per character. */
const SCANNED_CHARACTERS_MAX = 300;

/**
 * Returns the goal of a request. Every refused request and every failed login has a goal. Another request has one only
 * when it looks like a scan: it requested something that does not exist and that no page links to, or the list of
 * users.
 */
export function attackGoal(request: JudgedRequest): AttackGoal | null {
  const { rule, failedLogins, method, status, isKnownCrawler } = request;
  const target = request.target.slice(0, SCANNED_CHARACTERS_MAX);
  if (failedLogins > 0) return 'passwords';
  if (rule === null) return isKnownCrawler ? null : scanGoal(target, status);
  if (LOGIN_RULES.has(rule) || rule === 'xml-rpc' || LOGIN.test(target)) return 'passwords';
  if (HOLE_RULES.has(rule) || INJECTION.test(target)) return 'holes';
  const path = toPath(target);
  if (FORGOTTEN_FILE.test(path)) return 'files';
  if (USERS.test(target)) return 'users';
  if (COMMENTS.test(target)) return 'spam';
  if (SCRIPT.test(path) || PLUGIN_PROBE.test(path)) return 'holes';
  if (rule === 'system-folders' || rule.startsWith('ambiguous:') || rule.startsWith('malformed:')) return 'holes';
  if (method === 'POST') return 'spam';
  return 'overload';
}

/** Returns the goal of a request that no rule refused, or null. */
function scanGoal(target: string, status: number): AttackGoal | null {
  if (USERS.test(target)) return status === 200 && AUTHOR_PAGE.test(target) ? null : 'users';
  if (status < 400 || status === 499 || status >= 500) return null;
  if (INJECTION.test(target)) return 'holes';
  const path = toPath(target);
  if (FORGOTTEN_FILE.test(path)) return 'files';
  if (status !== 404 || PERMALINK.test(path)) return null;
  return SCRIPT.test(path) || PLUGIN_PROBE.test(path) ? 'holes' : null;
}

/** Folders in which attackers try one file after another: the folder is what they aim at. */
const SWEPT_FOLDER = /^.*?\/(?:wp-content\/(?:(?:plugins|themes)\/[^/]+|uploads|upgrade|cache)|wp-includes)\//i;
/** Pages of authors, which are tried number by number. */
const AUTHORS = /^[^?]*\?author=(?=\d)/i;
/** A script with anything appended to its path, which reaches the same script. */
const SCRIPT_PATH = /^.*?\.php(?=\/)/i;

/**
 * Returns what a request aims at, by which attacks are ranked: its path without spellings that reach the same script,
 * or the folder that is tried file by file. It is part of each of these targets, so a search for it finds them all.
 */
export function attackTarget(target: string): string {
  const whole = target.replace(/^\/{2,}/, '/');
  const path = toPath(whole);
  return (AUTHORS.exec(whole) ?? SWEPT_FOLDER.exec(path) ?? SCRIPT_PATH.exec(path) ?? [path])[0];
}

/** Returns the path of a target, without its query. */
export function toPath(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
