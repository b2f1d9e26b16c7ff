import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import { ok, type ReceivedRequest, type Reply } from './replies.js';
import { freshSettings } from './settings.js';

/** The login options of a site before its owner changes any. */
export function freshLoginOptions(): LoginOptions {
  return {
    ...freshSettings('login'),
    two_factor_roles: [
      { role: 'administrator', name: 'Administrator', selected: 1, required: 1 },
      { role: 'editor', name: 'Editor', selected: 1, required: 1 },
      { role: 'author', name: 'Author', selected: 0, required: 0 },
      { role: 'contributor', name: 'Contributor', selected: 0, required: 0 },
      { role: 'subscriber', name: 'Subscriber', selected: 0, required: 0 },
      { role: 'customer', name: 'Customer', selected: 0, required: 0 },
      { role: 'shop_manager', name: 'Shop manager', selected: 0, required: 0 },
    ],
    two_factor_users: null,
    reset_2fa: [],
    usernames_data: { all_users: [{ user_login: 'owner' }, { user_login: 'editor-1' }], admin_matches: [] },
    login_access: [],
    login_url: [
      {
        type: 'default',
        label: 'Default',
        login: 'http://example.com/wp-login.php',
        signup: 'http://example.com/wp-login.php?action=register',
        selected: 1,
      },
      { type: 'custom', label: 'Custom', login: 'team-entrance', signup: 'join-us', selected: 0 },
    ],
    locked_addresses: 0,
    team_size: null,
    away_mode: {
      schedule: { type: 'off' },
      away: 0,
      until: null,
      until_text: null,
      next_from: null,
      next_from_text: null,
      timezone: 'UTC',
    },
    your_address: '203.0.113.10',
    two_factor_setup_url: 'http://example.com/wp-login.php?action=second-factor-setup',
  };
}

type UpdateHandler = (login: LoginOptions, body: Record<string, never>) => Partial<LoginOptions>;

/** Guard's behaviour for each request of the page: it stores the fields and returns them. */
const updateHandlers: Readonly<Record<string, UpdateHandler>> = {
  '/2fa': (login, body) => ({ ...body, two_factor_setup_url: login.two_factor_setup_url }),
  '/two-factor-roles': (login, { two_factor_roles: roles = [] }: { two_factor_roles?: string[] }) => ({
    two_factor_roles: login.two_factor_roles.map((item) => ({
      ...item,
      selected: item.required === 1 || roles.includes(item.role) ? 1 : 0,
    })),
  }),
  '/disable-admin-username': (login, body: { disable_usernames?: 0 | 1; admin_names?: { user_login: string }[] }) => ({
    disable_usernames: body.disable_usernames ?? login.disable_usernames,
    ...(body.admin_names === undefined ? {} : { usernames_data: { all_users: body.admin_names, admin_matches: [] } }),
  }),
  '/login-access': (_login, { entries }: { entries?: string[] }) => ({ login_access: entries ?? [] }),
  '/custom-login-url': (login, body: { type?: string; login?: string; signup?: string }) => ({
    login_url: login.login_url.map((item) => ({
      ...item,
      ...(item.type === 'custom' && body.type === 'custom' ? { login: body.login, signup: body.signup ?? null } : {}),
      selected: item.type === body.type ? 1 : 0,
    })) as LoginOptions['login_url'],
  }),
  '/away-mode': (login, body) => ({
    away_mode: {
      ...login.away_mode,
      schedule: body as unknown as LoginOptions['away_mode']['schedule'],
      next_from: 1_795_824_000,
      next_from_text: 'Saturday 28 November 2026, 00:00',
    },
  }),
};

/** Responds to a request of the page Login Security; null for any other request. */
export function handleLoginRequest(login: LoginOptions, suffix: string, call: ReceivedRequest): Reply | null {
  if (suffix.startsWith('/reset-user-2fa/')) {
    login.reset_2fa = login.reset_2fa.filter(({ ID }) => String(ID) !== suffix.split('/').pop());
    return ok({ reset_2fa: login.reset_2fa }, 'Done.');
  }
  if (suffix === '/two-factor-reminder' || suffix === '/send-login-url') {
    return ok({ mailed: 2, failed: 0 }, '2 people got a mail.');
  }
  const handler = updateHandlers[suffix];
  if (handler === undefined) return null;
  const changed = handler(login, JSON.parse(call.body));
  Object.assign(login, changed);
  return ok(changed, 'Saved.');
}
