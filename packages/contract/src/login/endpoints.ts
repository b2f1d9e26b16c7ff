import * as z from 'zod/mini';
import { endpoint } from '../endpoint.js';
import { messages } from '../messages.js';
import { settingEndpoints } from '../settings/endpoints.js';
import { flag, integerBetween, toggleValue, userRef } from '../shapes.js';
import { WEEKDAYS } from './limits.js';
import { awayState, loginUrlOption, twoFactorRole, usernamesData } from './schemas.js';

/** Users and their new names: a list, or an object with numeric keys, as PHP encodes a list with gaps. */
const newName = z.object({
  ID: integerBetween(1, Number.MAX_SAFE_INTEGER, messages.invalidFormat),
  user_login: z._default(z.string(), ''),
});
const newNames = z.pipe(
  z.union([z.array(newName), z.record(z.string().check(z.regex(/^\d+$/)), newName)], {
    error: 'Send a list of users, each with ID and user_login.',
  }),
  z.transform((value) => Object.values(value)),
);

/** A date, a time, or Unix seconds. Guard checks which is allowed. */
const moment = z.optional(z.union([z.string(), z.number(), z.null()], { error: messages.invalidFormat }));

/**
 * A row of a list of addresses. A value that is not text is rejected, so that a nested list does not count as an empty
 * row.
 */
const addressRow = z.catch(z.string(), '-');

export const loginAccess = endpoint({
  name: 'update:login_access',
  suffix: '/login-access',
  methods: ['POST'],
  summary:
    'Set the addresses, CIDR ranges, wildcards and ranges with a hyphen that may log in. With an empty list every ' +
    'address may. The body may also be the bare list, and a row may contain several addresses. A list without the ' +
    'address of the caller, or with a range of nearly all clients, is refused unless `confirm` is true. The names ' +
    'in `fields` of an error are positions in the list, from 0.',
  request: z.object({
    entries: z.array(addressRow, { error: 'Send a list of addresses.' }),
    confirm: z.optional(toggleValue),
  }),
  listField: 'entries',
  response: z.object({ login_access: z.array(z.string()) }),
});

export const customLoginUrl = endpoint({
  name: 'update:login_url',
  suffix: '/custom-login-url',
  methods: ['POST'],
  summary: 'Move login and sign-up to custom URLs, or back to those of WordPress.',
  request: z.object({
    type: z.enum(['default', 'custom'], { error: 'Use default or custom.' }),
    login: z.nullish(z.string({ error: messages.invalidFormat })),
    signup: z.nullish(z.string({ error: messages.invalidFormat })),
  }),
  response: z.object({ login_url: z.array(loginUrlOption) }),
});

export const twoFactor = endpoint({
  name: 'update:sg2fa',
  suffix: '/2fa',
  methods: ['POST'],
  summary:
    'Require a second factor from administrators and editors (1) or not (0). Switching it on ends their sessions ' +
    'except the one of the caller, who continues at `two_factor_setup_url`.',
  request: z.object({ sg2fa: toggleValue }),
  response: z.object({ sg2fa: flag, two_factor_setup_url: z.string() }),
});

export const twoFactorRoles = endpoint({
  name: 'update:two_factor_roles',
  suffix: '/two-factor-roles',
  methods: ['POST'],
  summary:
    'Set the roles that need a second factor besides administrators and editors, by their ids in WordPress ' +
    '(`shop_manager`). While it is on, users of an added role are logged out and set up their second factor at ' +
    'the next login.',
  request: z.object({ two_factor_roles: z.array(z.string(), { error: 'Send a list of roles.' }) }),
  response: z.object({ two_factor_roles: z.array(twoFactorRole) }),
});

/** Number of mails that were sent, and of those that were not. */
const mailed = z.object({ mailed: z.int(), failed: z.int() });

export const remindTwoFactor = endpoint({
  name: 'remindTwoFactor',
  suffix: '/two-factor-reminder',
  methods: ['POST'],
  summary:
    'Send setup instructions to users who need a second factor and have none, except the caller. Refused with ' +
    '`mail_not_sent` if no mail could be sent, or if there are more than 50 such users.',
  request: z.object({}),
  response: mailed,
});

export const sendLoginUrl = endpoint({
  name: 'sendLoginUrl',
  suffix: '/send-login-url',
  methods: ['POST'],
  summary:
    'Send the login URL to all users who may write on the site. Refused with `mail_not_sent` if no mail could be ' +
    'sent, or if there are more than 50 such users.',
  request: z.object({}),
  response: mailed,
});

export const disableAdminUsername = endpoint({
  name: 'update:disable_usernames',
  suffix: '/disable-admin-username',
  methods: ['POST'],
  summary:
    'Forbid common usernames (1) or allow them (0). If administrators have one, `admin_names` contains a new name ' +
    'for each: all are renamed or none. The names in `fields` of an error are user IDs.',
  request: z.object({ disable_usernames: z.optional(toggleValue), admin_names: z.optional(newNames) }).check(
    z.refine((body) => body.disable_usernames !== undefined || body.admin_names !== undefined, {
      path: ['disable_usernames'],
      error: 'Use 0 or 1.',
    }),
  ),
  response: z.object({ disable_usernames: flag, usernames_data: z.optional(usernamesData) }),
});

export const resetUserTwoFactor = endpoint({
  name: 'resetUserTwoFactor',
  suffix: '/reset-user-2fa/{id}',
  methods: ['POST'],
  summary:
    'Delete the second factor of a user, who sets up a new one at the next login. The response lists the users ' +
    'who still have one.',
  request: z.object({
    id: integerBetween(1, Number.MAX_SAFE_INTEGER, messages.invalidFormat),
  }),
  response: z.object({ reset_2fa: z.array(userRef) }),
});

/** The schedule is beside `away_mode`, because the original client fills its form from these fields. */
const awayResponse = z.object({
  type: z.enum(['off', 'period', 'weekly', 'daily']),
  from_date: z.optional(z.string()),
  to_date: z.optional(z.string()),
  weekly: z.optional(z.array(z.enum(WEEKDAYS))),
  from_hour: z.optional(z.string()),
  to_hour: z.optional(z.string()),
  away_mode: awayState,
});

export const fetchAwayMode = endpoint({
  name: 'fetchAwayMode',
  suffix: '/away-mode',
  methods: ['GET'],
  summary: 'The schedule of Away Mode, its current state and its next change.',
  request: z.object({}),
  response: awayResponse,
});

export const setAwayMode = endpoint({
  name: 'update:away_mode',
  suffix: '/away-mode',
  methods: ['POST'],
  summary:
    'Set the schedule, in the time zone of the site. `from` and `to` may be Unix seconds; `value` is another name ' +
    'of `weekly`. Refused while Away Mode is on. A schedule that starts at once is refused ' +
    '(`away_starts_at_once`) unless `confirm` is true.',
  request: z.object({
    type: z.nullish(z.string()),
    from_date: moment,
    to_date: moment,
    weekly: z.optional(z.unknown()),
    from_hour: moment,
    to_hour: moment,
    from: moment,
    to: moment,
    value: z.optional(z.unknown()),
    confirm: z.optional(toggleValue),
  }),
  response: awayResponse,
});

/** Endpoints of the page Login Security, in the order of its rows. */
export const loginEndpoints = [
  customLoginUrl,
  sendLoginUrl,
  loginAccess,
  twoFactor,
  remindTwoFactor,
  twoFactorRoles,
  resetUserTwoFactor,
  disableAdminUsername,
  ...settingEndpoints('login'),
  fetchAwayMode,
  setAwayMode,
] as const;
