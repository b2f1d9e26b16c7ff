import type { Checkup, CheckupFinding } from '@security-optimizer/contract/post-hack/checkup';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  changedPlugin,
  sampleCheckup,
  sampleFinding,
  sampleResult,
  suspicious,
} from '../../../test/fake-site/checkup.js';
import { sampleItem, sampleJob } from '../../../test/fake-site/jobs.js';
import { ok, refused } from '../../../test/fake-site/server.js';
import { findSwitch } from '../../../test/pages/open-page.js';
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

const verdict = () => document.querySelector('.so-verdict');
const tile = () => verdict()?.querySelector('.so-tile')?.className;
const open = async () => {
  await openPostHack(site);
  await screen.findByRole('heading', { name: 'Checkup' });
  await waitFor(() => expect(verdict()).not.toBeNull());
};

describe('the verdict of the checkup', () => {
  it('is green, with its time, only after four of four checks without a finding', async () => {
    await open();
    expect(verdict()?.textContent).toContain('Nothing suspicious was found');
    expect(verdict()?.textContent).toMatch(/21 Nov, 13:05|Today, 13:05/);
    expect(verdict()?.textContent).toContain('4 of 4 checks ran');
    expect(tile()).toContain('is-on');
    expect(verdict()?.getAttribute('role')).toBe('status');
  });

  it('is amber if a check could not run, and the check has a row of its own', async () => {
    site.checkup = suspicious({ findings: [] });
    await open();
    expect(verdict()?.textContent).toContain('Nothing suspicious so far');
    expect(verdict()?.textContent).toContain('3 of 4 checks ran');
    expect(tile()).toContain('is-warn');
    expect(screen.getByText('Core files could not be compared')).toBeDefined();
    expect(document.querySelectorAll('.so-meter__bar .is-gap')).toHaveLength(1);
    expect(getTexts('.so-checks li')).toContain('Core files: not checked');
  });

  it('is amber if no check could run', async () => {
    const checks = sampleResult().checks.map((check) => ({
      ...check,
      ran: 0 as const,
      title: `${check.check} failed`,
    }));
    site.checkup = sampleCheckup({ latest: sampleResult({ checks }) });
    await open();
    expect(verdict()?.textContent).toContain('Nothing could be checked');
    expect(verdict()?.textContent).toContain('0 of 4 checks ran');
    expect(tile()).toContain('is-warn');
  });

  it('counts findings, and shows what, since when, by whom, and the fix', async () => {
    site.checkup = suspicious();
    await open();
    expect(verdict()?.textContent).toContain('2 things need a look');
    expect(tile()).toContain('is-danger');
    const row = screen.getByRole('heading', { name: 'New administrator: web-helper New' }).closest('.so-row');
    expect(row?.textContent).toContain('Created by owner on 19 Nov, 03:12, from 203.0.113.88.');
    expect(row?.textContent).toContain('Removing also ends 1 open session');
    expect(within(row as HTMLElement).queryByRole('link')).toBeNull();
    expect(
      within(row as HTMLElement)
        .getAllByRole('button')
        .map((button) => button.getAttribute('aria-label')),
    ).toEqual(['Keep: New administrator: web-helper', 'Remove: New administrator: web-helper']);
    expect(getTexts('.so-checks li')).toEqual([
      'Core files: not checked',
      'Administrators: 1 finding',
      'Uploads: 1 finding',
      'Plugins: nothing found',
    ]);
  });

  it('says that the site has not been checked yet', async () => {
    site.checkup = sampleCheckup({ latest: null, earlier: [] });
    await open();
    expect(verdict()?.textContent).toContain('Not checked yet');
    expect(screen.queryByText('Earlier checkups')).toBeNull();
    expect(await findButton('Check now')).toBeDefined();
  });

  it('follows no link that would run code, and shows names as text', async () => {
    const hostile = '<img src=x onerror="window.broken=1">';
    const finding = sampleFinding({ title: hostile, items: [hostile], link: 'javascript:window.broken=1' });
    site.checkup = sampleCheckup({ latest: sampleResult({ findings: [finding] }) });
    await open();
    expect(screen.getAllByText(hostile)).toHaveLength(2);
    expect(document.querySelector('.so-finding a, .so-finding img')).toBeNull();
  });

  it('shows no markup of a name in the message after it was kept', async () => {
    const title = 'New administrator: <a href="http://example.org">web-helper</a>';
    site.checkup = sampleCheckup({ latest: sampleResult({ findings: [sampleFinding({ title })] }) });
    site.replies.set('/keep-finding', () => ok(sampleCheckup()));
    await open();
    await userEvent.click(await findButton(`Keep: ${title}`));
    await waitFor(() => expect(getTexts('.so-toast').join()).toContain(title));
    expect(document.querySelector('.so-toast a')).toBeNull();
  });

  it('offers to remove nothing if the server can’t', async () => {
    const found = (suspicious().latest?.findings ?? []).map(({ remove: _remove, files: _files, ...older }) => older);
    const { removed: _removed, ...older } = suspicious({ findings: found as CheckupFinding[] });
    site.checkup = older as Checkup;
    await open();
    expect(screen.getByRole('link', { name: 'Open the user' }).getAttribute('href')).toBe(
      'http://example.com/wp-admin/user-edit.php?user_id=7',
    );
    expect(screen.queryByRole('button', { name: /^Remove/ })).toBeNull();
    expect(document.querySelector('.so-removed')).toBeNull();
  });
});

