import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import { refused } from '../../test/fake-site/replies.js';
import type { SiteState } from '../../test/fake-site/responses.js';
import type { Group, PageExample } from '../example.js';
import { held } from '../stage/fake-site.js';
import { atRisk } from './samples.js';

/** Every message that the page can show at once. */
function inUse(site: SiteState): void {
  const { login } = site;
  login.sg2fa = 1;
  login.two_factor_roles = login.two_factor_roles.map((item) =>
    item.role === 'shop_manager' ? { ...item, selected: 1 } : item,
  );
  login.reset_2fa = [
    { ID: 3, user_login: 'editor-1' },
    { ID: 7, user_login: 'owner' },
  ];
  login.login_access = ['203.0.113.10', '198.51.100.0/24', '192.0.2.8'];
  login.away_mode = {
    ...login.away_mode,
    schedule: { type: 'weekly', weekly: ['saturday', 'sunday'] },
    away: 1,
    until: 1_795_392_000,
    until_text: 'Monday 23 November 2026, 00:00',
  };
}

/** Custom login URL, and two-factor authentication that some users have not set up. */
function withValues(site: SiteState): void {
  const { login } = site;
  login.login_url = login.login_url.map((item) => ({ ...item, selected: item.type === 'custom' ? 1 : 0 }));
  login.team_size = 4;
  login.locked_addresses = 3;
  login.sg2fa = 1;
  login.two_factor_users = team(1);
}

function team(done: 0 | 1): LoginOptions['two_factor_users'] {
  return {
    total: 4,
    set_up: done,
    users: [
      { ID: 1, user_login: 'owner', role: 'administrator', set_up: 0, sessions: 1, you: 1 },
      { ID: 2, user_login: 'editor-1', role: 'editor', set_up: done, sessions: 2, you: 0 },
      { ID: 3, user_login: 'editor-2', role: 'editor', set_up: 0, sessions: 1, you: 0 },
      { ID: 4, user_login: 'agency', role: 'administrator', set_up: 0, sessions: 0, you: 0 },
    ],
  };
}

function withMatches(site: SiteState): void {
  site.login.disable_usernames = 0;
  site.login.usernames_data = {
    all_users: [{ user_login: 'owner' }, { user_login: 'admin' }, { user_login: 'test' }],
    admin_matches: [
      { ID: 1, user_login: 'admin' },
      { ID: 9, user_login: 'test' },
    ],
  };
}

function one(state: string, title: string, example: Partial<PageExample> = {}): PageExample {
  return { id: `login-${state}`, title, page: 'LOGIN_SETTINGS', ...example };
}

const period = { type: 'period', from_date: '2026-11-28', to_date: '2026-11-30' } as const;

export const loginPage: Group = {
  id: 'page-login',
  title: 'Page: Login Security',
  examples: [
    one('ready', 'as on a new site', { variants: ['phone', 'german'] }),
    one('in-use', 'all of it in use', { site: inUse, variants: ['rtl'] }),
    one('values', 'rows with their value', { site: withValues, variants: ['phone', 'german', 'rtl'] }),
    one('at-risk', 'all off', { site: atRisk }),
    one('attempts-open', 'choosing the limit of attempts', {
      variants: ['phone', 'rtl'],
      act: (user) => user.click('combobox', 'Limit Login Attempts'),
    }),
    one('loading', 'loading', { area: '.so-main', site: (site) => site.replies.set('/fetch-options', held) }),
    one('not-loaded', 'not loaded', {
      area: '.so-main',
      site: (site) =>
        site.replies.set('/fetch-options', () => refused(503, 'wordpress_down', 'WordPress does not answer.')),
    }),
    one('pending', 'a change on its way', {
      area: '.so-row.is-busy',
      site: (site) => site.replies.set('/2fa', held),
      act: (user) => user.click('switch', 'Two-factor Authentication for Admin & Editors Users'),
    }),
    one('failed', 'a change that failed', {
      area: '[data-anchor="login-attempts"]',
      site: (site) => site.replies.set('/limit-login-attempts', () => refused(500, 'internal', 'An error occurred.')),
      act: (user) => user.choose('Limit Login Attempts', '3 attempts'),
    }),
  ],
};

