import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { refused } from '../../../test/fake-site/server.js';
import { type FakeSite, startFakeSite } from '../../../test/fake-site/site.js';
import { choose, openFilter, openLog } from '../../../test/pages/activity-log.js';
import { toastTexts } from '../../../test/pages/open-page.js';

const TABLE = 'Unknown Visitors Activity';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});
afterEach(() => void vi.restoreAllMocks());

describe('the filter panel', () => {
  it('applies the choices, shows them as chips and counts them', async () => {
    await openLog(site);
    const panel = await openFilter();
    await userEvent.click(within(panel).getByRole('combobox', { name: 'Visitor' }));
    await userEvent.click(within(panel).getByRole('option', { name: 'Human' }));
    await userEvent.type(within(panel).getByRole('combobox', { name: 'IP address' }), ' 203.0.113.0/24');
    await userEvent.click(within(panel).getByRole('button', { name: 'Apply' }));
    await screen.findByRole('button', { name: 'Remove filter Visitor: Human' });
    expect(site.sent('/activity-unknown').pop()).toEqual({
      page: 1,
      filters: [
        { wp_name: 'type', children: [{ id: 'type', selectedValue: 'Human' }] },
        { wp_name: 'ip', children: [{ id: 'ip', selectedValue: '203.0.113.0/24' }] },
      ],
    });
    expect(screen.getByRole('button', { name: 'Filter 2' })).toBe(document.activeElement);
    await userEvent.click(screen.getByRole('button', { name: 'Clear all' }));
    await waitFor(() => expect(site.sent('/activity-unknown').pop()).toEqual({ page: 1, filters: [] }));
  });

  it('names the filter of a row in the owner’s language', async () => {
    await openLog(site, 'unknown', { locale: JSON.stringify({ '': {}, 'IP address': ['IP-Adresse'] }) });
    await choose('198.51.100.140', 'View activity');
    await waitFor(() => expect(document.querySelector('.so-chip')?.textContent).toBe('IP-Adresse:198.51.100.140'));
  });

  it('selects days of the site, and clears a To before the new From', async () => {
    site.login.away_mode.timezone = 'Europe/Sofia';
    vi.spyOn(Date, 'now').mockReturnValue(1_795_271_528_000);
    await openLog(site);
    const panel = await openFilter();
    await waitFor(() => expect(site.calls('/fetch-options').length).toBeGreaterThan(2));
    const pick = async (label: string, day: RegExp) => {
      await userEvent.click(within(panel).getByRole('combobox', { name: label }));
      await userEvent.click(within(panel).getByRole('button', { name: day }));
    };
    await pick('From', /18 November/);
    await pick('To', /19 November/);
    await pick('From', /20 November/);
    expect((within(panel).getByRole('combobox', { name: 'To' }) as HTMLInputElement).value).toBe('');
    await userEvent.click(within(panel).getByRole('button', { name: 'Apply' }));
    await screen.findByRole('button', { name: 'Remove filter Since: 20 Nov 2026' });
    // Midnight at the site, two hours before midnight UTC.
    expect(site.sent('/activity-unknown').pop()?.filters).toEqual([
      { wp_name: 'date', children: [{ id: 'from', selectedValue: Date.UTC(2026, 10, 19, 22) / 1000 }] },
    ]);
  });

  it('searches options on the server, and says if there is none', async () => {
    await openLog(site);
    const panel = await openFilter();
    const field = within(panel).getByRole('combobox', { name: 'Visitor' });
    await userEvent.type(field, 'gpt');
    await userEvent.click(await within(panel).findByRole('option', { name: 'GPTBot' }));
    expect(site.sent('/activity-options')).toEqual([{ list: 'unknown', filter: 'type', search: 'gpt' }]);
    expect((field as HTMLInputElement).value).toBe('GPTBot');
    await userEvent.type(field, 'zzz');
    expect(await within(panel).findByText('Nothing was found')).toBeDefined();
  });

  it('searches the known options if the server lacks the endpoint', async () => {
    site.replies.set('/activity-options', () => refused(404, 'not_found', 'No such call.'));
    await openLog(site);
    const panel = await openFilter();
    await userEvent.type(within(panel).getByRole('combobox', { name: 'Visitor' }), 'goog');
    await waitFor(() => expect(site.calls('/activity-options')).toHaveLength(1));
    expect(
      within(panel)
        .getAllByRole('option')
        .map(({ textContent }) => textContent),
    ).toEqual(['Googlebot']);
    expect(toastTexts()).toEqual([]);
  });

  it('refuses an address with invalid characters half a second after typing', async () => {
    await openLog(site);
    const panel = await openFilter();
    const field = within(panel).getByRole('combobox', { name: 'IP address' });
    await userEvent.type(field, '203.0.113.x');
    expect(field.getAttribute('aria-invalid')).toBeNull();
    expect((await within(panel).findByRole('alert')).textContent).toBe('Invalid format. Check “203.0.113.x”.');
    expect(field.getAttribute('aria-invalid')).toBe('true');
    await userEvent.click(within(panel).getByRole('button', { name: 'Apply' }));
    await waitFor(() => expect(document.activeElement).toBe(field));
    expect(site.calls('/activity-unknown')).toHaveLength(1);
  });

  it('closes on Escape and on a click outside, and restores the focus', async () => {
    await openLog(site);
    await openFilter();
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Filter' })).toBeNull());
    expect(screen.getByRole('button', { name: /^Filter/ })).toBe(document.activeElement);
    await openFilter();
    await userEvent.click(screen.getByRole('heading', { name: TABLE }));
    await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Filter' })).toBeNull());
  });
});
