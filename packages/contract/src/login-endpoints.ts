import { z } from 'zod';
import { endpoint } from './endpoint.js';
import { awayState, flag, loginAttemptOption, loginUrlOption, usernamesData, userRef } from './login.js';
import { LOGIN_ATTEMPT_VALUES, type LoginAttempts, WEEKDAYS } from './login-limits.js';
import { messages } from './messages.js';
import { toggleValue } from './settings.js';

const attempts = z
  .union([z.literal([...LOGIN_ATTEMPT_VALUES]), z.literal(LOGIN_ATTEMPT_VALUES.map(String))], {
    error: 'Use 0, 3 or 5.',
  })
  .transform((value) => Number(value) as LoginAttempts);

/** Users and their new names: a list, or an object with numeric keys, as PHP writes a list with gaps. */
const newName = z.object({
  ID: z.coerce.number({ error: messages.invalidFormat }).int().positive(),
  user_login: z.string().default(''),
});
const newNames = z
  .union([z.array(newName), z.record(z.string().regex(/^\d+$/), newName)], {
    error: 'Send a list of users, each with ID and user_login.',
  })
  .transform((value) => Object.values(value));

/** A date, a time, or Unix seconds; guard's rule says which is allowed where. */
const moment = z.union([z.string(), z.number(), z.null()], { error: messages.invalidFormat }).optional();

/** A row of a list of addresses. What is no text is no address: a list in a row must not pass for an empty row. */
const addressRow = z.string().catch('-');

export const limitLoginAttempts = endpoint({
  name: 'update:login_attempts',
  suffix: '/limit-login-attempts',
  methods: ['POST'],
  summary: 'Lock an address after 3 or 5 failed log-ins, or never (0).',
  request: z.object({ login_attempts: attempts }),
  response: z.object({ login_attempts: z.array(loginAttemptOption) }),
});

export const loginAccess = endpoint({
  name: 'update:login_access',
  suffix: '/login-access',
  methods: ['POST'],
  summary:
    'Addresses, CIDR ranges, wildcards and ranges with a hyphen that may log in; an empty list lets everyone try. ' +
    'The body may also be the bare list. A list without the address of the caller is refused unless `confirm` is true. ' +
    'In `fields` of a refusal, names are positions in the list, from 0.',
  request: z.object({
    entries: z.array(addressRow, { error: 'Send a list of addresses.' }),
    confirm: toggleValue.optional(),
  }),
  listField: 'entries',
  response: z.object({ login_access: z.array(z.string()) }),
});

export const customLoginUrl = endpoint({
  name: 'update:login_url',
  suffix: '/custom-login-url',
  methods: ['POST'],
  summary: 'Move the log-in and the sign-up to addresses of your own, or back to those of WordPress.',
  request: z.object({
    type: z.enum(['default', 'custom'], { error: 'Use default or custom.' }),
    login: z.string({ error: messages.invalidFormat }).nullish(),
    signup: z.string({ error: messages.invalidFormat }).nullish(),
  }),
  response: z.object({ login_url: z.array(loginUrlOption) }),
});

export const twoFactor = endpoint({
  name: 'update:sg2fa',
  suffix: '/2fa',
  methods: ['POST'],
  summary:
    'Ask administrators and editors for a second factor (1) or not (0). Switching it on ends their sessions but the ' +
    'one of the caller, who goes on at `two_factor_setup_url`.',
  request: z.object({ sg2fa: toggleValue }),
  response: z.object({ sg2fa: flag, two_factor_setup_url: z.string() }),
});

export const twoFactorAppPasswords = endpoint({
  name: 'update:two_factor_app_passwords',
  suffix: '/two-factor-app-passwords',
  methods: ['POST'],
  summary: 'Let users who need a second factor use application passwords (1) or not (0).',
  request: z.object({ two_factor_app_passwords: toggleValue }),
  response: z.object({ two_factor_app_passwords: flag }),
});

export const disableAdminUsername = endpoint({
  name: 'update:disable_usernames',
  suffix: '/disable-admin-username',
  methods: ['POST'],
  summary:
    'Forbid common usernames (1) or allow them (0). While administrators have one, `admin_names` gives each a new one: ' +
    'all are renamed or none. In `fields` of a refusal, names are user IDs.',
  request: z
    .object({ disable_usernames: toggleValue.optional(), admin_names: newNames.optional() })
    .refine((body) => body.disable_usernames !== undefined || body.admin_names !== undefined, {
      path: ['disable_usernames'],
      error: 'Use 0 or 1.',
    }),
  response: z.object({ disable_usernames: flag, usernames_data: usernamesData.optional() }),
});

export const resetUserTwoFactor = endpoint({
  name: 'resetUserTwoFactor',
  suffix: '/reset-user-2fa/{id}',
  methods: ['POST'],
  summary: 'Forget the second factor of a user, who sets up a new one at the next log-in. Answers who has one still.',
  request: z.object({ id: z.coerce.number({ error: messages.invalidFormat }).int(messages.invalidFormat).positive() }),
  response: z.object({ reset_2fa: z.array(userRef) }),
});

/** The schedule's own fields stand beside `away_mode`, since the original client fills its form from them. */
const awayAnswer = z.object({
  type: z.enum(['off', 'period', 'weekly', 'daily']),
  from_date: z.string().optional(),
  to_date: z.string().optional(),
  weekly: z.array(z.enum(WEEKDAYS)).optional(),
  from_hour: z.string().optional(),
  to_hour: z.string().optional(),
  away_mode: awayState,
});

export const fetchAwayMode = endpoint({
  name: 'fetchAwayMode',
  suffix: '/away-mode',
  methods: ['GET'],
  summary: 'The schedule of Away Mode, and what it does now and next.',
  request: z.object({}),
  response: awayAnswer,
});

export const setAwayMode = endpoint({
  name: 'update:away_mode',
  suffix: '/away-mode',
  methods: ['POST'],
  summary:
    'Set the schedule, in the time zone of the site. `from` and `to` may be Unix seconds, `value` stands for `weekly`. ' +
    'Refused while Away Mode is on.',
  request: z.object({
    type: z.string().nullish(),
    from_date: moment,
    to_date: moment,
    weekly: z.unknown().optional(),
    from_hour: moment,
    to_hour: moment,
    from: moment,
    to: moment,
    value: z.unknown().optional(),
  }),
  response: awayAnswer,
});

/** The calls of the page Login Security, in the order of its rows. */
export const loginEndpoints = [
  customLoginUrl,
  loginAccess,
  twoFactor,
  twoFactorAppPasswords,
  resetUserTwoFactor,
  disableAdminUsername,
  limitLoginAttempts,
  fetchAwayMode,
  setAwayMode,
] as const;
