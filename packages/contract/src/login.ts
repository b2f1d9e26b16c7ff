import { z } from 'zod';
import { LOGIN_ATTEMPT_VALUES, WEEKDAYS } from './login-limits.js';

/** A switch in an answer. */
export const flag = z.literal([0, 1]);

/** A user in a list. */
export const userRef = z.object({ ID: z.number().int(), user_login: z.string() });

export const loginAttemptOption = z.object({
  value: z.literal([...LOGIN_ATTEMPT_VALUES]),
  label: z.string(),
  selected: flag,
});

/** `login` and `signup`: for `custom` the bare path, for `default` the whole URL. `signup` is null while registration is closed. */
export const loginUrlOption = z.object({
  type: z.enum(['default', 'custom']),
  label: z.string(),
  login: z.string(),
  signup: z.string().nullable(),
  selected: flag,
});

export const awayScheduleSchema = z.union([
  z.object({ type: z.literal('off') }),
  z.object({ type: z.literal('period'), from_date: z.string(), to_date: z.string() }),
  z.object({ type: z.literal('weekly'), weekly: z.array(z.enum(WEEKDAYS)) }),
  z.object({ type: z.literal('daily'), from_hour: z.string(), to_hour: z.string() }),
]);

/**
 * What Away Mode does now and next. Times are Unix seconds; `*_text` is the same in words in the site's time zone.
 * `next_from` is null when it never begins again; `until` is null while it is not on.
 */
export const awayState = z.object({
  schedule: awayScheduleSchema,
  away: flag,
  until: z.number().nullable(),
  until_text: z.string().nullable(),
  next_from: z.number().nullable(),
  next_from_text: z.string().nullable(),
  /** IANA name or offset of the site's time zone. */
  timezone: z.string(),
});

/** `all_users` holds at most 1,000 names; WordPress checks a new name against all of its users. */
export const usernamesData = z.object({
  all_users: z.array(z.object({ user_login: z.string() })),
  admin_matches: z.array(userRef),
});

/** Everything the page Login Security shows. */
export const loginOptionsSchema = z.object({
  sg2fa: flag,
  /** Our own switch: application passwords of users who need a second factor stay usable. */
  two_factor_app_passwords: flag,
  reset_2fa: z.array(userRef),
  disable_usernames: flag,
  usernames_data: usernamesData,
  login_access: z.array(z.string()),
  login_attempts: z.array(loginAttemptOption),
  login_url: z.array(loginUrlOption),
  away_mode: awayState,
  /** Address from which this call came, for "Add 203.0.113.10". */
  your_address: z.string(),
  /** Where an administrator sets up the own second factor. */
  two_factor_setup_url: z.string(),
});

export type LoginOptions = z.infer<typeof loginOptionsSchema>;
export type AwayState = z.infer<typeof awayState>;
