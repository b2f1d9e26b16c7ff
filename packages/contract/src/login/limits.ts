/**
 * Constants of Login Security that the dashboard and guard share. The file has no schemas, which keeps the browser's
 * bundle small.
 */

/** Usernames that attackers try first. Compared case-insensitively. Specification section 5. */
export const DISALLOWED_USERNAMES = ['administrator', 'user1', 'admin', 'user'] as const;

/** Characters of a username: letters, digits, space, underscore, dot, hyphen, @. Specification section 5. */
export const USERNAME_PATTERN = /^[A-Za-z0-9 _.\-@]+$/;
/** Limit of WordPress (`wp_insert_user`). */
export const USERNAME_MAX = 60;

/** Values of Limit Login Attempts; 0 switches it off. */
export const LOGIN_ATTEMPT_VALUES = [0, 3, 5] as const;
export type LoginAttempts = (typeof LOGIN_ATTEMPT_VALUES)[number];
export const DEFAULT_LOGIN_ATTEMPTS: LoginAttempts = 5;

/** Lockout durations of an address after n, 2n and 3n failures, in seconds. */
export const LOCKOUT_SECONDS = [3600, 24 * 3600, 7 * 24 * 3600] as const;

/** One custom address: path segments of letters, digits, hyphen and underscore. */
export const LOGIN_PATH_PATTERN = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*$/;
export const LOGIN_PATH_MIN = 3;
export const LOGIN_PATH_MAX = 64;

/**
 * First segments that WordPress handles itself: rewrite rules, feeds, and short URLs of login and admin.
 */
const RESERVED_SEGMENTS: ReadonlySet<string> = new Set([
  ...['admin', 'dashboard', 'login', 'feed', 'rdf', 'rss', 'rss2', 'atom', 'comments', 'page', 'embed', 'trackback'],
  ...['author', 'category', 'tag', 'type', 'search', 'attachment', 'index', 'xmlrpc', 'robots', 'favicon', 'sitemap'],
]);

/**
 * Whether WordPress handles a custom address itself on every site. Guard also refuses the folders of the particular
 * site.
 *
 * @param path without slashes around it
 */
export function isReservedLoginPath(path: string): boolean {
  const [first = ''] = path.toLowerCase().split('/');
  // WordPress interprets a number as a year of the archive.
  return first.startsWith('wp-') || RESERVED_SEGMENTS.has(first) || /^\d+$/.test(first);
}

/** Roles that require a second factor on every site (specification section 6). */
export const TWO_FACTOR_ROLES = ['administrator', 'editor'] as const;
/** Maximum number of further roles that an owner may choose. */
export const TWO_FACTOR_MORE_ROLES_MAX = 50;
/** Maximum number of users who get a mail about logging in by one click. */
export const TEAM_MAILS_MAX = 50;
/** Maximum number of users listed with their second factor. */
export const TWO_FACTOR_USERS_MAX = 100;
/** A role as WordPress stores it. No comma, because commas separate roles in messages to the connector. */
export const ROLE_PATTERN = /^[^\s,"'\\]{1,60}$/;

/** Maximum number of rows of the Login Access list. */
export const LOGIN_ACCESS_MAX = 500;

/** Maximum duration of Away Mode on a day, seconds. */
export const AWAY_DAILY_MAX_SECONDS = 82_800;
/** Latest end of a period, months ahead. */
export const AWAY_PERIOD_MAX_MONTHS = 6;
export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export type AwaySchedule =
  | { readonly type: 'off' }
  /** Dates YYYY-MM-DD in the site's time zone, both inclusive. */
  | { readonly type: 'period'; readonly from_date: string; readonly to_date: string }
  | { readonly type: 'weekly'; readonly weekly: readonly Weekday[] }
  /** Times HH:MM in the site's time zone; the period may cross midnight. */
  | { readonly type: 'daily'; readonly from_hour: string; readonly to_hour: string };

/** Exact texts of the specification; `%s` and `{name}` are replaced by the name. */
export const loginMessages = {
  usernameTyped: 'Username {name} already typed.',
  usernameExists: 'Username {name} already exists.',
  usernameNotAllowed: 'Username {name} is not allowed.',
  everyDay: "You can't enable Away Mode for every day of the week.",
  tooLongDaily: 'You can enable Away Mode for maximum of 23 hours daily.',
} as const;
