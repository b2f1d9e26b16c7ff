import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../../test/fake-site/server.js';
import { type FakeSite, startFakeSite } from '../../../test/fake-site/site.js';
import { openLog, tableTexts } from '../../../test/pages/activity-log.js';
import { toastTexts } from '../../../test/pages/open-page.js';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

const tab = (name: string | RegExp) => screen.findByRole('tab', { name });

describe('the Activity Log page', () => {
  it('has five tabs at the foot of the header and opens Unknown first', async () => {
    await openLog(site, '');
    const tabs = await screen.findAllByRole('tab');
    expect(tabs.map(({ firstChild }) => firstChild?.textContent)).toEqual([
      'Unknown',
      'Registered',
      'Blocked',
      'Weekly Reports',
      'Log Settings',
    ]);
    expect(tabs[0]?.closest('.so-head')).not.toBeNull();
    expect((await tab('Unknown')).getAttribute('aria-selected')).toBe('true');
    await tableTexts('Unknown Visitors Activity');
  });

  it('opens the tab in its URL, and keeps the URL up to date', async () => {
    await openLog(site, 'registered');
    await tableTexts('Registered Users Activity');
    window.location.hash = '#log-settings';
    expect(await screen.findByRole('switch', { name: 'Activity log' })).toBeDefined();
    await userEvent.click(await tab(/Weekly/));
    expect(window.location.search).toBe('?log_tab=weekly-reports');
    expect(window.location.hash).toBe('');
    expect(await screen.findByText('owner@example.com')).toBeDefined();
  });

  it('moves between the tabs with the arrow keys, Home and End; the tabs are one stop of the Tab key', async () => {
    await openLog(site);
    (await tab('Unknown')).focus();
    await userEvent.keyboard('{ArrowRight}');
    expect(document.activeElement).toBe(await tab('Registered'));
    expect((await tab('Registered')).getAttribute('aria-selected')).toBe('true');
    await userEvent.keyboard('{End}');
    expect(document.activeElement).toBe(await tab('Log Settings'));
    await userEvent.keyboard('{ArrowRight}');
    expect(document.activeElement).toBe(await tab('Unknown'));
    expect(screen.getAllByRole('tab').filter(({ tabIndex }) => tabIndex === 0)).toHaveLength(1);
  });

  it('labels the panel with its tab', async () => {
    await openLog(site);
    const panel = screen.getByRole('tabpanel', { name: 'Unknown' });
    expect((await tab('Unknown')).getAttribute('aria-controls')).toBe(panel.id);
  });

  it('shows the number of blocked visitors before that tab is opened', async () => {
    await openLog(site);
    expect(await tab('Blocked 3')).toBeDefined();
  });

  it('shows no counter and no error if the number is unknown', async () => {
    site.replies.set('/blocked-users', () => refused(500, 'internal', 'No.'));
    await openLog(site);
    await tableTexts('Unknown Visitors Activity');
    await waitFor(() => expect(site.calls('/blocked-users')).toHaveLength(1));
    expect(within(await tab(/Blocked/)).queryByText(/\d/)).toBeNull();
    expect(toastTexts()).toEqual([]);
  });

  it('says that visits are missing, and how many', async () => {
    site.log.options.dropped = 1204;
    await openLog(site);
    expect(await screen.findByText(/^1,204 visits were not recorded/)).toBeDefined();
  });

  it('says that nothing is recorded while the log is off, with a link to the setting', async () => {
    site.log.options.disable_activity_log = 1;
    await openLog(site);
    expect(await screen.findByText('The activity log is off.')).toBeDefined();
    await userEvent.click(screen.getByRole('button', { name: 'Log Settings' }));
    expect((await screen.findByRole('switch', { name: 'Activity log' })).getAttribute('aria-checked')).toBe('false');
  });
});
