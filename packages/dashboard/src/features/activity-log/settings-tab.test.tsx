import { act, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { refused } from '../../../test/fake-site/server.js';
import { type FakeSite, startFakeSite } from '../../../test/fake-site/site.js';
import { openLog } from '../../../test/pages/activity-log.js';
import { findSwitch, withinRow } from '../../../test/pages/open-page.js';
import { choose, listOptions } from '../../../test/select-option.js';
import { UndoLine } from './settings-tab.js';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

const open = () => openLog(site, 'log-settings');
const days = () => screen.findByRole('combobox', { name: 'Days to keep' }) as Promise<HTMLButtonElement>;

describe('the log settings', () => {
  it('show the log as on while the option that disables it is off, and invert the switch', async () => {
    await open();
    const log = await findSwitch('Activity log');
    expect(log.getAttribute('aria-checked')).toBe('true');
    await userEvent.click(log);
    expect(log.getAttribute('aria-checked')).toBe('false');
    await waitFor(() => expect(site.sent('/manage-activity-log')).toEqual([{ disable_activity_log: 1 }]));
    await waitFor(() => expect(log.getAttribute('aria-busy')).toBeNull());
    expect((await days()).disabled).toBe(true);
    await userEvent.click(log);
    await waitFor(async () => expect((await days()).disabled).toBe(false));
    expect(site.sent('/manage-activity-log').pop()).toEqual({ disable_activity_log: 0 });
  });

  it('restore the switch if saving fails, and say which state applies', async () => {
    site.replies.set('/manage-activity-log', () => refused(500, 'internal', 'No.'));
    await open();
    const log = await findSwitch('Activity log');
    await userEvent.click(log);
    expect((await withinRow(log).findByRole('alert')).textContent).toContain('The option is still on.');
    expect(log.getAttribute('aria-checked')).toBe('true');
    site.replies.clear();
    await userEvent.click(withinRow(log).getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(log.getAttribute('aria-checked')).toBe('false'));
  });

  it('keep the log for 1 to 12 days, and say that fewer than 8 pause the weekly report', async () => {
    await open();
    const field = await days();
    expect(field.textContent).toBe('12 days');
    expect(await listOptions(field)).toHaveLength(12);
    await userEvent.keyboard('{Escape}');
    await choose(field, '5 days');
    const question = await screen.findByRole('alertdialog', { name: 'Keep only 5 days?' });
    expect(within(question).getByText('Weekly reports stop: they need at least 8 days.')).toBeDefined();
    await userEvent.click(await within(question).findByRole('button', { name: 'Delete 1,207 entries' }));
    await waitFor(() => expect(site.sent('/activity-log-lifetime')).toEqual([{ log_lifetime: 5 }]));
    expect(await screen.findByText('Weekly reports are paused.')).toBeDefined();
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    await waitFor(() => expect(field.getAttribute('aria-busy')).toBeNull());
    await choose(field, '8 days');
    await waitFor(() => expect(screen.queryByText('Weekly reports are paused.')).toBeNull());
  });

  it('say how many entries a shorter retention deletes, and keep the days on Cancel', async () => {
    await open();
    const field = await days();
    await choose(field, '9 days');
    const question = await screen.findByRole('alertdialog', { name: 'Keep only 9 days?' });
    expect(await within(question).findByText('1,207 entries are older.')).toBeDefined();
    expect(site.sent('/activity-log-lifetime-preview')).toEqual([{ log_lifetime: 9 }]);
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Cancel'));
    await userEvent.keyboard('{Enter}');
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(site.calls('/activity-log-lifetime')).toHaveLength(0);
    expect(field.textContent).toBe('12 days');
  });

  it('ask before a shorter retention even if the server can’t count the entries', async () => {
    site.replies.set('/activity-log-lifetime-preview', () => refused(404, 'rest_no_route', 'No route.'));
    await open();
    await choose(await days(), '9 days');
    await screen.findByText('Entries that are older are deleted.');
    await userEvent.click(screen.getByRole('button', { name: 'Keep fewer days' }));
    await waitFor(() => expect(site.sent('/activity-log-lifetime')).toEqual([{ log_lifetime: 9 }]));
  });

  it.each(['in the row', 'in the message'])('can be undone for a minute, %s', async (index) => {
    await open();
    const field = await days();
    await choose(field, '9 days');
    await userEvent.click(await screen.findByRole('button', { name: 'Delete 1,207 entries' }));
    expect(await screen.findByText(/^Older entries are deleted in \d+ seconds\.$/)).toBeDefined();
    await waitFor(() => expect(screen.getAllByRole('button', { name: 'Undo' })).toHaveLength(2));
    const [row, message] = screen.getAllByRole('button', { name: 'Undo' });
    await userEvent.click((index === 'in the row' ? row : message) as HTMLElement);
    await waitFor(() => expect(field.textContent).toBe('12 days'));
    expect(site.sent('/activity-log-lifetime')).toEqual([{ log_lifetime: 9 }, { log_lifetime: 12 }]);
    await waitFor(() => expect(screen.queryByText(/^Older entries are deleted in/)).toBeNull());
  });

  it('can still be undone after a reload within the minute, with what the server knows', async () => {
    for (const item of site.log.options.log_lifetime) item.selected = item.value === 9 ? 1 : 0;
    site.log.options.log_lifetime_undo = { days: 11, seconds: 41, deletes: 1 };
    await open();
    const field = await days();
    expect(await screen.findByText(/^Older entries are deleted in 4[01] seconds\.$/)).toBeDefined();
    await userEvent.click(screen.getByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(site.sent('/activity-log-lifetime')).toEqual([{ log_lifetime: 11 }]));
    await waitFor(() => expect(field.textContent).toBe('11 days'));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull());
  });

  it('can be undone without a word about deletion if nothing is deleted', async () => {
    site.log.olderEntries = 0;
    await open();
    await choose(await days(), '9 days');
    await screen.findByText('No entry is that old, so nothing is deleted now.');
    await userEvent.click(screen.getByRole('button', { name: 'Keep fewer days' }));
    await waitFor(() => expect(screen.getAllByRole('button', { name: 'Undo' })).toHaveLength(2));
    const row = (await days()).closest('.so-row');
    expect(row?.textContent).toContain('SavedUndo');
    expect(row?.textContent).not.toContain('deleted in');
  });

  it('can no longer be undone after the minute', async () => {
    const over = vi.fn();
    vi.useFakeTimers({ now: 1_800_000_000_000 });
    render(<UndoLine undo={{ days: 12, seconds: 60, deletes: 1 }} onUndo={() => undefined} onOver={over} />);
    act(() => void vi.advanceTimersByTime(59_000));
    expect(screen.getByText('Older entries are deleted in 1 second.')).toBeDefined();
    expect(over).not.toHaveBeenCalled();
    act(() => void vi.advanceTimersByTime(1000));
    expect(over).toHaveBeenCalledTimes(1);
    expect(screen.queryByRole('button')).toBeNull();
    vi.useRealTimers();
  });

  it('store addresses without their last part from now on', async () => {
    await open();
    await userEvent.click(await findSwitch('Anonymise addresses'));
    await waitFor(() => expect(site.log.options.anonymize_addresses).toBe(1));
  });

  it('list requests for WordPress’s scheduled tasks on demand', async () => {
    await open();
    const tasks = await findSwitch('Scheduled tasks of WordPress');
    expect(tasks.getAttribute('aria-checked')).toBe('false');
    await userEvent.click(tasks);
    await waitFor(() => expect(site.log.options.log_own_cron).toBe(1));
  });

  it('omit options that the server does not know', async () => {
    const { log_lifetime, disable_activity_log } = site.log.options;
    site.log.options = { log_lifetime, disable_activity_log } as typeof site.log.options;
    await open();
    await days();
    expect(screen.getAllByRole('switch')).toHaveLength(1);
  });
});
