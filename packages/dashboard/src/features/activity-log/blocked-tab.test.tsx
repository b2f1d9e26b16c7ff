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

const unblock = async (name: string) => userEvent.click(await screen.findByRole('button', { name: `Unblock ${name}` }));

describe('the tab Blocked', () => {
  it('shows since when visitors are blocked, and until when addresses are locked out', async () => {
    await openLog(site, 'blocked');
    expect(await tableTexts('Blocked')).toEqual([
      ['User or IP', 'Type', 'Blocked on', 'Actions'],
      ['203.0.113.24', 'IP address', '21 Nov, 14:32By owner', 'Unblock'],
      ['customer-31', 'User', '20 Nov, 09:17By editor-1“Wrote to them on Monday”', 'Unblock'],
      ['2001:db8:77::9', 'IP address', '18 Nov, 22:41By failed logins, until 22 Nov, 22:41Make permanent', 'Unblock'],
    ]);
    expect(screen.getByText('They are kept out until the time shown, or until you unblock them.')).toBeDefined();
  });

  it('ends a block of an address, a block of a user and a lockout, each by its endpoint', async () => {
    await openLog(site, 'blocked');
    await unblock('203.0.113.24');
    await unblock('customer-31');
    await unblock('2001:db8:77::9');
    await waitFor(() => expect(site.sent('/login-unblock')).toEqual([{ ip: '2001:db8:77::9', block: 0 }]));
    expect(site.sent('/block-ip/1')).toEqual([{ block: 0 }]);
    expect(site.sent('/block-user/31')).toEqual([{ block: 0 }]);
    expect(await screen.findByText('Nobody is blocked at the moment.')).toBeDefined();
  });

  it('fades out the row, reloads the list and the counter, and focuses the next row', async () => {
    await openLog(site, 'blocked');
    await unblock('customer-31');
    await waitFor(() => expect(document.querySelector('tr.is-leaving')?.textContent).toContain('customer-31'));
    const next = (): HTMLElement => screen.getByRole('button', { name: 'Unblock 2001:db8:77::9' });
    await waitFor(() => expect(document.activeElement).toBe(next()));
    await waitFor(() => expect(screen.queryByText('customer-31')).toBeNull());
    expect(document.activeElement).toBe(next());
    await waitFor(() => expect(screen.queryByText('customer-31')).toBeNull());
    expect(await screen.findByRole('tab', { name: 'Blocked 2' })).toBeDefined();
  });

  it('focuses the previous row after the last one, and the heading if no row is left', async () => {
    await openLog(site, 'blocked');
    await unblock('2001:db8:77::9');
    await waitFor(() =>
      expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Unblock customer-31' })),
    );
    await unblock('customer-31');
    await unblock('203.0.113.24');
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Blocked' })));
  });

  it('makes a lockout permanent by its address', async () => {
    await openLog(site, 'blocked');
    await userEvent.click(await screen.findByRole('button', { name: 'Make permanent: 2001:db8:77::9' }));
    await waitFor(() => expect(site.sent('/block-addresses')).toEqual([{ address: '2001:db8:77::9', duration: 0 }]));
    await waitFor(() => expect(toastTexts()).toEqual(['\u20662001:db8:77::9\u2069, until you unblock it']));
  });

  it('offers to undo unblocking, with the note and the remaining time', async () => {
    await openLog(site, 'blocked');
    await unblock('customer-31');
    await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() =>
      expect(site.sent('/block-user/31')).toEqual([
        { block: 0 },
        { block: 1, duration: 0, note: 'Wrote to them on Monday' },
      ]),
    );
  });

  it('shows an error if an address can’t be blocked again', async () => {
    await openLog(site, 'blocked');
    await unblock('203.0.113.24');
    const undo = await screen.findByRole('button', { name: 'Undo' });
    site.replies.set('/block-ip/1', () => refused(500, 'internal', 'The disk is full.'));
    await userEvent.click(undo);
    await waitFor(() => expect(toastTexts()).toContain('The disk is full.'));
  });

  it('shows in the row that the visitor is still blocked if unblocking failed', async () => {
    site.replies.set('/block-ip/1', () => refused(500, 'internal', 'No.'));
    await openLog(site, 'blocked');
    await unblock('203.0.113.24');
    expect((await screen.findByText('Still blocked. Try again.')).closest('tr')?.textContent).toContain('203.0.113.24');
    await waitFor(() => expect(toastTexts()).toEqual(['No.']));
    site.replies.clear();
    await unblock('203.0.113.24');
    await waitFor(() => expect(site.sent('/block-ip/1')).toHaveLength(2));
  });

  it('blocks an address or a range by its text', async () => {
    await openLog(site, 'blocked');
    const field = await screen.findByRole('textbox', { name: 'Block an IP address or range' });
    await userEvent.type(field, ' 198.51.100.0/24 {Enter}');
    await waitFor(() => expect(site.sent('/block-addresses')).toEqual([{ address: '198.51.100.0/24' }]));
    await waitFor(() => expect((field as HTMLInputElement).value).toBe(''));
    await waitFor(() => expect(site.sent('/blocked-users').filter(({ page }) => page === 1)).toHaveLength(2));
    expect(field.getAttribute('aria-invalid')).toBeNull();
  });

  it('shows an error for an invalid address half a second after typing, and requires one on submit', async () => {
    await openLog(site, 'blocked');
    const field = await screen.findByRole('textbox', { name: 'Block an IP address or range' });
    await userEvent.click(screen.getByRole('button', { name: 'Block' }));
    expect((await within(screen.getByRole('tabpanel')).findByRole('alert')).textContent).toBe(
      'This field is required.',
    );
    await userEvent.type(field, '198.51.100.300');
    await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('Invalid format. Check “198.51.100.300”.'));
    expect(site.calls('/block-addresses')).toHaveLength(0);
  });

  it('asks before a range of nearly all clients is blocked', async () => {
    site.replies.set('/block-addresses', () => refused(409, 'means_everybody', 'This would block everybody.'));
    await openLog(site, 'blocked');
    await userEvent.type(await screen.findByRole('textbox'), '0.0.0.0/0{Enter}');
    const question = await screen.findByRole('alertdialog', { name: 'Block everybody?' });
    site.replies.clear();
    await userEvent.click(within(question).getByRole('button', { name: 'Block everybody' }));
    await waitFor(() =>
      expect(site.sent('/block-addresses')).toEqual([
        { address: '0.0.0.0/0' },
        { address: '0.0.0.0/0', confirm: true },
      ]),
    );
  });

  it('says why blocking an address was refused', async () => {
    site.replies.set('/block-addresses', () =>
      refused(400, 'must_not_be_blocked', 'This range holds your own address.'),
    );
    await openLog(site, 'blocked');
    await userEvent.type(await screen.findByRole('textbox'), '203.0.113.0/24{Enter}');
    expect((await within(screen.getByRole('tabpanel')).findByRole('alert')).textContent).toContain(
      'This range holds your own address.',
    );
  });
});