describe('a running checkup', () => {
  it('shows its progress with the previous result, then the new result', async () => {
    site.checkup = suspicious();
    site.replies.set('/run-checkup', () => {
      site.checkup = { ...suspicious(), running: { done: 1, total: 4 } };
      return ok(site.checkup);
    });
    await open();
    await userEvent.click(await findButton('Check again'));
    await screen.findByText('1 of 4 checks done');
    expect(verdict()?.querySelector('h3')?.textContent).toBe('Checking…');
    expect(screen.getByText('A script in uploads')).toBeDefined();
    site.checkup = { ...suspicious(), running: { done: 3, total: 4 } };
    await screen.findByText('3 of 4 checks done');
    site.checkup = sampleCheckup();
    await screen.findByText('Nothing suspicious was found');
    expect(screen.queryByText('A script in uploads')).toBeNull();
  });

  it('is continued when the page is opened again', async () => {
    site.checkup = { ...sampleCheckup(), running: { done: 2, total: 4 } };
    await open();
    expect(screen.getByText('2 of 4 checks done')).toBeDefined();
  });

  it('says that it did not finish', async () => {
    site.checkup = sampleCheckup({ error: 'The checkup could not be finished. Try again.' });
    await open();
    expect(screen.getByText('The checkup could not be finished. Try again.')).toBeDefined();
    expect(await findButton('Check again')).toBeDefined();
  });

  it('says that its result could not be loaded, and tries again', async () => {
    site.replies.set('/checkup', () => refused(503, 'storage_unavailable', 'Not now.'));
    await openPostHack(site);
    expect(await screen.findByText('We couldn’t load the result of the last checkup.')).toBeDefined();
    site.replies.set('/checkup', () => ok(site.checkup));
    await userEvent.click(await findButton('Try again'));
    await waitFor(() => expect(verdict()).not.toBeNull());
  });
});

describe('a finding', () => {
  it('is hidden when it is marked as known, which can be undone at once or later', async () => {
    site.checkup = suspicious();
    const all = suspicious();
    site.replies.set('/keep-finding', ({ body }) => {
      const { key, keep } = JSON.parse(body) as { key: string; keep: 0 | 1 };
      const found = all.latest?.findings ?? [];
      const kept = found.filter((finding) => keep === 1 && finding.key === key);
      site.checkup = suspicious({
        findings: found.filter((finding) => !kept.includes(finding)),
        kept: kept.map(({ title }) => ({ key, title, at: 1_795_255_200, by: 'owner' })),
      });
      return ok(site.checkup);
    });
    await open();
    await userEvent.click(await findButton('Keep: A script in uploads'));
    await screen.findByText('1 thing needs a look');
    expect(site.sent('/keep-finding')).toEqual([{ key: 'script:abc', keep: 1 }]);
    expect(await screen.findByText('1 known finding is left out')).toBeDefined();
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Keep'));
    await userEvent.click(await findButton('Undo'));
    await screen.findByText('2 things need a look');
    expect(site.sent('/keep-finding')[1]).toEqual({ key: 'script:abc', keep: 0 });
  });

  it('is fixed by a clean copy of the plugin, which the list of plugins then shows', async () => {
    site.checkup = sampleCheckup({ latest: sampleResult({ findings: [changedPlugin] }) });
    site.replies.set('/reinstall-plugins', () => {
      site.jobs = [sampleJob({ total: 1, items: [sampleItem('form', { state: 'running' })] })];
      return ok({ job: site.jobs[0] });
    });
    await open();
    expect(getTexts('.so-finding details summary')).toEqual(['2 more']);
    await userEvent.click(await findButton(`Reinstall: ${changedPlugin.title}`));
    expect(await screen.findByText('0 of 1 plugin done')).toBeDefined();
    expect(site.sent('/reinstall-plugins')).toEqual([{ only: ['form/form.php'] }]);
  });
});

describe('the weekly checkup', () => {
  it('has no row if the server does not know it', async () => {
    const { weekly: _weekly, ...older } = sampleCheckup();
    site.checkup = older as Checkup;
    await open();
    expect(verdict()).not.toBeNull();
    expect(screen.queryByRole('switch')).toBeNull();
  });

  it('shows its day, its time and its recipients, and can be switched off', async () => {
    site.replies.set('/weekly-checkup', () => ok({ weekly_checkup: 0 }, 'The site is no longer checked every week.'));
    await open();
    const toggle = await findSwitch('Check every week');
    expect(toggle.closest('.so-row')?.textContent).toContain(
      'Sunday at 04:00, every week. A mail goes to owner@example.com when something appears.',
    );
    await userEvent.click(toggle);
    await waitFor(() => expect(toggle.getAttribute('aria-checked')).toBe('false'));
    expect(site.sent('/weekly-checkup')).toEqual([{ weekly_checkup: 0 }]);
  });

  it('says where new findings appear while there are no recipients', async () => {
    site.checkup = sampleCheckup({ weekly: { weekly_checkup: 1, day: 3, time: '02:40', emails: [] } });
    await open();
    expect(screen.getByText(/^Wednesday at 02:40, every week\. The Security Dashboard says so/)).toBeDefined();
  });

  it('lists earlier checkups, at first four of them', async () => {
    site.checkup = sampleCheckup({ more: 1 });
    const all = {
      ...sampleCheckup(),
      earlier: [...sampleCheckup().earlier, { at: 1_790_000_000, findings: 2, missing: [] }],
    };
    await open();
    expect(getTexts('.so-past b')).toEqual([
      'Nothing found',
      'Nothing found',
      'Nothing found, Core files: not checked',
      'Nothing found',
    ]);
    site.replies.set('/checkup', () => ok(all));
    await userEvent.click(await findButton('Show all'));
    await waitFor(() => expect(getTexts('.so-past b')).toHaveLength(5));
    expect(getTexts('.so-past b')[4]).toBe('2 findings');
    expect(site.sent('/checkup').at(-1)).toEqual({ all: 1 });
    expect(screen.queryByRole('button', { name: 'Show all' })).toBeNull();
  });
});
