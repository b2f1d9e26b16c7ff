import * as z from 'zod/mini';
import { messages } from '../messages.js';
import { integerBetween, noInput, type RequestsOf } from '../request.js';
import type { SettingCalls } from '../settings/endpoints.js';
import { toggleValue } from '../shapes.js';
import type { loginEndpoints } from './endpoints.js';

const userId = integerBetween(1, Number.MAX_SAFE_INTEGER, messages.invalidFormat);

/** Users and their new names: a list, or an object with numeric keys, as PHP encodes a list with gaps. */
const newName = z.object({ ID: userId, user_login: z._default(z.string(), '') });
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

export const loginRequests = {
  'update:login_url': {
    summary: 'Move login and sign-up to custom URLs, or back to those of WordPress.',
    schema: z.object({
      type: z.enum(['default', 'custom'], { error: 'Use default or custom.' }),
      login: z.nullish(z.string({ error: messages.invalidFormat })),
      signup: z.nullish(z.string({ error: messages.invalidFormat })),
    }),
  },
  sendLoginUrl: {
    summary:
      'Send the login URL to all users who may write on the site. Refused with `mail_not_sent` if no mail could be ' +
      'sent, or if there are more than 50 such users.',
    schema: noInput,
  },
  'update:login_access': {
    summary:
      'Set the addresses, CIDR ranges, wildcards and ranges with a hyphen that may log in. With an empty list every ' +
      'address may. The body may also be the bare list, and a row may contain several addresses. A list without the ' +
      'address of the caller, or with a range of nearly all clients, is refused unless `confirm` is true. The names ' +
      'in `fields` of an error are positions in the list, from 0.',
    schema: z.object({
      entries: z.array(addressRow, { error: 'Send a list of addresses.' }),
      confirm: z.optional(toggleValue),
    }),
    listField: 'entries',
  },
  'update:sg2fa': {
    summary:
      'Require a second factor from administrators and editors (1) or not (0). Switching it on ends their sessions ' +
      'except the one of the caller, who continues at `two_factor_setup_url`.',
    schema: z.object({ sg2fa: toggleValue }),
  },
  remindTwoFactor: {
    summary:
      'Send setup instructions to users who need a second factor and have none, except the caller. Refused with ' +
      '`mail_not_sent` if no mail could be sent, or if there are more than 50 such users.',
    schema: noInput,
  },
  'update:two_factor_roles': {
    summary:
      'Set the roles that need a second factor besides administrators and editors, by their ids in WordPress ' +
      '(`shop_manager`). While it is on, users of an added role are logged out and set up their second factor at ' +
      'the next login.',
    schema: z.object({ two_factor_roles: z.array(z.string(), { error: 'Send a list of roles.' }) }),
  },
  resetUserTwoFactor: {
    summary:
      'Delete the second factor of a user, who sets up a new one at the next login. The response lists the users ' +
      'who still have one.',
    schema: z.object({ id: userId }),
  },
  'update:disable_usernames': {
    summary:
      'Forbid common usernames (1) or allow them (0). If administrators have one, `admin_names` contains a new name ' +
      'for each: all are renamed or none. The names in `fields` of an error are user IDs.',
    schema: z.object({ disable_usernames: z.optional(toggleValue), admin_names: z.optional(newNames) }).check(
      z.refine((body) => body.disable_usernames !== undefined || body.admin_names !== undefined, {
        path: ['disable_usernames'],
        error: 'Use 0 or 1.',
      }),
    ),
  },
  fetchAwayMode: {
    summary: 'The schedule of Away Mode, its current state and its next change.',
    schema: noInput,
  },
  'update:away_mode': {
    summary:
      'Set the schedule, in the time zone of the site. `from` and `to` may be Unix seconds; `value` is another name ' +
      'of `weekly`. Refused while Away Mode is on. A schedule that starts at once is refused ' +
      '(`away_starts_at_once`) unless `confirm` is true.',
    schema: z.object({
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
  },
} satisfies RequestsOf<Exclude<(typeof loginEndpoints)[number], SettingCalls>>;
