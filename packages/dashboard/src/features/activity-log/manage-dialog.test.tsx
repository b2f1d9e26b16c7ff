import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { LOG_NOW } from '../../../test/fake-site/activity-log.js';
import { ok, refused } from '../../../test/fake-site/server.js';
import { type FakeSite, gate, startFakeSite } from '../../../test/fake-site/site.js';
import { choose, openLog } from '../../../test/pages/activity-log.js';
import { toastTexts } from '../../../test/pages/open-page.js';

const STATUS = '/get-visitor-status/1';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

async function openDialog(): Promise<HTMLElement> {
  await openLog(site);
  await choose('203.0.113.24', 'Manage IP Traffic');
  return screen.findByRole('dialog', { name: 'Manage IP Traffic' });
}
const closed = () => waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());

describe('Manage IP Traffic', () => {
  it('shows no state and no action before the state is loaded', async () => {
    const held = gate();
    site.replies.set(STATUS, async () => {
      await held.opened;
      return ok({ block: 0 });
    });
    const dialog = await openDialog();
    expect(within(dialog).getByText('Loading')).toBeDefined();
    expect(within(dialog).queryByText(/locked$/)).toBeNull();
    expect(within(dialog).queryByRole('button', { name: 'Block' })).toBeNull();
    held.open();
    expect(await within(dialog).findByText('Not blocked')).toBeDefined();
  });

  it('needs only the field “block”, and shows no other facts then', async () => {
    site.replies.set(STATUS, () => ok({ block: 0 }));
    const dialog = await openDialog();
    await within(dialog).findByText('Not blocked');
    expect(within(dialog).getByText('203.0.113.24')).toBeDefined();
    expect(dialog.querySelector('dl')).toBeNull();
  });

  it('shows all known facts', async () => {
    site.log.status = {
      ...site.log.status,
      hostname: 'host-24.example.net',
      visits_today: 1070,
      visits_hours: [0, 0, 3, 12],
      first_seen: LOG_NOW - 86_400,
      last_seen: LOG_NOW,
    };
    const dialog = await openDialog();
    await within(dialog).findByText('host-24.example.net');
    const facts = Array.from(dialog.querySelectorAll('dl > div'), (fact) => fact.textContent);
    expect(facts).toEqual([
      'Visits, last 24 hours1,070',
      'First seen20 Nov, 14:32',
      expect.stringMatching(/^Last seen.*14:32$/),
    ]);
    expect(dialog.querySelectorAll('.so-spark i')).toHaveLength(4);
  });

  it('loads the state each time it opens', async () => {
    const dialog = await openDialog();
    await within(dialog).findByText('Not blocked');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await closed();
    site.log.status = { ...site.log.status, block: 1 };
    await choose('203.0.113.24', 'Manage IP Traffic');
    expect(await screen.findByRole('button', { name: 'Unblock' })).toBeDefined();
    expect(site.calls(STATUS)).toHaveLength(2);
    expect(site.calls(STATUS)[0]?.method).toBe('GET');
  });

  it('blocks an IPv6 address with its network and says so, or the address alone on request', async () => {
    site.log.status = { ...site.log.status, name: '2001:db8:5:6::7', network: '2001:db8:5:6::/64' };
    let dialog = await openDialog();
    expect(
      await within(dialog).findByText(/its whole network \u20662001:db8:5:6::\/64\u2069 is blocked with it/),
    ).toBeDefined();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Block' }));
    await closed();
    await choose('203.0.113.24', 'Manage IP Traffic');
    dialog = await screen.findByRole('dialog', { name: 'Manage IP Traffic' });
    await userEvent.click(await within(dialog).findByRole('checkbox', { name: /^Block only this address/ }));
    expect(within(dialog).getByText(/^If you block this address, it can’t open/)).toBeDefined();
    expect(within(dialog).queryByText(/whole network/)).toBeNull();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Block' }));
    await closed();
    expect(site.sent('/block-ip/1')).toEqual([{ block: 1 }, { block: 1, single: 1 }]);
  });

  it('offers no single address if there is no network, or for a blocked visitor', async () => {
    const dialog = await openDialog();
    await within(dialog).findByText('Not blocked');
    expect(within(dialog).queryByRole('checkbox')).toBeNull();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await closed();
    site.log.status = { ...site.log.status, block: 1, network: '2001:db8:5:6::/64' };
    await choose('203.0.113.24', 'Manage IP Traffic');
    await screen.findByRole('button', { name: 'Unblock' });
    expect(screen.queryByRole('checkbox')).toBeNull();
  });

  it('blocks, closes, and reloads the list and the counter', async () => {
    const dialog = await openDialog();
    await userEvent.click(await within(dialog).findByRole('button', { name: 'Block' }));
    await closed();
    expect(site.sent('/block-ip/1')).toEqual([{ block: 1 }]);
    await waitFor(() => expect(site.calls('/activity-unknown')).toHaveLength(2));
    await waitFor(() => expect(site.calls('/blocked-users').length).toBeGreaterThan(1));
    expect(toastTexts()).toEqual(['Done.']);
  });

  it('stays open with the reason if blocking was refused', async () => {
    site.replies.set('/block-ip/1', () => refused(400, 'must_not_be_blocked', 'This is your own address.'));
    const dialog = await openDialog();
    await userEvent.click(await within(dialog).findByRole('button', { name: 'Block' }));
    expect((await within(dialog).findByRole('alert')).textContent).toContain('This is your own address.');
    expect(within(dialog).getByRole('button', { name: 'Block' })).toBeDefined();
    expect(site.calls('/activity-unknown')).toHaveLength(1);
  });

  it('says why blocking is not allowed, and offers no action', async () => {
    site.log.status = { ...site.log.status, do_not_block: 1, reason: 'It is a verified search engine.' };
    const dialog = await openDialog();
    expect(await within(dialog).findByText(/It is a verified search engine\./)).toBeDefined();
    expect(within(dialog).queryByRole('button', { name: 'Block' })).toBeNull();
  });

  it('says that only the network is known if addresses are anonymised', async () => {
    site.log.status = { ...site.log.status, name: '203.0.113.0/24' };
    const dialog = await openDialog();
    expect(await within(dialog).findByText(/^Only this network is known/)).toBeDefined();
  });

  it('says that the state could not be loaded, and loads it on request', async () => {
    site.replies.set(STATUS, () => refused(404, 'not_found', 'There is no such visitor.'));
    const dialog = await openDialog();
    expect(await within(dialog).findByText('We couldn’t load the present state.')).toBeDefined();
    expect(within(dialog).queryByRole('button', { name: 'Block' })).toBeNull();
    site.replies.clear();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Try again' }));
    expect(await within(dialog).findByRole('button', { name: 'Block' })).toBeDefined();
  });

  it('returns the focus to the menu of its row', async () => {
    const dialog = await openDialog();
    await within(dialog).findByText('Not blocked');
    await userEvent.keyboard('{Escape}');
    await closed();
    await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Actions for 203.0.113.24'));
  });
});
