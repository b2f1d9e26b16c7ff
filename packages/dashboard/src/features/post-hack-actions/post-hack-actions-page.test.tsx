import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { sampleJob } from '../../../test/fake-site/jobs.js';
import { ok, refused } from '../../../test/fake-site/server.js';
import { gate } from '../../../test/fake-site/site.js';
import { closePage } from '../../../test/pages/open-page.js';
import {
  findButton,
  getTexts,
  openPostHack,
  type PostHackSite,
  startPostHackSite,
} from '../../../test/pages/post-hack-actions.js';

let site: PostHackSite;
beforeEach(async () => {
  site = await startPostHackSite();
});

describe('Post-hack Actions', () => {
  it('explains where to start, the actions and their effects', async () => {
    await openPostHack(site);
    await findButton('Reinstall all');
    expect(screen.getByText('Not sure where to start?')).toBeDefined();
    expect(screen.getAllByRole('heading', { level: 3 }).map(({ textContent }) => textContent)).toEqual([
      'Nothing suspicious was found',
      'Check every week',
      'Reinstall all free plugins',
      'Force password reset',
      'Log out all users',
    ]);
    expect(getTexts('.so-facts li')).toEqual([
      'Settings and content stay',
      '12 plugins',
      'You are logged out too',
      '1,023 users',
      'You are logged out too, unless you choose to stay',
      '4 open sessions',
    ]);
  });

  it('omits unknown facts', async () => {
    site.facts = { plugins: null, users: null, sessions: null };
    await openPostHack(site);
    await findButton('Reinstall all');
    expect(getTexts('.so-facts li')).toHaveLength(3);
    await userEvent.click(await findButton('Force password reset'));
    expect(await screen.findByText(/^All users are logged out at once, you included\./)).toBeDefined();
  });

  it('shows rows without a state while nothing is known, and an error if loading fails', async () => {
    const held = gate();
    site.replies.set('/post-hack-jobs', async () => {
      await held.opened;
      return refused(503, 'wordpress_down', 'WordPress does not answer.');
    });
    await openPostHack(site);
    expect(screen.getByText('Loading')).toBeDefined();
    expect(screen.queryByRole('button', { name: 'Reinstall all' })).toBeNull();
    held.open();
    expect(await screen.findByText('We couldn’t see whether an action is under way.')).toBeDefined();
    site.publishJobs();
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await findButton('Reinstall all')).toBeDefined();
  });

  it('does nothing before a confirmation; Cancel has the focus', async () => {
    await openPostHack(site);
    const start = await findButton('Force password reset');
    start.focus();
    await userEvent.keyboard('{Enter}');
    const dialog = await screen.findByRole('alertdialog', { name: 'Force password reset' });
    expect(dialog.textContent).toContain('All 1,023 users are logged out at once, you included.');
    await waitFor(() => expect(document.activeElement).toBe(within(dialog).getByRole('button', { name: 'Cancel' })));
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    await waitFor(() => expect(document.activeElement).toBe(start));
    expect(site.sent('/force-password-reset')).toEqual([]);
  });

  it('names the address that gets the owner’s link, or says that there is none', async () => {
    const ask = async (config: Record<string, unknown>) => {
      await openPostHack(site, config);
      await userEvent.click(await findButton('Force password reset'));
      const text = (await screen.findByRole('alertdialog')).textContent;
      closePage();
      return text;
    };
    expect(await ask({ user_email: 'owner@example.com' })).toContain('Your own link goes to owner@example.com.');
    expect(await ask({ user_email: '' })).toContain('Your account has no e-mail address');
    expect(await ask({})).toContain('Check first that your e-mail address is right.');
  });

  it('says that the owner’s session has ended and links to the login', async () => {
    site.replies.set('/force-password-reset', () => {
      site.nonce = null;
      return ok({ job: sampleJob({ kind: 'force-password-reset', total: 1023 }) }, 'Everyone is logged out.');
    });
    await openPostHack(site, { login_url: '/wp-login.php?redirect_to=here', user_email: 'owner@example.com' });
    await userEvent.click(await findButton('Force password reset'));
    const dialog = await screen.findByRole('alertdialog');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Force password reset' }));
    const link = await screen.findByRole('link', { name: 'Log in' });
    expect(link.getAttribute('href')).toBe('/wp-login.php?redirect_to=here');
    await waitFor(() => expect(document.activeElement).toBe(link));
    expect(screen.getByText('You are logged out')).toBeDefined();
    expect(
      screen.getByText(/^No password from before works any more, .* Yours goes to owner@example\.com:/),
    ).toBeDefined();
    expect(screen.queryByText(/of 1,023 users done/)).toBeNull();
    expect(screen.queryByRole('progressbar')).toBeNull();
    expect(((await findButton('Log out all users')) as HTMLButtonElement).disabled).toBe(true);
    const polls = site.calls('/post-hack-jobs').length;
    await new Promise((resolve) => setTimeout(resolve, 1300));
    expect(site.calls('/post-hack-jobs')).toHaveLength(polls);
  });

  it('keeps the owner’s session on request when all others are logged out', async () => {
    const done = sampleJob({
      kind: 'log-out-users',
      state: 'done',
      ended: 1_795_255_260,
      summary: ['3 users were logged in.'],
    });
    site.replies.set('/logout-users', () => ok({ job: done }, 'All users are logged out.'));
    await openPostHack(site);
    await userEvent.click(await findButton('Log out all users'));
    const dialog = await screen.findByRole('alertdialog');
    await userEvent.click(within(dialog).getByRole('checkbox', { name: /^Keep me logged in/ }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Log out all users' }));
    expect(await screen.findByText('3 users were logged in.')).toBeDefined();
    expect(site.sent('/logout-users')).toEqual([{ keep_mine: 1 }]);
    expect(screen.queryByText('You are logged out')).toBeNull();
  });

  it('shows in the dialog why nothing was started, and checks after a lost response', async () => {
    site.replies.set('/logout-users', () => refused(403, 'rest_forbidden', 'Sorry, you are not allowed to do that.'));
    await openPostHack(site);
    await userEvent.click(await findButton('Log out all users'));
    const dialog = await screen.findByRole('alertdialog');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Log out all users' }));
    expect((await within(dialog).findByRole('alert')).textContent).toBe(
      'We couldn’t start this. Sorry, you are not allowed to do that.',
    );
    const polls = site.calls('/post-hack-jobs').length;
    site.replies.set('/logout-users', () => null);
    await userEvent.click(within(dialog).getByRole('button', { name: 'Log out all users' }));
    await waitFor(() => expect(site.calls('/post-hack-jobs').length).toBe(polls + 1));
  });

  it('handles a response of another shape like an empty one', async () => {
    site.replies.set('/post-hack-jobs', () => ok({ jobs: [null, 7, { kind: 'other' }, { kind: 'log-out-users' }] }));
    await openPostHack(site);
    expect(await findButton('Log out all users')).toBeDefined();
    expect(document.querySelector('.so-run')).toBeNull();
  });
});
