import type { Job, JobItem } from '@security-optimizer/contract/post-hack';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ok, refused } from '../../../test/api-server.js';
import { type FakeSite, gate, startFakeSite } from '../../../test/fake-site.js';
import { closePage, openPage, toastTexts } from '../../../test/open-page.js';

// Fetched later by the page; no test should wait for it to be compiled.
import './action-dialog.js';

let site: FakeSite;
let jobs: Job[];
let facts: Record<string, number | null>;

beforeEach(async () => {
  jobs = [];
  facts = { plugins: 12, users: 1023, sessions: 4 };
  site = await startFakeSite();
  site.replies.set('/post-hack-jobs', () => ok({ jobs, facts }));
});
afterEach(async () => {
  closePage();
  await site.server.close();
});

const open = () => openPage(site, { localeSlug: 'en-GB' }, 'POST_HACK_ACTIONS');
const button = (name: string) => screen.findByRole('button', { name });
const starts = (suffix: string) => site.calls(suffix).map(({ body }) => JSON.parse(body));
const item = (name: string, change: Partial<JobItem> = {}): JobItem => ({
  id: `${name}/${name}.php`,
  name,
  version: '1.0',
  state: 'waiting',
  reason: '',
  files: [],
  ...change,
});
const job = (change: Partial<Job> = {}): Job => ({
  id: 'one',
  kind: 'reinstall-plugins',
  state: 'running',
  started: 1_795_255_200,
  ended: null,
  actor: 'owner',
  done: 0,
  total: 0,
  items: [],
  summary: [],
  error: '',
  ...change,
});
const rowOf = async (name: string) => {
  const row = (await screen.findByText(name)).closest('li');
  if (row === null) throw new Error(`${name} is not in a list.`);
  return row;
};
const texts = (selector: string) => Array.from(document.querySelectorAll(selector), (found) => found.textContent);

