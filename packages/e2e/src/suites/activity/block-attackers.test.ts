import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Attackers } from '@security-optimizer/contract/activity/attackers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from '../../browser/accessibility.js';
import { openWindow } from '../../browser/chromium.js';
import { watchPage } from '../../browser/page-errors.js';
import { expectNoOverflow } from '../../browser/text-layout.js';
import { logIn } from '../../http/session.js';
import { until } from '../../stacks/until.js';
import { recover } from '../login/helpers.js';
import { ownerSuite, screenshots } from '../login-owner/helpers.js';
import { behindProxy, visitFrom } from './helpers.js';

const DASHBOARD = '/wp-admin/admin.php?page=security-optimizer';
const ACTIVITY_LOG = '/wp-admin/admin.php?page=activity-log';
/** Separate networks, since several attackers of one network share a row. */
const ATTACKER = '2001:db8:91::1';
const SCANNER = '2001:db8:92::1';

ownerSuite('an owner who wants to identify attackers and block them', (owner) => {
  const { stack } = owner;
  behindProxy(stack, { emptyLog: true });

  beforeAll(async () => {
    await recover(stack, 'unblock', '--all');
    await owner.set('/disable-xml-rpc', { disable_xml_rpc: 1 });
    const attack = (n: number) =>
      visitFrom(stack, ATTACKER, `//xmlrpc.php?ten=${n}`, {
        method: 'POST',
        body: '',
        headers: { referer: stack.url },
      });
    await Promise.all(Array.from({ length: 60 }, (_, n) => attack(n)));
    await Promise.all(['/.env', '/.git/config', '/wp-config.php.bak'].map((path) => visitFrom(stack, SCANNER, path)));
    await until('the attacks are counted', async () => {
      const { entries } = (await owner.set('/activity-attackers', {})) as Attackers;
      return entries.some(({ address, attempts }) => address === ATTACKER && attempts >= 60);
    });
  });
  afterAll(async () => {
    await recover(stack, 'unblock', '--all');
  });

  /** Number of clicks, and the time of each step, milliseconds from the start. */
  const walk = (page: Page) => {
    const startedAt = Date.now();
    const steps: { readonly step: string; readonly ms: number }[] = [];
    let clicks = 0;
    return {
      steps,
      clicks: () => clicks,
      async click(target: ReturnType<Page['locator']>) {
        clicks++;
        await target.click();
      },
      async step(step: string, picture: string) {
        steps.push({ step, ms: Date.now() - startedAt });
        await page.screenshot({ path: join(screenshots, `block-attackers-${picture}.png`) });
      },
    };
  };

  it('blocks an attacker from the dashboard in two clicks, and unblocks it with one', async () => {
    const { page } = owner;
    const watched = watchPage(page, stack.url);
    const { steps, clicks, click, step } = walk(page);
    await page.goto(`${stack.url}${DASHBOARD}`);
    const panel = page.getByRole('region', { name: 'Who is attacking' });
    const row = panel.getByRole('listitem').filter({ hasText: ATTACKER });
    await row.getByText('Guesses passwords').waitFor();
    await panel.getByText(/None of them logged in|logins? succeeded/).waitFor();
    await step('who attacks, what they want, and whether they got in is seen', '1-seen');

    await click(row.getByRole('button', { name: `Block ${ATTACKER}`, exact: true }));
    const popover = page.getByRole('dialog', { name: `Block ${ATTACKER}`, exact: true });
    await popover.getByRole('radio', { name: '24 hours', checked: true }).waitFor();
    await step('for how long is asked', '2-asked');
    await click(popover.getByRole('button', { name: 'Block for 24 hours' }));
    await popover.waitFor({ state: 'detached' });
    await row.getByText(/^Until /).waitFor();
    await step('the row says that it is blocked', '3-blocked');
    expect(clicks()).toBeLessThanOrEqual(3);
    expect((await visitFrom(stack, ATTACKER, '/')).status).toBe(403);
    writeFileSync(join(screenshots, 'block-attackers.json'), `${JSON.stringify(steps, null, 2)}\n`);

    await page.getByRole('button', { name: 'Undo' }).click();
    await row.getByRole('button', { name: `Block ${ATTACKER}`, exact: true }).waitFor();
    expect((await visitFrom(stack, ATTACKER, '/')).status).toBe(200);
    await expectAccessible(page);
    expect(watched.stop()).toEqual([]);
  });

  it('reads in the log why a visitor was refused, and blocks from there; a reload keeps the filter', async () => {
    const { page } = owner;
    await page.goto('about:blank');
    await page.goto(`${stack.url}${ACTIVITY_LOG}`);
    const panel = page.getByRole('region', { name: 'Who is attacking' });
    await panel.getByRole('button', { name: `Show only ${SCANNER}` }).click();
    await page.getByRole('button', { name: `Remove filter IP address: ${SCANNER}` }).waitFor();
    expect(decodeURIComponent(page.url())).toContain(SCANNER);
    await page.reload();
    await page.getByRole('button', { name: `Remove filter IP address: ${SCANNER}` }).waitFor();
    const rows = page.getByRole('table', { name: 'Unknown Visitors Activity' }).locator('tbody tr');
    await until('only this visitor is shown', async () => (await rows.count()) === 3);
    await rows.filter({ hasText: '/.env' }).locator('.so-td-time').click();
    const drawer = page.getByRole('dialog', { name: /^Request/ });
    await drawer.getByText('Reference').waitFor();
    await drawer.getByText(`${stack.url}/.env`).waitFor();
    await expectAccessible(page);
    await page.screenshot({ path: join(screenshots, 'request-drawer.png') });
    await drawer.getByRole('button', { name: 'Block for 24 hours' }).click();
    await drawer.getByText(/^Blocked until/).waitFor();
    expect((await visitFrom(stack, SCANNER, '/')).status).toBe(403);
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await until('each row says so', async () => (await rows.getByText(/^Blocked until/).count()) === 3);
  });

  it('can do the same on a phone, where nothing is wider than the window', async () => {
    const context = await openWindow(owner.browser, stack, await logIn(stack), {
      viewport: { width: 390, height: 844 },
    });
    const page = await context.newPage();
    for (const path of [DASHBOARD, ACTIVITY_LOG]) {
      await page.goto(`${stack.url}${path}`);
      await page.getByRole('region', { name: 'Who is attacking' }).getByText(ATTACKER).waitFor();
      await expectNoOverflow(page);
      await expectAccessible(page);
    }
    await page.screenshot({ path: join(screenshots, 'attackers-phone.png'), fullPage: true });
    const block = page.getByRole('button', { name: `Block ${ATTACKER}`, exact: true });
    await block.scrollIntoViewIfNeeded();
    const getScroll = () => page.evaluate(() => window.scrollY);
    const scroll = await getScroll();
    expect(scroll).toBeGreaterThan(0);
    await block.click();
    const sheet = page.getByRole('dialog', { name: `Block ${ATTACKER}`, exact: true });
    await sheet.waitFor();
    await expectNoOverflow(page);
    await expectAccessible(page);
    await page.screenshot({ path: join(screenshots, 'block-phone.png') });
    // The page stays where it was, also after the sheet.
    expect(await getScroll()).toBe(scroll);
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    expect(await getScroll()).toBe(scroll);
    await context.close();
  });
});
