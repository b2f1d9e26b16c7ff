import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { sampleItem, sampleJob } from '../../../test/fake-site/jobs.js';
import { ok } from '../../../test/fake-site/server.js';
import { toastTexts } from '../../../test/pages/open-page.js';
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

const findRow = async (name: string) => {
  const row = (await screen.findByText(name)).closest('li');
  if (row === null) throw new Error(`${name} is not in a list.`);
  return row;
};

describe('a running action', () => {
  it('starts a reinstallation and follows it to its end', async () => {
    site.replies.set('/reinstall-plugins', () => {
      site.jobs = [sampleJob({ total: 2, items: [sampleItem('form', { state: 'running' }), sampleItem('shop')] })];
      return ok({ job: site.jobs[0] }, 'The plugins are being reinstalled.');
    });
    await openPostHack(site);
    await userEvent.click(await findButton('Reinstall all'));
    await userEvent.click(
      within(await screen.findByRole('alertdialog')).getByRole('button', { name: 'Reinstall all' }),
    );
    const bar = await screen.findByRole('progressbar', { name: 'Reinstall all free plugins' });
    expect(bar.getAttribute('aria-valuetext')).toBe('0 of 2 plugins done');
    expect(screen.getByText('You can leave this page. We’ll carry on.')).toBeDefined();
    expect((await findButton('Reinstalling…')).getAttribute('aria-disabled')).toBe('true');
    expect((await findRow('shop')).textContent).toContain('Waiting');

    site.jobs = [
      sampleJob({
        state: 'done',
        ended: 1_795_255_260,
        done: 2,
        total: 2,
        items: [
          sampleItem('form', { state: 'done', reason: '1 changed file was replaced.', files: ['door.php'] }),
          sampleItem('shop', { state: 'skipped', reason: 'Not a free plugin.' }),
        ],
        summary: ['1 plugin has a clean copy.', '1 plugin was skipped.'],
      }),
    ];
    await waitFor(() => expect(screen.queryByRole('progressbar')).toBeNull());
    expect((await findRow('form')).textContent).toContain('Clean copy in place. 1 changed file was replaced.');
    expect((await findRow('form')).textContent).toContain('1 file that is not part of it was removed');
    expect((await findRow('shop')).textContent).toContain('Skipped. Not a free plugin.');
    expect(screen.getByText('1 plugin has a clean copy.')).toBeDefined();
    const polls = site.calls('/post-hack-jobs').length;
    await new Promise((resolve) => setTimeout(resolve, 1300));
    expect(site.calls('/post-hack-jobs')).toHaveLength(polls);
  });

  it('continues a running job after a reload, and after a short failure of guard', async () => {
    site.jobs = [sampleJob({ total: 4, done: 1, items: [sampleItem('form', { state: 'running' })] })];
    await openPostHack(site);
    expect(await screen.findByText('1 of 4 plugins done')).toBeDefined();
    site.replies.set('/post-hack-jobs', () => null);
    await waitFor(() => expect(site.calls('/post-hack-jobs').length).toBeGreaterThan(1));
    site.jobs = [sampleJob({ total: 4, done: 3 })];
    site.publishJobs();
    expect(await screen.findByText('3 of 4 plugins done')).toBeDefined();
    expect(toastTexts()).toEqual([]);
  });

  it('announces each quarter of the progress, not each step, and nothing about old jobs', async () => {
    const announced: string[] = [];
    const reset = (done: number) => sampleJob({ kind: 'force-password-reset', total: 400, done });
    site.jobs = [
      reset(10),
      sampleJob({ id: 'old', state: 'done', ended: 1_700_000_000, summary: ['1 plugin has a clean copy.'] }),
    ];
    await openPostHack(site);
    await screen.findByText('10 of 400 users done');
    const region = () => getTexts('.so-card > .so-vh[role="status"] p').join(' | ');
    announced.push(region());
    for (const done of [60, 110, 390]) {
      site.jobs = [reset(done)];
      await screen.findByText(`${done} of 400 users done`);
      announced.push(region());
    }
    site.jobs = [{ ...reset(400), state: 'done', summary: ['400 users got a link.'] }];
    await waitFor(() => expect(region()).toContain('400 users got a link.'));
    expect(announced).toEqual([
      'Force password reset: started',
      'Force password reset: started',
      'Force password reset: 25 percent done',
      'Force password reset: 75 percent done',
    ]);
  });

  it('tries one plugin again, or all that a stopped job has left', async () => {
    site.jobs = [
      sampleJob({
        state: 'stopped',
        error: 'WordPress does not answer.',
        total: 3,
        items: [
          sampleItem('form', { state: 'failed', reason: 'The download failed.' }),
          sampleItem('shop', { state: 'done' }),
          sampleItem('late'),
        ],
      }),
    ];
    site.replies.set('/reinstall-plugins', () => ok({ job: site.jobs[0] }));
    await openPostHack(site);
    await userEvent.click(await findButton('Try again: form'));
    await waitFor(() => expect(site.sent('/reinstall-plugins')).toEqual([{ only: ['form/form.php'] }]));
    await waitFor(() => expect(document.activeElement?.className).toBe('so-run'));
    expect(screen.getByText(/WordPress does not answer\./)).toBeDefined();
    await userEvent.click(await findButton('Try again'));
    await waitFor(() =>
      expect(site.sent('/reinstall-plugins')[1]).toEqual({ only: ['form/form.php', 'late/late.php'] }),
    );
  });

  it.each([
    [['done', 'skipped'], 'Done'],
    [['done', 'unchecked'], 'Done in part'],
    [['failed', 'skipped'], 'Nothing was reinstalled'],
    [['unchecked'], 'Nothing was reinstalled'],
    [['skipped'], 'There was nothing to reinstall'],
  ] as const)('has for a result with %s the title “%s”', async (states, title) => {
    const items = states.map((state, index) => sampleItem(`plugin-${index}`, { state }));
    site.jobs = [sampleJob({ state: 'done', ended: 1_795_255_260, items, total: items.length, done: items.length })];
    await openPostHack(site);
    await findButton('Reinstall all');
    expect(getTexts('.so-run__head b')).toEqual([title]);
  });

  it('says that the plugin directory could not be reached, and offers to try again', async () => {
    const reason = 'The plugin directory does not answer.';
    site.jobs = [
      sampleJob({ state: 'done', total: 1, done: 1, items: [sampleItem('form', { state: 'unchecked', reason })] }),
    ];
    site.replies.set('/reinstall-plugins', () => ok({ job: site.jobs[0] }));
    await openPostHack(site);
    expect((await findRow('form')).textContent).toContain(`Could not be checked. ${reason}`);
    await userEvent.click(await findButton('Try again: form'));
    await waitFor(() => expect(site.sent('/reinstall-plugins')).toEqual([{ only: ['form/form.php'] }]));
  });

  it('says that it continues if the session ends during the job', async () => {
    site.jobs = [sampleJob({ total: 4, done: 1, items: [sampleItem('form', { state: 'running' })] })];
    await openPostHack(site);
    await screen.findByText('1 of 4 plugins done');
    site.nonce = null;
    expect(await screen.findByText('What was started here goes on. Log in to see how it ends.')).toBeDefined();
    expect(screen.queryByRole('progressbar')).toBeNull();
  });

  it('continues an interrupted reset instead of logging out all users again', async () => {
    site.jobs = [sampleJob({ kind: 'force-password-reset', state: 'stopped', error: 'WordPress does not answer.' })];
    site.replies.set('/force-password-reset', () => {
      site.jobs = [sampleJob({ kind: 'force-password-reset', total: 10, done: 5 })];
      return ok({ job: site.jobs[0] });
    });
    await openPostHack(site);
    await userEvent.click(await findButton('Try again'));
    expect(await screen.findByText('5 of 10 users done')).toBeDefined();
    expect(site.sent('/force-password-reset')).toEqual([{ go_on: 1 }]);
    expect(screen.queryByText('You are logged out')).toBeNull();
  });

  it('shows names of plugins as text', async () => {
    const name = '<img src=x onerror="window.broken=1"><b>bold</b>';
    site.jobs = [
      sampleJob({
        state: 'done',
        items: [sampleItem(name, { state: 'failed', reason: '<script>1</script>', files: [`x${name}`] })],
      }),
    ];
    await openPostHack(site);
    const row = await findRow(name);
    expect(row.querySelector('img, script')).toBeNull();
    expect(row.textContent).toContain('<script>1</script>');
  });
});
