/** Constants of Login Security that dashboard and guard share; free of schemas, so that the browser may import them. */

/** Names that attackers try first. Compared without case. Specification section 5. */
export const DISALLOWED_USERNAMES = ['administrator', 'user1', 'admin', 'user'] as const;

/** Characters of a username: letters, digits, space, underscore, dot, hyphen, @. Specification section 5. */
export const USERNAME_PATTERN = /^[A-Za-z0-9 _.\-@]+$/;
/** WordPress's own limit (`wp_insert_user`). */
export const USERNAME_MAX = 60;

/** Values of Limit Login Attempts; 0 switches it off. */
export const LOGIN_ATTEMPT_VALUES = [0, 3, 5] as const;
export type LoginAttempts = (typeof LOGIN_ATTEMPT_VALUES)[number];
export const DEFAULT_LOGIN_ATTEMPTS: LoginAttempts = 5;

/** Times that an address waits after n, 2n and 3n failures, seconds. */
export const LOCKOUT_SECONDS = [3600, 24 * 3600, 7 * 24 * 3600] as const;

/** One custom address: path segments of letters, digits, hyphen and underscore. */
export const LOGIN_PATH_PATTERN = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*$/;
export const LOGIN_PATH_MIN = 3;
export const LOGIN_PATH_MAX = 64;

/** Rows of the Login Access list. */
export const LOGIN_ACCESS_MAX = 500;
/** Characters an address row may hold. Specification section 5. */
export const ADDRESS_CHARACTERS = /^[0-9A-Fa-f.\-%/:*]*$/;

/** Away Mode lasts at most this long a day, seconds. */
export const AWAY_DAILY_MAX_SECONDS = 82_800;
/** The last day that a period may end on, months ahead. */
export const AWAY_PERIOD_MAX_MONTHS = 6;
export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export type AwaySchedule =
  | { readonly type: 'off' }
  /** Dates YYYY-MM-DD in the site's time zone, both days inside. */
  | { readonly type: 'period'; readonly from_date: string; readonly to_date: string }
  | { readonly type: 'weekly'; readonly weekly: readonly Weekday[] }
  /** Times HH:MM in the site's time zone; may cross midnight. */
  | { readonly type: 'daily'; readonly from_hour: string; readonly to_hour: string };

/** Texts of the specification, letter by letter; `%s` and `{name}` stand for the name. */
export const loginMessages = {
  usernameTyped: 'Username {name} already typed.',
  usernameExists: 'Username {name} already exists.',
  usernameNotAllowed: 'Username {name} is not allowed.',
  everyDay: "You can't enable Away Mode for every day of the week.",
  tooLongDaily: 'You can enable Away Mode for maximum of 23 hours daily.',
} as const;