describe('Post-hack Actions', () => {
  it('says where to start, what each action does and what it costs', async () => {
    await open();
    await button('Reinstall all');
    expect(screen.getByText('Not sure where to start?')).toBeDefined();
    expect(screen.getAllByRole('heading', { level: 3 }).map(({ textContent }) => textContent)).toEqual([
      'Reinstall all free plugins',
      'Force password reset',
      'Log out all users',
      'Look for traces',
    ]);
    expect(texts('.so-facts li')).toEqual([
      'Settings and content stay',
      '12 plugins',
      'You are logged out too',
      '1,023 users',
      'You are logged out too, unless you choose to stay',
      '4 open sessions',
    ]);
  });

  it('leaves out what is not known', async () => {
    facts = { plugins: null, users: null, sessions: null };
    await open();
    await button('Reinstall all');
    expect(texts('.so-facts li')).toHaveLength(3);
    await userEvent.click(await button('Force password reset'));
    expect(await screen.findByText(/^All users are logged out at once, you included\./)).toBeDefined();
  });

  it('shows rows without a state while nothing is known, and says so when it stays that way', async () => {
    const held = gate();
    site.replies.set('/post-hack-jobs', async () => {
      await held.opened;
      return refused(503, 'wordpress_down', 'WordPress does not answer.');
    });
    await open();
    expect(screen.getByText('Loading')).toBeDefined();
    expect(screen.queryByRole('button', { name: 'Reinstall all' })).toBeNull();
    held.open();
    expect(await screen.findByText('We couldn’t see whether an action is under way.')).toBeDefined();
    site.replies.set('/post-hack-jobs', () => ok({ jobs, facts }));
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await button('Reinstall all')).toBeDefined();
  });

  it('does nothing before it was confirmed; the way out has the focus', async () => {
    await open();
    const start = await button('Force password reset');
    start.focus();
    await userEvent.keyboard('{Enter}');
    const dialog = await screen.findByRole('alertdialog', { name: 'Force password reset' });
    expect(dialog.textContent).toContain('All 1,023 users are logged out at once, you included.');
    expect(document.activeElement).toBe(within(dialog).getByRole('button', { name: 'Cancel' }));
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    await waitFor(() => expect(document.activeElement).toBe(start));
    expect(starts('/force-password-reset')).toEqual([]);
  });

  it('starts a reinstallation and follows it to its end', async () => {
    site.replies.set('/reinstall-plugins', () => {
      jobs = [job({ total: 2, items: [item('form', { state: 'running' }), item('shop')] })];
      return ok({ job: jobs[0] }, 'The plugins are being reinstalled.');
    });
    await open();
    await userEvent.click(await button('Reinstall all'));
    await userEvent.click(
      within(await screen.findByRole('alertdialog')).getByRole('button', { name: 'Reinstall all' }),
    );
    const bar = await screen.findByRole('progressbar', { name: 'Reinstall all free plugins' });
    expect(bar.getAttribute('aria-valuetext')).toBe('0 of 2 plugins done');
    expect(screen.getByText('You can leave this page. We’ll carry on.')).toBeDefined();
    expect((await button('Reinstalling…')).getAttribute('aria-disabled')).toBe('true');
    expect((await rowOf('shop')).textContent).toContain('Waiting');

    jobs = [
      job({
        state: 'done',
        ended: 1_795_255_260,
        done: 2,
        total: 2,
        items: [
          item('form', { state: 'done', reason: '1 changed file was replaced.', files: ['door.php'] }),
          item('shop', { state: 'skipped', reason: 'Not a free plugin.' }),
        ],
        summary: ['1 plugin has a clean copy.', '1 plugin was skipped.'],
      }),
    ];
    await waitFor(() => expect(screen.queryByRole('progressbar')).toBeNull(), { timeout: 3000 });
    expect((await rowOf('form')).textContent).toContain('Clean copy in place. 1 changed file was replaced.');
    expect((await rowOf('form')).textContent).toContain('1 file that is not part of it was removed');
    expect((await rowOf('shop')).textContent).toContain('Skipped. Not a free plugin.');
    expect(screen.getByText('1 plugin has a clean copy.')).toBeDefined();
    const looks = site.calls('/post-hack-jobs').length;
    await new Promise((resolve) => setTimeout(resolve, 1300));
    expect(site.calls('/post-hack-jobs')).toHaveLength(looks);
  });

  it('finds a job again that runs, and one guard that is away for a moment', async () => {
    jobs = [job({ total: 4, done: 1, items: [item('form', { state: 'running' })] })];
    await open();
    expect(await screen.findByText('1 of 4 plugins done')).toBeDefined();
    site.replies.set('/post-hack-jobs', () => null);
    await waitFor(() => expect(site.calls('/post-hack-jobs').length).toBeGreaterThan(1), { timeout: 3000 });
    jobs = [job({ total: 4, done: 3 })];
    site.replies.set('/post-hack-jobs', () => ok({ jobs, facts }));
    expect(await screen.findByText('3 of 4 plugins done', {}, { timeout: 8000 })).toBeDefined();
    expect(toastTexts()).toEqual([]);
  }, 15_000);

  it('tells screen readers of a quarter done, not of each step, and nothing of what ended long ago', async () => {
    const told: string[] = [];
    const reset = (done: number) => job({ kind: 'force-password-reset', total: 400, done });
    jobs = [
      reset(10),
      job({ id: 'old', state: 'done', ended: 1_700_000_000, summary: ['1 plugin has a clean copy.'] }),
    ];
    await open();
    await screen.findByText('10 of 400 users done');
    const region = () => texts('.so-card > .so-vh[role="status"] p').join(' | ');
    told.push(region());
    for (const done of [60, 110, 390]) {
      jobs = [reset(done)];
      await screen.findByText(`${done} of 400 users done`, {}, { timeout: 3000 });
      told.push(region());
    }
    jobs = [{ ...reset(400), state: 'done', summary: ['400 users got a link.'] }];
    await waitFor(() => expect(region()).toContain('400 users got a link.'), { timeout: 3000 });
    expect(told).toEqual([
      'Force password reset: started',
      'Force password reset: started',
      'Force password reset: 25 percent done',
      'Force password reset: 75 percent done',
    ]);
  }, 15_000);

  it('tries one plugin again, or all that a stopped job has left', async () => {
    jobs = [
      job({
        state: 'stopped',
        error: 'WordPress does not answer.',
        total: 3,
        items: [
          item('form', { state: 'failed', reason: 'The download failed.' }),
          item('shop', { state: 'done' }),
          item('late'),
        ],
      }),
    ];
    site.replies.set('/reinstall-plugins', () => ok({ job: jobs[0] }));
    await open();
    await userEvent.click(await button('Try again: form'));
    await waitFor(() => expect(starts('/reinstall-plugins')).toEqual([{ only: ['form/form.php'] }]));
    expect(document.activeElement?.className).toBe('so-run');
    expect(screen.getByText(/WordPress does not answer\./)).toBeDefined();
    await userEvent.click(await button('Try again'));
    await waitFor(() => expect(starts('/reinstall-plugins')[1]).toEqual({ only: ['form/form.php', 'late/late.php'] }));
  });

  it('goes on with a reset that stopped, in place of shutting everyone out once more', async () => {
    jobs = [job({ kind: 'force-password-reset', state: 'stopped', error: 'WordPress does not answer.' })];
    site.replies.set('/force-password-reset', () => {
      jobs = [job({ kind: 'force-password-reset', total: 10, done: 5 })];
      return ok({ job: jobs[0] });
    });
    await open();
    await userEvent.click(await button('Try again'));
    expect(await screen.findByText('5 of 10 users done')).toBeDefined();
    expect(starts('/force-password-reset')).toEqual([{ go_on: 1 }]);
    expect(screen.queryByText('You are logged out')).toBeNull();
  });

  it('says that the own session has ended and offers the way back in', async () => {
    site.replies.set('/force-password-reset', () => {
      site.nonce = null;
      return ok({ job: job({ kind: 'force-password-reset', total: 1023 }) }, 'Everyone is logged out.');
    });
    await openPage(site, { localeSlug: 'en-GB', login_url: '/wp-login.php?redirect_to=here' }, 'POST_HACK_ACTIONS');
    await userEvent.click(await button('Force password reset'));
    const dialog = await screen.findByRole('alertdialog');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Force password reset' }));
    expect((await screen.findByRole('link', { name: 'Log in' })).getAttribute('href')).toBe(
      '/wp-login.php?redirect_to=here',
    );
    expect(await screen.findByText(/^Your session has ended like all others\./)).toBeDefined();
    expect(((await button('Log out all users')) as HTMLButtonElement).disabled).toBe(true);
    const looks = site.calls('/post-hack-jobs').length;
    await new Promise((resolve) => setTimeout(resolve, 1300));
    expect(site.calls('/post-hack-jobs')).toHaveLength(looks);
  });

  it('keeps the own session when logging all others out, if that is wanted', async () => {
    const done = job({
      kind: 'log-out-users',
      state: 'done',
      ended: 1_795_255_260,
      summary: ['3 users were logged in.'],
    });
    site.replies.set('/logout-users', () => ok({ job: done }, 'All users are logged out.'));
    await open();
    await userEvent.click(await button('Log out all users'));
    const dialog = await screen.findByRole('alertdialog');
    await userEvent.click(within(dialog).getByRole('checkbox', { name: /^Keep me logged in/ }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Log out all users' }));
    expect(await screen.findByText('3 users were logged in.')).toBeDefined();
    expect(starts('/logout-users')).toEqual([{ keep_mine: 1 }]);
    expect(screen.queryByText('You are logged out')).toBeNull();
  });

  it('says in the dialog why nothing was started, and looks whether it was when no answer came', async () => {
    site.replies.set('/logout-users', () => refused(403, 'rest_forbidden', 'Sorry, you are not allowed to do that.'));
    await open();
    await userEvent.click(await button('Log out all users'));
    const dialog = await screen.findByRole('alertdialog');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Log out all users' }));
    expect((await within(dialog).findByRole('alert')).textContent).toBe(
      'We couldn’t start this. Sorry, you are not allowed to do that.',
    );
    const looks = site.calls('/post-hack-jobs').length;
    site.replies.set('/logout-users', () => null);
    await userEvent.click(within(dialog).getByRole('button', { name: 'Log out all users' }));
    await waitFor(() => expect(site.calls('/post-hack-jobs').length).toBe(looks + 1));
  });

  it('shows names of plugins as text, whatever they hold', async () => {
    const name = '<img src=x onerror="window.broken=1"><b>bold</b>';
    jobs = [
      job({
        state: 'done',
        items: [item(name, { state: 'failed', reason: '<script>1</script>', files: [`x${name}`] })],
      }),
    ];
    await open();
    const row = await rowOf(name);
    expect(row.querySelector('img, script')).toBeNull();
    expect(row.textContent).toContain('<script>1</script>');
  });

  it('takes an answer of another form for one that knows nothing', async () => {
    site.replies.set('/post-hack-jobs', () => ok({ jobs: [null, 7, { kind: 'other' }, { kind: 'log-out-users' }] }));
    await open();
    expect(await button('Log out all users')).toBeDefined();
    expect(document.querySelector('.so-run')).toBeNull();
  });
});

describe('the checkup', () => {
  const finding = {
    id: 'a',
    level: 'problem',
    title: 'Files were changed',
    text: '',
    link: '',
    link_text: '',
    items: [],
  };

  it('lists what was found part by part, with a link to where it is fixed', async () => {
    const items = Array.from({ length: 8 }, (_, place) => `wp-includes/file-${place}.php`);
    const fix = { link: 'https://example.com/wp-admin/update-core.php', link_text: 'Reinstall WordPress' };
    site.replies.set('/checkup', () =>
      ok({
        parts: [
          { part: 'core', title: 'WordPress files', error: '', findings: [{ ...finding, ...fix, items }] },
          { part: 'tasks', title: 'Scheduled tasks', error: 'WordPress could not look at this.', findings: [] },
        ],
      }),
    );
    await open();
    await userEvent.click(await button('Look for traces'));
    expect((await screen.findByRole('link', { name: 'Reinstall WordPress' })).getAttribute('href')).toBe(fix.link);
    expect(screen.getByText('WordPress could not look at this.')).toBeDefined();
    expect(texts('.so-found__items li')).toHaveLength(8);
    expect(texts('details summary')).toEqual(['3 more']);
    expect(texts('.so-card > .so-vh[role="status"]')).toContain('1 finding should be looked at.');
    expect(await button('Look again')).toBeDefined();
  });

  it('follows no link that would run code, and shows names as text', async () => {
    const hostile = '<img src=x onerror="window.broken=1">';
    const link = 'javascript:window.broken=1';
    site.replies.set('/checkup', () =>
      ok({ parts: [{ part: 'core', title: 'Files', error: '', findings: [{ ...finding, link, items: [hostile] }] }] }),
    );
    await open();
    await userEvent.click(await button('Look for traces'));
    expect(await screen.findByText(hostile)).toBeDefined();
    expect(document.querySelector('.so-found a, .so-found img')).toBeNull();
  });

  it('says when it could not look, and tries again', async () => {
    site.replies.set('/checkup', () => refused(502, 'wordpress_down', 'WordPress does not answer.'));
    await open();
    await userEvent.click(await button('Look for traces'));
    expect(await screen.findByText('We couldn’t look for traces.')).toBeDefined();
    site.replies.set('/checkup', () =>
      ok({ parts: [{ part: 'core', title: 'WordPress files', findings: [finding] }] }),
    );
    await userEvent.click(await button('Try again'));
    expect(await screen.findByText('Files were changed')).toBeDefined();
    expect(screen.queryByText('We couldn’t look for traces.')).toBeNull();
  });
});
