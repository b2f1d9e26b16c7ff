import { act, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeSite, startFakeSite } from '../../test/fake-site/site.js';
import { findSwitch, openPage } from '../../test/pages/open-page.js';
import { PAGES } from '../../test/pages/security-dashboard.js';
import '../features/login-settings/away-dialog.js';
import '../features/login-settings/login-access-dialog.js';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});
afterEach(() => void window.history.replaceState(null, '', window.location.pathname));

async function openAt(hash: string, page = 'LOGIN_SETTINGS'): Promise<void> {
  window.history.replaceState(null, '', `#${hash}`);
  await openPage(site, { pages: PAGES }, page);
}

describe('a link with a hash', () => {
  it.each([
    ['login-url', 'Configure Login URL'],
    ['login-access', 'Manage Login Access'],
    ['away-mode', 'Configure Away Mode'],
  ])('#%s opens the dialog %s, once', async (hash, dialog) => {
    await openAt(hash);
    expect(await screen.findByRole('dialog', { name: dialog })).toBeDefined();
    expect(window.location.hash).toBe('');
  });

  it('focuses the switch of a row', async () => {
    await openAt('two-factor');
    const control = await findSwitch('Two-factor Authentication for Admin & Editors Users');
    await waitFor(() => expect(document.activeElement).toBe(control));
  });

  it('focuses a row of Site Security by the name of its endpoint', async () => {
    await openAt('disable-editors', 'SITE_SECURITY');
    const control = await findSwitch('Disable Themes & Plugins Editor');
    await waitFor(() => expect(document.activeElement).toBe(control));
  });

  it('works while the page is open', async () => {
    await openAt('');
    await screen.findByText('Away Mode');
    act(() => {
      window.location.hash = '#away-mode';
    });
    expect(await screen.findByRole('dialog', { name: 'Configure Away Mode' })).toBeDefined();
  });

  it('does nothing for an option that the server does not know', async () => {
    delete (site.login as Partial<typeof site.login>).away_mode;
    await openAt('away-mode');
    await findSwitch('Disable Common Usernames');
    expect(screen.queryByRole('dialog')).toBeNull();
  });
});

describe('the status card', () => {
  it('links to the dashboard', async () => {
    await openPage(site, { pages: PAGES });
    const link = await screen.findByRole('link', { name: /Well protected/ });
    expect(link.getAttribute('href')).toBe('http://example.com/wp-admin/admin.php?page=security-optimizer');
  });
});
