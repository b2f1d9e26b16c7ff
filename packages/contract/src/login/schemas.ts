import * as z from 'zod/mini';
import { loginRows } from '../settings/catalogue.js';
import { settingSchemas } from '../settings/options.js';
import { flag, userRef } from '../shapes.js';
import { WEEKDAYS } from './limits.js';

/**
 * A role of the site and whether its users need a second factor. `required`: always, not a choice. `name` is in the
 * language of the site. For a chosen role that was removed, `name` is the role's id.
 */
export const twoFactorRole = z.object({ role: z.string(), name: z.string(), selected: flag, required: flag });

/** A user who needs a second factor while it is on. `sessions`: number of browsers with a session of the user. */
export const twoFactorUser = z.object({
  ID: z.int(),
  user_login: z.string(),
  role: z.string(),
  set_up: flag,
  sessions: z.int(),
  you: flag,
});

/**
 * Users who need a second factor while it is on. `users` has at most 100 of them: the caller first, then users without
 * a second factor. Null while the connector can't list them.
 */
export const twoFactorUsers = z.nullable(z.object({ total: z.int(), set_up: z.int(), users: z.array(twoFactorUser) }));

/**
 * `login` and `signup`: the path for `custom`, the URL for `default`. `signup` is null while registration is closed.
 */
export const loginUrlOption = z.object({
  type: z.enum(['default', 'custom']),
  label: z.string(),
  login: z.string(),
  signup: z.nullable(z.string()),
  selected: flag,
});

export const awayScheduleSchema = z.union([
  z.object({ type: z.literal('off') }),
  z.object({ type: z.literal('period'), from_date: z.string(), to_date: z.string() }),
  z.object({ type: z.literal('weekly'), weekly: z.array(z.enum(WEEKDAYS)) }),
  z.object({ type: z.literal('daily'), from_hour: z.string(), to_hour: z.string() }),
]);

/**
 * Current and next state of Away Mode. Times are Unix seconds; `*_text` is the same as text in the site's time zone.
 * `next_from` is null when it never starts again; `until` is null while it is off.
 */
export const awayState = z.object({
  schedule: awayScheduleSchema,
  away: flag,
  until: z.nullable(z.number()),
  until_text: z.nullable(z.string()),
  next_from: z.nullable(z.number()),
  next_from_text: z.nullable(z.string()),
  /** IANA name or offset of the site's time zone. */
  timezone: z.string(),
});

/** `all_users` holds at most 1,000 names; WordPress checks a new name against all of its users. */
export const usernamesData = z.object({
  all_users: z.array(z.object({ user_login: z.string() })),
  admin_matches: z.array(userRef),
});

/** Options of the page Login Security. */
export const loginOptionsSchema = z.object({
  ...settingSchemas(loginRows),
  /** Roles and whether they need a second factor; empty while the connector can't list the roles. */
  two_factor_roles: z.array(twoFactorRole),
  two_factor_users: twoFactorUsers,
  reset_2fa: z.array(userRef),
  usernames_data: usernamesData,
  login_access: z.array(z.string()),
  /** Addresses that are locked out by failed logins. */
  locked_addresses: z.int(),
  login_url: z.array(loginUrlOption).check(z.minLength(2)),
  /** Number of recipients of "Send to my team"; null if unknown or above its limit. */
  team_size: z.nullable(z.int()),
  away_mode: awayState,
  /** Client address of this request, for "Add 203.0.113.10". */
  your_address: z.string(),
  /** URL where administrators set up their own second factor. */
  two_factor_setup_url: z.string(),
});

export type LoginOptions = z.infer<typeof loginOptionsSchema>;
export type AwayState = z.infer<typeof awayState>;
