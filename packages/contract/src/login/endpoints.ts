import * as z from 'zod/mini';
import { endpoint } from '../endpoint.js';
import { loginRows } from '../settings/catalogue.js';
import { settingEndpoints } from '../settings/endpoints.js';
import { flag, userRef } from '../shapes.js';
import { WEEKDAYS } from './limits.js';
import { awayState, loginUrlOption, twoFactorRole, usernamesData } from './schemas.js';

export const customLoginUrl = endpoint({
  name: 'update:login_url',
  suffix: '/custom-login-url',
  methods: ['POST'],
  response: z.object({ login_url: z.array(loginUrlOption) }),
});

/** Number of mails that were sent, and of those that were not. */
const mailed = z.object({ mailed: z.int(), failed: z.int() });

export const sendLoginUrl = endpoint({
  name: 'sendLoginUrl',
  suffix: '/send-login-url',
  methods: ['POST'],
  response: mailed,
});

export const loginAccess = endpoint({
  name: 'update:login_access',
  suffix: '/login-access',
  methods: ['POST'],
  response: z.object({ login_access: z.array(z.string()) }),
});

export const twoFactor = endpoint({
  name: 'update:sg2fa',
  suffix: '/2fa',
  methods: ['POST'],
  response: z.object({ sg2fa: flag, two_factor_setup_url: z.string() }),
});

export const remindTwoFactor = endpoint({
  name: 'remindTwoFactor',
  suffix: '/two-factor-reminder',
  methods: ['POST'],
  response: mailed,
});

export const twoFactorRoles = endpoint({
  name: 'update:two_factor_roles',
  suffix: '/two-factor-roles',
  methods: ['POST'],
  response: z.object({ two_factor_roles: z.array(twoFactorRole) }),
});

export const resetUserTwoFactor = endpoint({
  name: 'resetUserTwoFactor',
  suffix: '/reset-user-2fa/{id}',
  methods: ['POST'],
  response: z.object({ reset_2fa: z.array(userRef) }),
});

export const disableAdminUsername = endpoint({
  name: 'update:disable_usernames',
  suffix: '/disable-admin-username',
  methods: ['POST'],
  response: z.object({ disable_usernames: flag, usernames_data: z.optional(usernamesData) }),
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
  response: awayResponse,
});

export const setAwayMode = endpoint({
  name: 'update:away_mode',
  suffix: '/away-mode',
  methods: ['POST'],
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
  ...settingEndpoints(loginRows),
  fetchAwayMode,
  setAwayMode,
] as const;
