import { type SecurityOptions, siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import type { Response } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectFocus, pressOn } from '../../browser/keyboard.js';
import { form, sendRequest } from '../../http/request.js';
import { until } from '../../stacks/until.js';
import { expectLayout, ownerSuite } from '../login-owner/helpers.js';
import { resetOwnerPrompts } from './helpers.js';

const DASHBOARD = '/wp-admin/admin.php?page=security-optimizer';
const REVIEW = 'https://example.com/review';
const CONSENT = 'Get the Most of This Plugin';

ownerSuite('the Security Dashboard', (owner) => {
  const security = async () => (await owner.set('/fetch-options', { page: 'security' })) as SecurityOptions;
  const open = async () => {
    await owner.page.goto(`${owner.stack.url}${DASHBOARD}`);
    await owner.page.getByRole('img', { name: /essentials on/, includeHidden: true }).waitFor();
  };

  beforeAll(async () => {
    await resetOwnerPrompts(owner.stack, REVIEW);
    // A change sends WordPress the complete state, including the consent.
    await owner.set('/disable-feeds', { disable_feed: 1 });
    // Independent of other suites: two essentials of Site Security are off, and Login Security has its defaults.
    const off = new Set(['disable_feed', 'disable_xml_rpc', 'delete_readme']);
    for (const { field, suffix } of siteSecurityToggles) await owner.set(suffix, { [field]: off.has(field) ? 0 : 1 });
    await owner.set('/limit-login-attempts', { login_attempts: 5 });
    await owner.set('/disable-admin-username', { disable_usernames: 1 });
  });
  afterAll(async () => {
    await owner.set('/disable-feeds', { disable_feed: 0 });
    await owner.set('/disable-xml-rpc', { disable_xml_rpc: 1 });
  });

  it('asks for consent first, by keyboard alone, and never again after an answer', async () => {
    await open();
    const { page } = owner;
    const dialog = await owner.dialog(CONSENT);
    await expectLayout(page, 'dashboard-consent', '.so-portal');
    await page.keyboard.press('Escape');
    expect(await dialog.isVisible()).toBe(true);
    await expectFocus(dialog.getByRole('checkbox', { name: 'Share technical data' }));
    await page.keyboard.press('Space');
    await pressOn(page, dialog.getByRole('button', { name: 'Confirm' }), 'Enter');
    await dialog.waitFor({ state: 'detached' });
    await open();
    await page.getByRole('table').first().waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('shows the score, the next steps, the cards and real activity of the site', async () => {
    const seen = `/seen-on-the-dashboard-${Date.now()}`;
    await sendRequest(owner.stack, {
      target: seen,
      headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0' },
    });
    const { page } = owner;
    await until('the visit is in the list', async () => {
      await open();
      await page.getByRole('table', { name: 'Unknown Visitors Activity' }).waitFor();
      return (await page.getByRole('cell').filter({ hasText: seen }).count()) > 0;
    });
    const names = await page.getByRole('heading', { level: 2 }).allTextContents();
    expect(names.slice(1)).toEqual([
      expect.stringMatching(/^Next steps/),
      ...names.filter((name) => name === 'Important Notifications'),
      ...names.filter((name) => name === 'Who is attacking'),
      'Security Hardening',
      'Rate Us',
      'Recent Activity',
    ]);
    expect(await page.getByText('4 of 6 on').isVisible()).toBe(true);
    expect(await page.getByRole('columnheader', { name: 'Actions' }).count()).toBe(0);
    await expectLayout(page, 'dashboard');
  });

  it('sends each preloaded request once, before its own scripts, and renders the responses', async () => {
    const { page } = owner;
    owner.calls.length = 0;
    await open();
    await page.getByRole('table').first().waitFor();
    const preloaded = await page.evaluate(() => {
      const { securityOptimizerPreloaded } = window as unknown as {
        securityOptimizerPreloaded: { requests: { suffix: string }[] };
      };
      return securityOptimizerPreloaded.requests.map(({ suffix }) => suffix);
    });
    expect(preloaded).toContain('/notifications');
    for (const suffix of preloaded) {
      const times = suffix === '/fetch-options' ? 2 : 1;
      expect([suffix, owner.calls.filter((call) => call === suffix).length]).toEqual([suffix, times]);
    }
  });

  it('shows the same error when a preloaded request fails, and reads the data on retry', async () => {
    const { page } = owner;
    const calls = '**/security-optimizer/v1/fetch-options';
    await page.route(calls, (route) => route.abort());
    await page.goto(`${owner.stack.url}${DASHBOARD}`);
    await page.getByText('We couldn’t read the settings, so we can’t say how safe this site is.').waitFor();
    await page.getByText('An error occurred. Please try again later').first().waitFor();
    await page.unroute(calls);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByRole('img', { name: /essentials on/, includeHidden: true }).waitFor();
  });

  it('repeats preloaded requests once when the nonce of the page has expired', async () => {
    const { page } = owner;
    const isPage = (url: URL) => url.pathname.endsWith('/admin.php');
    let nonces = 0;
    await page.route(isPage, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/(wp_nonce&quot;:&quot;)\w+/g, (_all, name) => {
        nonces++;
        return `${name}0123456789`;
      });
      await route.fulfill({ response, body });
    });
    const refused: string[] = [];
    const note = (response: Response) => {
      if (response.status() === 403) refused.push(`${response.url()} ${response.request().postData()}`);
    };
    page.on('response', note);
    await open();
    await page.getByRole('table').first().waitFor();
    page.off('response', note);
    await page.unroute(isPage);
    // In the loader's configuration and in the container's.
    expect(nonces).toBe(2);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused).toEqual([...new Set(refused)]);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('removes "Rate Us" permanently', async () => {
    const { page } = owner;
    await open();
    expect(await page.getByRole('link', { name: /Write a review/ }).getAttribute('href')).toBe(REVIEW);
    await pressOn(page, owner.button('Dismiss and don’t ask again'), 'Enter');
    await page.getByRole('heading', { name: 'Rate Us' }).waitFor({ state: 'detached' });
    await open();
    await page.getByRole('table').first().waitFor();
    expect(await page.getByRole('heading', { name: 'Rate Us' }).count()).toBe(0);
  });

  it('applies the selected changes one after another, and each takes effect', async () => {
    const { page, stack } = owner;
    const xmlRpc = () => sendRequest(stack, form('/xmlrpc.php', '<methodCall/>'));
    const feed = () => sendRequest(stack, { target: '/feed/' });
    expect((await xmlRpc()).status).not.toBe(403);
    expect((await feed()).status).toBe(200);
    await open();
    await pressOn(page, owner.button('Apply all recommended'), 'Enter');
    const dialog = await owner.dialog('Apply all recommended');
    await expectLayout(page, 'dashboard-apply', '.so-portal');
    for (const name of ['Two-factor Authentication', 'Custom Login URL']) {
      const box = dialog.getByRole('checkbox', { name, exact: true });
      if ((await box.count()) > 0) await pressOn(page, box, 'Space');
    }
    await pressOn(page, dialog.getByRole('button', { name: 'Apply 2 changes' }), 'Enter');
    await dialog.getByText('2 changes are made.').waitFor();
    expect(await security()).toMatchObject({ disable_feed: 1, disable_xml_rpc: 1 });
    expect((await xmlRpc()).status).toBe(403);
    expect((await feed()).status).toBe(404);
    await pressOn(page, dialog.getByRole('button', { name: 'Close', exact: true }).last(), 'Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('6 of 6 on').waitFor();
  });
});
