import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../../../test/api-server.js';
import { choose, optionsOf } from '../../../../test/choose.js';
import { type FakeSite, startFakeSite } from '../../../../test/fake-site.js';
import { openLog } from '../../../../test/log-page.js';
import { findSwitch, rowOf } from '../../../../test/open-page.js';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

const open = () => openLog(site, 'log-settings');
const days = () => screen.findByRole('combobox', { name: 'Days to keep' }) as Promise<HTMLButtonElement>;

describe('the log settings', () => {
  it('show the log as on while the option that disables it is off, and switch it so', async () => {
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

  it('go back to the true state when the switch could not be saved, and say which that is', async () => {
    site.replies.set('/manage-activity-log', () => refused(500, 'internal', 'No.'));
    await open();
    const log = await findSwitch('Activity log');
    await userEvent.click(log);
    expect((await rowOf(log).findByRole('alert')).textContent).toContain('The option is still on.');
    expect(log.getAttribute('aria-checked')).toBe('true');
    site.replies.clear();
    await userEvent.click(rowOf(log).getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(log.getAttribute('aria-checked')).toBe('false'));
  });

  it('keep 1 to 12 days, and say that fewer than 8 pause the weekly report', async () => {
    await open();
    const field = await days();
    expect(field.textContent).toBe('12 days');
    expect(await optionsOf(field)).toHaveLength(12);
    await userEvent.keyboard('{Escape}');
    await choose(field, '5 days');
    await waitFor(() => expect(site.sent('/activity-log-lifetime')).toEqual([{ log_lifetime: 5 }]));
    expect(await screen.findByText('Weekly reports are paused.')).toBeDefined();
    await waitFor(() => expect(field.getAttribute('aria-busy')).toBeNull());
    await choose(field, '8 days');
    await waitFor(() => expect(screen.queryByText('Weekly reports are paused.')).toBeNull());
  });

  it('store addresses without their last part from now on', async () => {
    await open();
    await userEvent.click(await findSwitch('Anonymise addresses'));
    await waitFor(() => expect(site.log.options.anonymize_addresses).toBe(1));
  });

  it('leave out what the server does not know', async () => {
    const { log_lifetime, disable_activity_log } = site.log.options;
    site.log.options = { log_lifetime, disable_activity_log } as typeof site.log.options;
    await open();
    await days();
    expect(screen.getAllByRole('switch')).toHaveLength(1);
  });
});