export const loginDialogs: Group = {
  id: 'login-dialogs',
  title: 'Dialogs of Login Security',
  examples: [
    one('two-factor-on', 'Turn on two-factor', {
      site: ({ login }) => {
        login.two_factor_users = team(0);
      },
      variants: ['phone', 'german'],
      act: (user) => user.click('switch', 'Two-factor Authentication for Admin & Editors Users'),
    }),
    one('url', 'Custom Login URL', { hash: 'login-url', variants: ['phone', 'german'] }),
    one('url-error', 'Custom Login URL, required', {
      hash: 'login-url',
      async act(user) {
        await user.click('radio', /^Custom/);
        await user.type('Login URL', '-');
        await user.click('button', 'Save');
      },
    }),
    one('access', 'Login Access', { site: inUse, hash: 'login-access', variants: ['phone', 'rtl'] }),
    one('access-own-missing', 'Login Access without the own address', {
      hash: 'login-access',
      async act(user) {
        await user.press('198.51.100.22');
        await user.click('button', 'Add another');
      },
    }),
    one('access-failed', 'Login Access, not saved', {
      site: (site) => {
        inUse(site);
        site.replies.set('/login-access', () => refused(500, 'internal', 'An error occurred.'));
      },
      hash: 'login-access',
      act: (user) => user.click('button', 'Save'),
      variants: ['phone'],
    }),
    one('usernames', 'Disable Common Usernames', { site: withMatches, hash: 'rename-users', variants: ['phone'] }),
    one('roles', 'Roles with Two-factor Authentication', {
      site: inUse,
      hash: 'two-factor-roles',
      act: (user) => user.click('checkbox', 'Author'),
      variants: ['phone', 'german'],
    }),
    one('reset', 'Reset 2-factor Authentication', {
      site: inUse,
      async act(user) {
        await user.click('button', /reset/i);
        await user.choose('User', 'editor-1');
      },
    }),
    one('reset-open', 'Reset 2-factor Authentication, choosing a user', {
      site: inUse,
      variants: ['phone'],
      async act(user) {
        await user.click('button', /reset/i);
        await user.click('combobox', 'User');
      },
    }),
    one('away-period', 'Away Mode, once', {
      site: (site) => {
        site.login.away_mode.schedule = period;
      },
      hash: 'away-mode',
      variants: ['phone'],
    }),
    one('away-period-open', 'Away Mode, choosing a day', {
      site: (site) => {
        site.login.away_mode.schedule = period;
      },
      hash: 'away-mode',
      act: (user) => user.click('combobox', 'From'),
      variants: ['phone', 'rtl'],
    }),
    one('away-required', 'Away Mode, required', {
      hash: 'away-mode',
      act: (user) => user.click('button', 'Turn on Away Mode'),
    }),
    one('away-weekly', 'Away Mode, every week', {
      site: (site) => {
        site.login.away_mode.schedule = { type: 'weekly', weekly: ['saturday', 'sunday'] };
      },
      hash: 'away-mode',
      variants: ['phone'],
    }),
    one('away-now', 'Away Mode, starting at once', {
      site: (site) => {
        site.login.away_mode.schedule = { type: 'weekly', weekly: ['saturday', 'sunday'] };
      },
      hash: 'away-mode',
      act: (user) => user.click('button', 'Save'),
      variants: ['phone'],
    }),
    one('away-daily', 'Away Mode, every day', {
      site: (site) => {
        site.login.away_mode.schedule = { type: 'daily', from_hour: '22:00', to_hour: '06:00' };
      },
      hash: 'away-mode',
      variants: ['phone', 'german'],
    }),
    one('away-daily-12-hours', 'Away Mode, choosing a time of twelve hours', {
      site: (site) => {
        site.login.away_mode.schedule = { type: 'daily', from_hour: '22:00', to_hour: '06:00' };
      },
      config: { localeSlug: 'en-US' },
      hash: 'away-mode',
      act: (user) => user.click('combobox', 'From'),
    }),
  ],
};
