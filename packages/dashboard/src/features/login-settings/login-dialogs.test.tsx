import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../../test/fake-site/server.js';
import { type FakeSite, gate, startFakeSite, toPage } from '../../../test/fake-site/site.js';
import { errorsIn, openDialog, wrongFields } from '../../../test/pages/login-settings.js';
import { findSwitch, openPage, toastTexts } from '../../../test/pages/open-page.js';
import { choose } from '../../../test/select-option.js';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

describe('a dialog', () => {
  it('focuses its first field and restores the focus', async () => {
    const dialog = await openDialog(site, 'Login Access');
    await waitFor(() => expect(document.activeElement).toBe(within(dialog).getByLabelText('IP address 1')));
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Configure: Login Access'));
  });

  it('asks before changes are discarded, and keeps them on request', async () => {
    const dialog = await openDialog(site, 'Login Access');
    const field = within(dialog).getByLabelText<HTMLInputElement>('IP address 1');
    await userEvent.type(field, '203.0.113.10');
    await userEvent.keyboard('{Escape}');
    const question = await screen.findByRole('alertdialog', { name: 'Discard your changes?' });
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Keep editing'));
    await userEvent.click(within(question).getByRole('button', { name: 'Keep editing' }));
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(field.value).toBe('203.0.113.10');
    // An effect makes the covered dialog accessible again.
    await userEvent.click(await within(dialog).findByRole('button', { name: 'Cancel' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Discard changes' }));
    await waitFor(() => expect(document.querySelector('.so-dialog')).toBeNull());
    expect(site.calls('/login-access')).toHaveLength(0);
  });

  it('lets the browser ask before a page with changes is left, and only then', async () => {
    const leave = (): boolean => window.dispatchEvent(new Event('beforeunload', { cancelable: true }));
    const dialog = await openDialog(site, 'Login Access');
    expect(leave()).toBe(true);
    await userEvent.type(within(dialog).getByLabelText('IP address 1'), '203.0.113.10');
    expect(leave()).toBe(false);
  });

  it('stays open while it saves, and keeps the typed values if saving fails', async () => {
    const held = gate();
    site.replies.set('/login-access', async () => {
      await held.opened;
      return refused(503, 'storage_unavailable', 'The settings can’t be stored at the moment.');
    });
    const dialog = await openDialog(site, 'Login Access');
    await userEvent.type(within(dialog).getByLabelText('IP address 1'), '203.0.113.10{Enter}');
    await within(dialog).findByRole('button', { name: 'Saving…' });
    await userEvent.keyboard('{Escape}');
    expect(screen.queryByRole('alertdialog')).toBeNull();
    held.open();
    expect((await within(dialog).findByRole('alert')).textContent).toContain('can’t be stored');
    expect(within(dialog).getByLabelText<HTMLInputElement>('IP address 1').value).toBe('203.0.113.10');
  });
});

describe('Configure Login URL', () => {
  const fields = (dialog: HTMLElement) => ({
    login: within(dialog).getByLabelText<HTMLInputElement>('Login URL'),
    signup: within(dialog).queryByLabelText<HTMLInputElement>('Signup URL'),
  });

  it('resets both fields to the values of the chosen type, and warns about the signup', async () => {
    const dialog = await openDialog(site, 'Custom Login URL');
    expect(fields(dialog).login.value).toBe('http://example.com/wp-login.php');
    await userEvent.click(within(dialog).getByRole('radio', { name: /^Custom/ }));
    expect([fields(dialog).login.value, fields(dialog).signup?.value]).toEqual(['team-entrance', 'join-us']);
    expect(within(dialog).getByText('Change the signup URL as well.')).toBeDefined();
    await userEvent.type(fields(dialog).login, '-x');
    await userEvent.click(within(dialog).getByRole('radio', { name: /^Default/ }));
    await userEvent.click(within(dialog).getByRole('radio', { name: /^Custom/ }));
    expect(fields(dialog).login.value).toBe('team-entrance');
  });

  it.each([
    ['', 'join-us', ['This field is required.']],
    ['team entrance', 'join-us', ['Invalid format.']],
    ['ab', 'join-us', ['Use 3 to 64 characters.']],
    ['wp-team', 'join-us', ['WordPress uses this address itself. Choose another one.']],
    ['Login/here', 'join-us', ['WordPress uses this address itself. Choose another one.']],
    ['2026', 'join-us', ['WordPress uses this address itself. Choose another one.']],
    ['Join-Us', 'join-us', ['The signup URL must differ from the login URL.']],
    ['', '', ['This field is required.', 'This field is required.']],
  ])('refuses login %j with signup %j', async (login, signup, expected) => {
    const dialog = await openDialog(site, 'Custom Login URL');
    await userEvent.click(within(dialog).getByRole('radio', { name: /^Custom/ }));
    for (const [name, value] of [
      ['Login URL', login],
      ['Signup URL', signup],
    ] as const) {
      await userEvent.clear(within(dialog).getByLabelText(name));
      if (value !== '') await userEvent.type(within(dialog).getByLabelText(name), value);
    }
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(errorsIn(dialog)).toEqual(expected));
    await waitFor(() => expect(document.activeElement).toBe(wrongFields(dialog)[0]));
    expect(site.calls('/custom-login-url')).toHaveLength(0);
  });

  it('says while typing that WordPress uses a path itself', async () => {
    const dialog = await openDialog(site, 'Custom Login URL');
    await userEvent.click(within(dialog).getByRole('radio', { name: /^Custom/ }));
    await userEvent.clear(fields(dialog).login);
    await userEvent.type(fields(dialog).login, 'dashboard');
    await waitFor(() => expect(errorsIn(dialog)).toEqual(['WordPress uses this address itself. Choose another one.']));
  });

  it('suggests a different random path each time', async () => {
    const dialog = await openDialog(site, 'Custom Login URL');
    expect(within(dialog).queryByRole('button', { name: 'Suggest a random address' })).toBeNull();
    await userEvent.click(within(dialog).getByRole('radio', { name: /^Custom/ }));
    const suggest = within(dialog).getByRole('button', { name: 'Suggest a random address' });
    await userEvent.click(suggest);
    const first = fields(dialog).login.value;
    expect(first).toMatch(/^[a-z2-9]{10}$/);
    await userEvent.click(suggest);
    expect(fields(dialog).login.value).not.toBe(first);
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(site.sent('/custom-login-url')).toHaveLength(1));
  });

  it('accepts a whole URL, and removes the label “recommended” once it is saved', async () => {
    const dialog = await openDialog(site, 'Custom Login URL', { home_url: 'http://example.com' });
    await userEvent.click(within(dialog).getByRole('radio', { name: /^Custom/ }));
    await userEvent.clear(fields(dialog).login);
    await userEvent.type(fields(dialog).login, 'http://example.com/side-door/{Enter}');
    await waitFor(() => expect(document.querySelector('.so-dialog')).toBeNull());
    expect(site.sent('/custom-login-url')).toEqual([{ type: 'custom', login: 'side-door', signup: 'join-us' }]);
    expect(screen.getByRole('heading', { level: 3, name: 'Custom Login URL' })).toBeDefined();
  });

  it('has no signup field while registration is closed', async () => {
    site.login.login_url = site.login.login_url.map((item) => ({ ...item, signup: null }));
    const dialog = await openDialog(site, 'Custom Login URL');
    await userEvent.click(within(dialog).getByRole('radio', { name: /^Custom/ }));
    expect(fields(dialog).signup).toBeNull();
    expect(within(dialog).queryByText('Change the signup URL as well.')).toBeNull();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() =>
      expect(site.sent('/custom-login-url')).toEqual([{ type: 'custom', login: 'team-entrance', signup: null }]),
    );
  });

  it('updates its row if a change was made and its response was lost', async () => {
    site.replies.set('/custom-login-url', () => {
      site.login.login_url = site.login.login_url.map((item) => ({
        ...item,
        selected: item.type === 'custom' ? 1 : 0,
      }));
      return null;
    });
    const dialog = await openDialog(site, 'Custom Login URL');
    await userEvent.click(within(dialog).getByRole('radio', { name: /^Custom/ }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    await within(dialog).findByText('We couldn’t save this.');
    const [title] = Array.from(document.querySelectorAll('.so-row h3'));
    await waitFor(() => expect(title?.textContent).toBe('Custom Login URL'));
  });

  it('shows the server’s error at the field until the field changes', async () => {
    const text = 'WordPress uses this address itself. Choose another one.';
    site.replies.set('/custom-login-url', () => ({
      status: 400,
      body: { data: null, code: 'invalid_input', message: 'Nothing was saved.', status: 400, fields: { login: text } },
    }));
    const dialog = await openDialog(site, 'Custom Login URL');
    await userEvent.click(within(dialog).getByRole('radio', { name: /^Custom/ }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(errorsIn(dialog)).toEqual([text]));
    await waitFor(() => expect(document.activeElement).toBe(fields(dialog).login));
    await userEvent.type(fields(dialog).login, 'x');
    expect(errorsIn(dialog)).toEqual([]);
  });
});

describe('Change Common Usernames', () => {
  const NAMES = 'Disable Common Usernames';
  beforeEach(() => {
    site.login.disable_usernames = 0;
    site.login.usernames_data.admin_matches = [
      { ID: 1, user_login: 'admin' },
      { ID: 7, user_login: 'user1' },
    ];
  });

  async function openRename(): Promise<HTMLElement> {
    await openPage(site, {}, 'LOGIN_SETTINGS');
    await userEvent.click(await findSwitch(NAMES));
    return screen.findByRole('dialog', { name: 'Change Common Usernames' });
  }

  it('opens instead of switching while administrators have such names, and sends no request', async () => {
    await openRename();
    expect(site.calls('/disable-admin-username')).toHaveLength(0);
    expect(document.querySelectorAll('[role="switch"]')[1]?.getAttribute('aria-checked')).toBe('false');
  });

  it.each([
    ['', 'keeper', ['This field is required.']],
    ['site!keeper', 'keeper', ['Invalid format.']],
    ['Keeper', 'keeper', ['Username keeper already typed.']],
    ['EDITOR-1', 'keeper', ['Username EDITOR-1 already exists.']],
    ['Administrator', 'keeper', ['Username Administrator is not allowed.']],
  ])('refuses %j together with %j', async (first, second, expected) => {
    const dialog = await openRename();
    if (first !== '') await userEvent.type(within(dialog).getByLabelText('New username for admin'), first);
    await userEvent.type(within(dialog).getByLabelText('New username for user1'), `${second}{Enter}`);
    await waitFor(() => expect(errorsIn(dialog)).toEqual(expected));
    await waitFor(() => expect(document.activeElement).toBe(wrongFields(dialog)[0]));
    expect(site.calls('/disable-admin-username')).toHaveLength(0);
  });

  it('shows an error half a second after the last key', async () => {
    const dialog = await openRename();
    // Synchronously, so that no time passes between the key and the check.
    const type = (value: string) =>
      fireEvent.change(within(dialog).getByLabelText('New username for admin'), { target: { value } });
    const since = performance.now();
    type('!');
    expect(errorsIn(dialog)).toEqual([]);
    await waitFor(() => expect(errorsIn(dialog)).toEqual(['Invalid format.']));
    expect(performance.now() - since).toBeGreaterThan(400);
    type('keeper');
    expect(errorsIn(dialog)).toEqual([]);
  });

  it('renames the users, reloads the options and closes', async () => {
    const dialog = await openRename();
    await userEvent.type(within(dialog).getByLabelText('New username for admin'), ' site-keeper ');
    await userEvent.type(within(dialog).getByLabelText('New username for user1'), 'second');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Rename 2 users' }));
    await waitFor(() => expect(document.querySelector('.so-dialog')).toBeNull());
    expect(site.sent('/disable-admin-username')).toEqual([
      {
        disable_usernames: 1,
        admin_names: [
          { ID: 1, user_login: 'site-keeper' },
          { ID: 7, user_login: 'second' },
        ],
      },
    ]);
    expect((await findSwitch(NAMES)).getAttribute('aria-checked')).toBe('true');
    await waitFor(() =>
      expect(
        site
          .calls('/fetch-options')
          .map(toPage)
          .filter((page) => page === 'login'),
      ).toHaveLength(2),
    );
  });

  it('shows the server’s error about a user at that user', async () => {
    site.replies.set('/disable-admin-username', () => ({
      status: 400,
      body: {
        data: null,
        code: 'invalid_input',
        message: 'No.',
        status: 400,
        fields: { 7: 'Username b already exists.' },
      },
    }));
    const dialog = await openRename();
    await userEvent.type(within(dialog).getByLabelText('New username for admin'), 'a');
    await userEvent.type(within(dialog).getByLabelText('New username for user1'), 'b{Enter}');
    await waitFor(() => expect(errorsIn(dialog)).toEqual(['Username b already exists.']));
    expect(wrongFields(dialog)).toEqual([within(dialog).getByLabelText('New username for user1')]);
  });
});

describe('Reset 2-factor Authentication', () => {
  it('resets the chosen user', async () => {
    site.login.sg2fa = 1;
    site.login.reset_2fa = [
      { ID: 1, user_login: 'owner' },
      { ID: 4, user_login: 'editor-1' },
    ];
    await openPage(site, {}, 'LOGIN_SETTINGS');
    await userEvent.click(await screen.findByRole('button', { name: 'Reset it for a user' }));
    const dialog = await screen.findByRole('dialog', { name: 'Reset 2-factor Authentication' });
    await userEvent.click(within(dialog).getByRole('button', { name: 'Reset' }));
    await waitFor(() => expect(errorsIn(dialog)).toEqual(['This field is required.']));
    await choose(within(dialog).getByLabelText('User'), 'editor-1');
    expect(dialog.querySelector('.so-note p')?.textContent).toBe('The old codes of editor-1 stop working at once.');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Reset' }));
    await waitFor(() => expect(site.calls('/reset-user-2fa/4')).toHaveLength(1));
    await waitFor(() => expect(document.querySelector('.so-dialog')).toBeNull());
    expect(toastTexts()).toEqual(['Done.']);
  });
});

describe('Roles with Two-factor Authentication', () => {
  const TWO_FACTOR = 'Two-factor Authentication for Admin & Editors Users';
  async function openRoles() {
    await openPage(site, {}, 'LOGIN_SETTINGS');
    await findSwitch(TWO_FACTOR);
    await userEvent.click(screen.getByRole('button', { name: 'Choose more roles' }));
    return screen.findByRole('dialog', { name: 'Roles with Two-factor Authentication' });
  }
  const box = (dialog: HTMLElement, name: RegExp | string) =>
    within(dialog).getByRole<HTMLInputElement>('checkbox', { name });

  it('offers the roles of the site; administrators and editors are always required', async () => {
    const dialog = await openRoles();
    expect(within(dialog).getAllByRole('checkbox')).toHaveLength(7);
    for (const name of [/^Administrator/, /^Editor/]) {
      expect([box(dialog, name).checked, box(dialog, name).disabled]).toEqual([true, true]);
    }
    expect([box(dialog, 'Shop manager').checked, box(dialog, 'Shop manager').disabled]).toEqual([false, false]);
  });

  it('saves the chosen roles, and the row names them', async () => {
    const dialog = await openRoles();
    await userEvent.click(box(dialog, 'Shop manager'));
    expect(within(dialog).getByText('This takes effect once two-factor authentication is on.')).toBeDefined();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(site.sent('/two-factor-roles')).toEqual([{ two_factor_roles: ['shop_manager'] }]);
    expect(screen.getByText(/So do these roles: Shop manager\./)).toBeDefined();
  });

  it('says beforehand who will be logged out', async () => {
    site.login.sg2fa = 1;
    const dialog = await openRoles();
    await userEvent.click(box(dialog, 'Author'));
    await userEvent.click(box(dialog, 'Shop manager'));
    expect(
      within(dialog).getByText(
        'Users with these roles are logged out and set it up at their next login: Author, Shop manager.',
      ),
    ).toBeDefined();
  });

  it('keeps the choices if saving fails', async () => {
    site.replies.set('/two-factor-roles', () => refused(503, 'wordpress_unreachable', 'WordPress does not answer.'));
    const dialog = await openRoles();
    await userEvent.click(box(dialog, 'Author'));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    expect((await within(dialog).findByRole('alert')).textContent).toContain('WordPress does not answer.');
    expect(box(dialog, 'Author').checked).toBe(true);
  });

  it('is not offered if the server does not know the roles', async () => {
    site.login.two_factor_roles = [];
    await openPage(site, {}, 'LOGIN_SETTINGS');
    await findSwitch(TWO_FACTOR);
    expect(screen.queryByRole('button', { name: 'Choose more roles' })).toBeNull();
  });
});
