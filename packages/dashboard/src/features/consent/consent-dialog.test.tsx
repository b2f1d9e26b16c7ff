import { technicalDataFields } from '@security-optimizer/contract/overview/technical-data';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../../test/fake-site/server.js';
import { type FakeSite, startFakeSite } from '../../../test/fake-site/site.js';
import { findSwitch, openPage } from '../../../test/pages/open-page.js';
import { PAGES } from '../../../test/pages/security-dashboard.js';

const TITLE = 'Get the Most of This Plugin';
const PATH = '/wp-json/provider-settings/v1/update-settings';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

async function open(show_data_field: 0 | 1, show_email_field: 0 | 1, page = 'SITE_SECURITY'): Promise<HTMLElement> {
  await openPage(site, { pages: PAGES, data_consent_popup: { show_data_field, show_email_field } }, page);
  return screen.findByRole('dialog', { name: TITLE });
}

describe('the consent dialog', () => {
  it('does not open if no question is open', async () => {
    await openPage(site, { data_consent_popup: { show_data_field: 0, show_email_field: 0 } });
    await findSwitch('Disable XML-RPC');
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it.each(['SITE_SECURITY', 'LOGIN_SETTINGS', 'SECURITY_DASHBOARD'])('opens automatically on %s', async (page) => {
    const dialog = await open(1, 1, page);
    const boxes = within(dialog).getAllByRole<HTMLInputElement>('checkbox');
    expect(boxes.map(({ checked }) => checked)).toEqual([false, false]);
  });

  it.each([
    [1, 0, 'Share technical data'],
    [0, 1, 'Get occasional e-mails'],
  ] as const)('asks only the open questions (%i, %i)', async (data, email, name) => {
    const dialog = await open(data, email);
    expect(within(dialog).getAllByRole('checkbox')).toHaveLength(1);
    expect(within(dialog).getByRole('checkbox', { name })).toBeDefined();
  });

  it('closes only by Confirm', async () => {
    const dialog = await open(1, 1);
    expect(
      within(dialog)
        .getAllByRole('button')
        .map(({ textContent }) => textContent),
    ).toEqual(['See the full list', 'Confirm']);
    await userEvent.keyboard('{Escape}');
    await userEvent.click(document.querySelector('.so-scrim') as Element);
    expect(screen.getByRole('dialog', { name: TITLE })).toBeDefined();
  });

  it('has the full list of technical data', async () => {
    const dialog = await open(1, 0);
    const list = () => within(dialog).queryAllByRole('listitem');
    expect(list()).toEqual([]);
    await userEvent.click(within(dialog).getByRole('button', { name: 'See the full list' }));
    expect(list().map(({ textContent }) => textContent)).toEqual(technicalDataFields.map(({ text }) => text));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Hide the full list' }));
    expect(list()).toEqual([]);
  });

  it('saves the answers by PUT to the shared settings API, and closes', async () => {
    const dialog = await open(1, 1);
    await userEvent.click(within(dialog).getByRole('checkbox', { name: 'Get occasional e-mails' }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Confirm' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    const [call] = site.server.calls.filter(({ url }) => url === PATH);
    expect(call?.method).toBe('PUT');
    expect(JSON.parse(call?.body ?? '')).toEqual({
      siteground_settings_security: 1,
      siteground_data_consent: 0,
      siteground_email_consent: 1,
    });
  });

  it('sends only the answers to the questions that were asked', async () => {
    const dialog = await open(1, 0);
    await userEvent.click(within(dialog).getByRole('button', { name: 'Confirm' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(site.overview.consent).toEqual({ siteground_settings_security: 1, siteground_data_consent: 0 });
  });

  it('stays open with the reason if saving failed', async () => {
    const dialog = await open(1, 1);
    site.replies.set('/update-settings', () => refused(503, 'busy', 'WordPress does not answer.'));
    await userEvent.click(within(dialog).getByRole('checkbox', { name: 'Share technical data' }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Confirm' }));
    expect((await within(dialog).findByRole('alert')).textContent).toContain('WordPress does not answer.');
    expect(within(dialog).getByRole<HTMLInputElement>('checkbox', { name: 'Share technical data' }).checked).toBe(true);
    site.replies.clear();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Confirm' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });
});
