import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ok, refused } from '../../../test/fake-site/server.js';
import { type FakeSite, gate, startFakeSite, toPage } from '../../../test/fake-site/site.js';
import { findSwitch, openPage, toastTexts, visited, withinRow } from '../../../test/pages/open-page.js';
import { choose, listOptions } from '../../../test/select-option.js';

const TWO_FACTOR = 'Two-factor Authentication for Admin & Editors Users';
const NAMES = 'Disable Common Usernames';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

const open = (config: Record<string, unknown> = {}) => openPage(site, config, 'LOGIN_SETTINGS');
const rowNamed = (title: string) => withinRow(screen.getByRole('heading', { level: 3, name: new RegExp(`^${title}`) }));

describe('the Login Security page', () => {
  it('shows placeholder rows without a state while the options load, and announces it once', async () => {
    const held = gate();
    site.replies.set('/fetch-options', async () => {
      await held.opened;
      return ok(site.login);
    });
    await open();
    expect(screen.getAllByRole('status').map(({ textContent }) => textContent)).toEqual(['Loading']);
    expect(document.querySelectorAll('.so-row--sk')).toHaveLength(6);
    expect(screen.queryAllByRole('button', { name: /Configure/ })).toHaveLength(0);
    held.open();
    await findSwitch(TWO_FACTOR);
    expect(document.querySelectorAll('.so-row--sk')).toHaveLength(0);
  });

  it('shows the rows in the order of the specification, with Away Mode in its own card', async () => {
    await open();
    await findSwitch(TWO_FACTOR);
    expect(screen.getAllByRole('heading', { level: 3 }).map((title) => title.firstElementChild?.textContent)).toEqual([
      'Custom Login URL',
      'Login Access',
      TWO_FACTOR,
      NAMES,
      'Limit Login Attempts',
      'Away Mode',
    ]);
    expect(screen.getAllByRole('heading', { level: 2 }).map(({ textContent }) => textContent)).toEqual([
      'Login Settings',
      'Outside working hours',
    ]);
    expect(screen.getByText('2 of 4 essentials on')).toBeDefined();
  });

  it('marks recommended settings: the default login URL, no second factor, and a limit of 0', async () => {
    site.login.login_attempts = site.login.login_attempts.map((item) => ({
      ...item,
      selected: item.value === 0 ? 1 : 0,
    }));
    await open();
    await findSwitch(TWO_FACTOR);
    const tagged = screen.getAllByText('recommended').map((tag) => tag.closest('h3')?.firstElementChild?.textContent);
    expect(tagged).toEqual(['Custom Login URL', TWO_FACTOR, 'Limit Login Attempts']);
  });

  it('shows the number of addresses that may log in', async () => {
    site.login.login_access = ['198.51.100.22', '198.51.100.0/24', '2001:db8::1'];
    await open();
    await findSwitch(TWO_FACTOR);
    expect(rowNamed('Login Access').getByText('3 addresses')).toBeDefined();
  });

  it('omits options that an older server does not know', async () => {
    site.login = { sg2fa: 0, login_access: [] } as unknown as FakeSite['login'];
    await open();
    await findSwitch(TWO_FACTOR);
    expect(screen.getAllByRole('heading', { level: 3 })).toHaveLength(2);
    expect(screen.getByText('0 of 1 essentials on')).toBeDefined();
  });
});

describe('the protection status in the header', () => {
  it.each(['LOGIN_SETTINGS', 'SITE_SECURITY'])('counts the essentials of both pages on %s', async (page) => {
    await openPage(site, {}, page);
    const status = await waitFor(() => {
      const element = document.querySelector<HTMLElement>('.so-status');
      if (element === null) throw new Error('The status is not there.');
      return element;
    });
    expect(within(status).getByRole('img', { name: '7 of 10 essentials on' })).toBeDefined();
    expect(status.textContent).toContain('Well protected');
    expect(status.tagName).toBe('DIV');
  });

  it('fetches the other options only after its own, and ignores a failure', async () => {
    site.replies.set('/fetch-options', (call) =>
      toPage(call) === 'login' ? ok(site.login) : refused(503, 'wordpress_unreachable', 'WordPress does not answer.'),
    );
    await open();
    await findSwitch(TWO_FACTOR);
    await waitFor(() => expect(site.calls('/fetch-options').map(toPage)).toEqual(['login', 'security']));
    expect(document.querySelector('.so-status')).toBeNull();
    // No space is reserved for them either.
    await waitFor(() => expect(document.querySelector('.so-status-wait')).toBeNull());
    expect(toastTexts()).toEqual([]);
  });
});

