import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ok, refused } from '../../../test/fake-site/server.js';
import { type FakeSite, gate, startFakeSite } from '../../../test/fake-site/site.js';
import { errorsIn } from '../../../test/pages/login-settings.js';
import { toastTexts, visited } from '../../../test/pages/open-page.js';
import { openApply } from '../../../test/pages/security-dashboard.js';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

const changes = ['/disable-feeds', '/2fa', '/custom-login-url', '/disable-admin-username', '/limit-login-attempts'];
/** Suffixes of the changes in the order in which they were sent. */
function sent(): string[] {
  return site.server.calls.map(({ url }) => url.replace(/.*\/v1/, '')).filter((suffix) => changes.includes(suffix));
}

describe('Apply all recommended', () => {
  it('lists each change with its effect, ticked, and sends no request by itself', async () => {
    const dialog = await openApply(site);
    const boxes = within(dialog).getAllByRole<HTMLInputElement>('checkbox');
    expect(boxes.map((box) => box.closest('li')?.querySelector('b')?.textContent)).toEqual([
      'Two-factor Authentication',
      'Custom Login URL',
      'Disable RSS and ATOM Feeds',
    ]);
    expect(boxes.every(({ checked }) => checked)).toBe(true);
    expect(
      within(dialog).getByText('The old address stops working at once. Tell your team the new one.'),
    ).toBeDefined();
    expect(within(dialog).getByRole('button', { name: 'Apply 3 changes' })).toBeDefined();
    expect(sent()).toEqual([]);
  });

  it('makes the ticked changes one after the other, those that may log out the owner last', async () => {
    const dialog = await openApply(site);
    const held = gate();
    site.replies.set('/disable-feeds', async () => {
      await held.opened;
      site.options.disable_feed = 1;
      return ok({ disable_feed: 1 }, 'Feeds are turned off.');
    });
    await userEvent.click(within(dialog).getByRole('button', { name: 'Apply 3 changes' }));
    await waitFor(() => expect(sent()).toEqual(['/disable-feeds']));
    held.open();
    await within(dialog).findByText('3 changes are made.', { exact: false });
    expect(sent()).toEqual(['/disable-feeds', '/custom-login-url', '/2fa']);
    expect(within(dialog).getByText('Feeds are turned off.', { exact: false })).toBeDefined();
    expect(within(dialog).getAllByText('Done.', { exact: false })).toHaveLength(3);
    expect(site.login.login_url.find(({ type }) => type === 'custom')?.selected).toBe(1);
    // Each row shows its result; there is no toast for each.
    expect(toastTexts()).toEqual([]);
    expect(screen.getByText('Fully protected')).toBeDefined();
  });

  it('gives the focus back to its button, also where the browser is busy while it removes the dialog', async () => {
    const dialog = await openApply(site);
    const { removeChild } = Node.prototype;
    const busy = vi.spyOn(Node.prototype, 'removeChild').mockImplementation(function (this: Node, child) {
      const end = performance.now() + 20;
      while (performance.now() < end);
      return removeChild.call(this, child) as typeof child;
    });
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(document.contains(dialog)).toBe(false));
    busy.mockRestore();
    await waitFor(() => expect(document.activeElement).not.toBe(document.body));
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Apply all recommended' }));
  });

  it('continues with the setup of the owner’s second factor', async () => {
    const dialog = await openApply(site);
    await userEvent.click(within(dialog).getByRole('button', { name: 'Apply 3 changes' }));
    await userEvent.click(await within(dialog).findByRole('button', { name: 'Set up my second factor' }));
    expect(visited).toEqual([site.login.two_factor_setup_url]);
  });

  it('says at the end what is left, and no longer asks to choose', async () => {
    site.login.two_factor_users = {
      total: 4,
      set_up: 1,
      users: [{ ID: 1, user_login: 'owner', role: 'administrator', set_up: 1, sessions: 1, you: 1 }],
    };
    const dialog = await openApply(site);
    expect(within(dialog).getByText(/Untick anything/)).toBeDefined();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Apply 3 changes' }));
    await within(dialog).findByText('3 changes are made. Still open: Two-factor Authentication (1 of 4 set up).', {
      exact: false,
    });
    expect(within(dialog).queryByText(/Untick anything/)).toBeNull();
    expect(screen.getByText('1 essential is not complete.')).toBeDefined();
  });

  it('skips unticked changes and does not ask for their input', async () => {
    const dialog = await openApply(site);
    await userEvent.click(within(dialog).getByRole('checkbox', { name: 'Custom Login URL' }));
    expect(within(dialog).queryByLabelText('Login URL')).toBeNull();
    await userEvent.click(within(dialog).getByRole('checkbox', { name: 'Two-factor Authentication' }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Apply 1 change' }));
    await within(dialog).findByText('1 change is made. Left as it is: Two-factor Authentication, Custom Login URL.');
    expect(sent()).toEqual(['/disable-feeds']);
    expect(within(dialog).queryByRole('button', { name: /^Apply/ })).toBeNull();
    await userEvent.click(within(dialog).getByRole('checkbox', { name: 'Two-factor Authentication' }));
    expect(within(dialog).getByRole('button', { name: 'Apply 1 change' })).toBeDefined();
  });

  it('asks for the login URL before any request', async () => {
    site.login.login_url = site.login.login_url.map((item) => ({ ...item, login: '', signup: null }));
    const dialog = await openApply(site);
    await userEvent.click(within(dialog).getByRole('button', { name: 'Apply 3 changes' }));
    expect(errorsIn(dialog)).toEqual(['This field is required.']);
    await waitFor(() => expect(document.activeElement).toBe(within(dialog).getByLabelText('Login URL')));
    expect(sent()).toEqual([]);
  });

  it('asks for new names if administrators have common ones', async () => {
    site.login.disable_usernames = 0;
    site.login.usernames_data.admin_matches = [{ ID: 7, user_login: 'admin' }];
    const dialog = await openApply(site);
    await userEvent.type(within(dialog).getByLabelText('New username for admin'), 'keeper');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Apply 4 changes' }));
    await within(dialog).findByText('4 changes are made.', { exact: false });
    expect(sent()).toEqual(['/disable-feeds', '/custom-login-url', '/disable-admin-username', '/2fa']);
    expect(site.sent('/disable-admin-username')[0]).toEqual({
      disable_usernames: 1,
      admin_names: [{ ID: 7, user_login: 'keeper' }],
    });
  });

  it('continues after a failed change, shows the reason, and tries only that one again', async () => {
    const dialog = await openApply(site);
    site.replies.set('/custom-login-url', () => ({
      status: 400,
      body: {
        data: null,
        code: 'invalid_input',
        message: 'This address is in use.',
        status: 400,
        fields: { login: 'This address is in use.' },
      },
    }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Apply 3 changes' }));
    await within(dialog).findByText('2 changes are made. 1 change failed', { exact: false });
    expect(errorsIn(dialog)[0]).toBe('This address is in use.');
    site.replies.clear();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Apply 1 change' }));
    await within(dialog).findByText('3 changes are made.', { exact: false });
    expect(sent().filter((suffix) => suffix === '/2fa')).toHaveLength(1);
  });

  it('finds out whether a change with a lost response was made', async () => {
    const dialog = await openApply(site);
    site.replies.set('/disable-feeds', () => {
      site.options.disable_feed = 1;
      return null;
    });
    await userEvent.click(within(dialog).getByRole('button', { name: 'Apply 3 changes' }));
    await within(dialog).findByText('3 changes are made.', { exact: false });
  });

  it('stops once the session has ended', async () => {
    const dialog = await openApply(site);
    site.nonce = null;
    await userEvent.click(within(dialog).getByRole('button', { name: 'Apply 3 changes' }));
    expect(await within(dialog).findAllByText('You are logged out', { exact: false })).toHaveLength(3);
    expect(new Set(sent())).toEqual(new Set(['/disable-feeds']));
  });

  it('counts a refused change as failed, with the server’s message', async () => {
    const dialog = await openApply(site);
    site.replies.set('/2fa', () => refused(503, 'busy', 'WordPress does not answer.'));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Apply 3 changes' }));
    expect(await within(dialog).findByText('WordPress does not answer.', { exact: false })).toBeDefined();
    expect(within(dialog).queryByRole('button', { name: 'Set up my second factor' })).toBeNull();
  });
});