describe('the rows that act at once', () => {
  it('lead an administrator who enables the second factor to the setup', async () => {
    await open({ home_url: 'http://example.com/' });
    await userEvent.click(await findSwitch(TWO_FACTOR));
    await waitFor(() => expect(visited).toEqual(['http://example.com/wp-login.php?action=second-factor-setup']));
    expect(site.sent('/2fa')).toEqual([{ sg2fa: 1 }]);
  });

  it('do not lead to another site', async () => {
    site.login.two_factor_setup_url = 'https://example.net/';
    await open({ home_url: 'http://example.com/' });
    await userEvent.click(await findSwitch(TWO_FACTOR));
    await waitFor(() => expect(toastTexts()).toEqual(['Saved.']));
    expect(visited).toEqual([]);
  });

  it('offer application passwords and the reset of a user only while the second factor is on', async () => {
    await open();
    const factor = await findSwitch(TWO_FACTOR);
    expect(screen.queryByRole('switch', { name: 'Application Passwords' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Reset it for a user' })).toBeNull();
    await userEvent.click(factor);
    await userEvent.click(await findSwitch('Application Passwords'));
    await waitFor(() => expect(site.sent('/two-factor-app-passwords')).toEqual([{ two_factor_app_passwords: 1 }]));
    expect(screen.getByRole('button', { name: 'Reset it for a user' })).toBeDefined();
  });

  it('show a custom label of the server unchanged', async () => {
    site.login.login_attempts = [{ value: 5, label: 'Five tries', selected: 1 }];
    await open();
    const limit = await screen.findByRole('combobox', { name: 'Limit Login Attempts' });
    expect((await listOptions(limit)).map(({ textContent }) => textContent)).toEqual(['Five tries']);
  });

  it('show the number of locked out addresses with a link, while attempts are limited', async () => {
    site.login.locked_addresses = 3;
    await open({ log_page_url: '/wp-admin/admin.php?page=activity-log' });
    const link = await screen.findByRole('link', { name: '3 addresses are locked now' });
    expect(link.getAttribute('href')).toBe('/wp-admin/admin.php?page=activity-log&log_tab=blocked');
    await choose(await screen.findByRole('combobox', { name: 'Limit Login Attempts' }), 'OFF');
    await waitFor(() => expect(screen.queryByText(/locked now/)).toBeNull());
  });

  it('set the limit of login attempts, and restore it if saving fails', async () => {
    await open();
    const limit = await screen.findByRole('combobox', { name: 'Limit Login Attempts' });
    const texts = (await listOptions(limit)).map(({ textContent }) => textContent);
    expect(texts).toEqual(['OFF', '3 attempts', '5 attempts']);
    await userEvent.keyboard('{Escape}');
    site.replies.set('/limit-login-attempts', () => refused(500, 'internal', 'No.'));
    await choose(limit, 'OFF');
    const message = await rowNamed('Limit Login Attempts').findByRole('alert');
    expect(limit.textContent).toBe('5 attempts');
    site.replies.clear();
    await userEvent.click(within(message).getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(rowNamed('Limit Login Attempts').queryByText('recommended')).not.toBeNull());
    await waitFor(() => expect(limit.getAttribute('aria-busy')).toBeNull());
    expect(limit.textContent).toBe('OFF');
    expect(site.sent('/limit-login-attempts')).toEqual([{ login_attempts: 0 }, { login_attempts: 0 }]);
  });

  it('switch common usernames off at once', async () => {
    site.login.usernames_data.admin_matches = [{ ID: 1, user_login: 'admin' }];
    await open();
    await userEvent.click(await findSwitch(NAMES));
    await waitFor(() => expect(site.sent('/disable-admin-username')).toEqual([{ disable_usernames: 0 }]));
  });

  it.each([
    [NAMES, 'disable_usernames', 0],
    [TWO_FACTOR, 'sg2fa', 0],
    ['Application Passwords', 'two_factor_app_passwords', 1],
  ] as const)(
    '%s: shows a neutral toast with Undo, without leaving the page, when a protection is switched off',
    async (name, field, weaker) => {
      site.login.sg2fa = 1;
      await open({ home_url: 'http://example.com/' });
      const toggle = await findSwitch(name);
      await userEvent.click(toggle);
      const undo = await screen.findByRole('button', { name: 'Undo' });
      expect(site.login[field]).toBe(weaker);
      expect(document.querySelector('.so-toast')?.textContent).not.toContain('Success');
      await userEvent.click(undo);
      await waitFor(() => expect(site.login[field]).toBe(weaker === 0 ? 1 : 0));
      expect(visited).toEqual([]);
    },
  );

  it('show a neutral toast for more login attempts, and undo the change', async () => {
    await open();
    const limit = await screen.findByRole('combobox', { name: 'Limit Login Attempts' });
    await choose(limit, '3 attempts');
    await waitFor(() => expect(document.querySelector('.so-toast')?.textContent).toContain('Success'));
    await choose(limit, 'OFF');
    await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(limit.textContent).toBe('3 attempts'));
    const sent = site.sent('/limit-login-attempts');
    expect(sent.map(({ login_attempts }) => login_attempts)).toEqual([3, 0, 3]);
  });
});

describe('the row of a custom login URL', () => {
  beforeEach(() => {
    site.login.login_url = site.login.login_url.map((item) => ({ ...item, selected: item.type === 'custom' ? 1 : 0 }));
  });

  it('shows the path and copies the whole URL', async () => {
    const user = userEvent.setup();
    await open({ home_url: 'http://example.com' });
    await findSwitch(TWO_FACTOR);
    const row = rowNamed('Custom Login URL');
    expect(row.getByText('example.com/team-entrance')).toBeDefined();
    await user.click(row.getByRole('button', { name: 'Copy: Login URL' }));
    expect((await row.findByText('Copied')).getAttribute('role')).toBe('status');
    expect(await navigator.clipboard.readText()).toBe('http://example.com/team-entrance');
  });

  it('sends the URL to the team, and shows the number of recipients', async () => {
    site.login.team_size = 4;
    await open();
    await findSwitch(TWO_FACTOR);
    const row = rowNamed('Custom Login URL');
    expect(row.getByText('goes to 4 people')).toBeDefined();
    await userEvent.click(row.getByRole('button', { name: 'Send to my team' }));
    await waitFor(() => expect(toastTexts()).toEqual(['2 people got a mail.']));
    expect(site.calls('/send-login-url')).toHaveLength(1);
  });

  it('selects the URL if the browser can’t copy', async () => {
    await open({ home_url: 'http://example.com' });
    await findSwitch(TWO_FACTOR);
    const row = rowNamed('Custom Login URL');
    vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('refused'));
    await userEvent.click(row.getByRole('button', { name: 'Copy: Login URL' }));
    await waitFor(() => expect(window.getSelection()?.toString()).toBe('example.com/team-entrance'));
    expect(row.queryByText('Copied')).toBeNull();
    vi.restoreAllMocks();
  });
});

const people = (
  ...users: readonly (readonly [name: string, role: string, set_up: 0 | 1, sessions: number])[]
): NonNullable<typeof site.login.two_factor_users> => ({
  total: users.length,
  set_up: users.filter(([, , set_up]) => set_up === 1).length,
  users: users.map(([user_login, role, set_up, sessions], index) => ({
    ...{ ID: index + 1, user_login, role, set_up, sessions, you: index === 0 ? 1 : 0 },
  })),
});
const team = () =>
  people(
    ['owner', 'administrator', 0, 1],
    ['editor-1', 'editor', 0, 2],
    ['editor-2', 'editor', 0, 1],
    ['agency', 'administrator', 0, 0],
  );

describe('turning two-factor on', () => {
  async function openQuestion(): Promise<HTMLElement> {
    await open({ home_url: 'http://example.com/' });
    await userEvent.click(await findSwitch(TWO_FACTOR));
    return screen.findByRole('dialog', { name: 'Turn on two-factor' });
  }

  it('lists the users who will be logged out, and sends no request before', async () => {
    site.login.two_factor_users = team();
    const dialog = await openQuestion();
    expect(
      within(dialog)
        .getAllByRole('listitem')
        .map(({ textContent }) => textContent),
    ).toEqual([
      'owner (You)AdministratorSets it up now',
      'editor-1EditorLogged out, 2 devices',
      'editor-2EditorLogged out',
      'agencyAdministratorNot logged in',
    ]);
    expect(within(dialog).getByText('2 people are logged out at once.')).toBeDefined();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(site.calls('/2fa')).toHaveLength(0);
    expect(visited).toEqual([]);
  });

  it('sends the mails first, then leads the owner to the setup', async () => {
    site.login.two_factor_users = team();
    const dialog = await openQuestion();
    expect(within(dialog).getByText('A short how-to goes to the other 3.')).toBeDefined();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Turn on and log out 2' }));
    await waitFor(() => expect(visited).toEqual(['http://example.com/wp-login.php?action=second-factor-setup']));
    expect(site.calls('/two-factor-reminder')).toHaveLength(1);
    expect(site.sent('/2fa')).toEqual([{ sg2fa: 1 }]);
  });

  it('changes nothing if the mails could not be sent, unless the owner continues without them', async () => {
    site.login.two_factor_users = team();
    site.replies.set('/two-factor-reminder', () => refused(502, 'mail_not_sent', 'The mail could not be sent.'));
    const dialog = await openQuestion();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Turn on and log out 2' }));
    expect((await within(dialog).findByRole('alert')).textContent).toContain('The mail could not be sent.');
    expect(site.calls('/2fa')).toHaveLength(0);
    await userEvent.click(within(dialog).getByRole('checkbox', { name: /Tell them by mail first/ }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Turn on and log out 2' }));
    await waitFor(() => expect(site.sent('/2fa')).toEqual([{ sg2fa: 1 }]));
    await waitFor(() => expect(visited).toHaveLength(1));
  });

  it('keeps an owner who has set it up on the page', async () => {
    site.login.two_factor_users = people(['owner', 'administrator', 1, 1], ['agency', 'administrator', 1, 0]);
    const dialog = await openQuestion();
    expect(within(dialog).queryByRole('checkbox')).toBeNull();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Turn on' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(await rowNamed(TWO_FACTOR).findByText('2 of 2 set up')).toBeDefined();
    expect(visited).toEqual([]);
  });
});

describe('two-factor that is on', () => {
  beforeEach(() => {
    site.login.sg2fa = 1;
  });

  it('lists the users who have set it up and who have not, and counts as an essential once nobody is missing', async () => {
    site.login.two_factor_users = people(
      ['owner', 'administrator', 0, 1],
      ['editor-2', 'editor', 0, 1],
      ['agency', 'administrator', 0, 0],
      ['editor-1', 'editor', 1, 1],
    );
    await open();
    await findSwitch(TWO_FACTOR);
    const row = rowNamed(TWO_FACTOR);
    expect(row.getByText('1 of 4 set up')).toBeDefined();
    expect(row.getByText('editor-1 is set up. Missing: you, editor-2, agency.')).toBeDefined();
    expect(document.querySelector('[data-anchor="two-factor"] .so-tile')?.className).toContain('is-warn');
    expect(screen.getByText('2 of 4 essentials on')).toBeDefined();
  });

  it.each<[string[], string]>([
    [['owner'], 'You are set up.'],
    [['owner', 'editor-1'], 'You are set up, and so is editor-1.'],
    [['owner', 'editor-1', 'agency'], 'You are set up, and so are editor-1, agency.'],
    [['editor-1'], 'editor-1 is set up.'],
    [['editor-1', 'agency'], 'editor-1, agency are set up.'],
  ])('says who has set it up: %j', async (done, text) => {
    const names = ['owner', 'editor-1', 'agency', 'editor-2'];
    site.login.two_factor_users = people(
      ...names.map((name) => [name, 'editor', done.includes(name) ? 1 : 0, 1] as const),
    );
    await open();
    await findSwitch(TWO_FACTOR);
    expect(rowNamed(TWO_FACTOR).getByText(/Missing/).textContent).toMatch(new RegExp(`^${text} Missing: `));
  });

  it('counts as an essential if every user has set it up', async () => {
    site.login.two_factor_users = people(['owner', 'administrator', 1, 1]);
    await open();
    await findSwitch(TWO_FACTOR);
    expect(rowNamed(TWO_FACTOR).getByText('1 of 1 set up')).toBeDefined();
    expect(rowNamed(TWO_FACTOR).queryByText(/Missing/)).toBeNull();
    expect(screen.getByText('3 of 4 essentials on')).toBeDefined();
  });

  it('leads to the owner’s setup, and reminds the others by mail', async () => {
    site.login.two_factor_users = team();
    await open({ home_url: 'http://example.com/' });
    await findSwitch(TWO_FACTOR);
    const row = rowNamed(TWO_FACTOR);
    await userEvent.click(row.getByRole('button', { name: 'Remind the other 3' }));
    await waitFor(() => expect(toastTexts()).toEqual(['2 people got a mail.']));
    expect(site.calls('/two-factor-reminder')).toHaveLength(1);
    await userEvent.click(row.getByRole('button', { name: 'Set up now' }));
    expect(visited).toEqual(['http://example.com/wp-login.php?action=second-factor-setup']);
  });

  it('asks again who is logged out before switching it off is undone', async () => {
    site.login.two_factor_users = team();
    await open();
    await userEvent.click(await findSwitch(TWO_FACTOR));
    await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    expect(await screen.findByRole('dialog', { name: 'Turn on two-factor' })).toBeDefined();
    expect(site.sent('/2fa')).toEqual([{ sg2fa: 0 }]);
  });
});

describe('the row of Away Mode', () => {
  it('shows the schedule and its next start', async () => {
    Object.assign(site.login.away_mode, {
      schedule: { type: 'weekly', weekly: ['saturday', 'sunday'] },
      next_from: 1_795_824_000,
      next_from_text: 'Saturday 28 November 2026, 00:00',
      timezone: 'Europe/Berlin',
    });
    await open({ localeSlug: 'en-US' });
    await findSwitch(TWO_FACTOR);
    const row = rowNamed('Away Mode');
    expect(row.getByText('Scheduled')).toBeDefined();
    const text = row.getByText(/^Closed every/).textContent?.replace(/\s/g, ' ');
    expect(text).toBe('Closed every Saturday and Sunday. It next begins on Saturday, November 28, 2026, 1:00 AM.');
  });

  it('shows until when it is on', async () => {
    Object.assign(site.login.away_mode, {
      schedule: { type: 'daily', from_hour: '22:00', to_hour: '06:00' },
      away: 1,
      until: 1_795_824_000,
      until_text: 'Saturday 28 November 2026, 00:00',
    });
    await open({ localeSlug: 'en-GB' });
    await findSwitch(TWO_FACTOR);
    const row = rowNamed('Away Mode');
    expect(row.getByText('On')).toBeDefined();
    // Some versions of Unicode's data have a comma after the English weekday.
    const text = row.getByText(/^Closed from/).textContent?.replace('Saturday,', 'Saturday');
    expect(text).toBe('Closed from 22:00 to 06:00 every day. It is on until Saturday 28 November 2026, 00:00.');
  });
});
