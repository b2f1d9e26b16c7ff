import { text } from 'node:stream/consumers';
import type { UnknownRow } from '@security-optimizer/contract/activity/schemas';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from '../../browser/accessibility.js';
import { expectFocus, pressOn, tabTo, typeAnew } from '../../browser/keyboard.js';
import { watchPage } from '../../browser/page-errors.js';
import { expectNoOverflow } from '../../browser/text-layout.js';
import { authorised, callApi, logIn } from '../../http/session.js';
import { until } from '../../stacks/until.js';
import { recover } from '../login/helpers.js';
import { expectLayout, ownerSuite } from '../login-owner/helpers.js';
import { behindProxy, visitFrom } from './helpers.js';

const ACTIVITY_LOG = '/wp-admin/admin.php?page=activity-log';
const VISITOR = '203.0.113.71';
const CROWD = '203.0.113.72';
const NEIGHBOUR = '198.51.100.74';
const RANGE = '198.51.100.64/28';
const HOSTILE = '/?q=<img/src=x/onerror=document.title=1>';
const LONG = `/?long=${'abcdefghij'.repeat(30)}`;

ownerSuite('the Activity Log page', (owner) => {
  const { stack } = owner;
  behindProxy(stack);

  const visit = (from: string, target: string, more?: Parameters<typeof visitFrom>[3]) =>
    visitFrom(stack, from, target, more);
  const refused = (from: string, mark: string) => visit(from, `//xmlrpc.php?${mark}`, { method: 'POST', body: '' });
  const seen = (ip: string, count: number) =>
    until(`${count} visits of ${ip} are stored`, async () => {
      const filters = [{ wp_name: 'ip', children: [{ id: 'ip', selectedValue: ip }] }];
      const { entries } = (await owner.set('/activity-unknown', { filters })) as { entries: UnknownRow[] };
      return entries.length >= count;
    });

  const open = async (hash: string, page: Page = owner.page) => {
    // From another page, so that the URL with its hash is really loaded.
    await page.goto('about:blank');
    await page.goto(`${stack.url}${ACTIVITY_LOG}${hash}`);
    await page.getByRole('tab', { selected: true }).waitFor();
  };
  const list = (name: 'Unknown Visitors' | 'Registered Users', page: Page = owner.page) =>
    page.getByRole('table', { name: `${name} Activity` }).locator('tbody tr');
  const count = (rows: Locator, total: number) =>
    until(`${total} rows are shown`, async () => (await rows.count()) === total);
  const tab = (name: RegExp) => owner.page.getByRole('tab', { name });
  /** Filters the open list by a typed text, by keyboard alone. */
  const filter = async (field: string, text: string, then: 'Apply' | 'Stay' = 'Apply') => {
    const { page } = owner;
    const panel = page.getByRole('dialog', { name: 'Filter' });
    if (!(await panel.isVisible())) await pressOn(page, page.getByRole('button', { name: /^Filter/ }), 'Enter');
    await tabTo(page, panel.getByRole('combobox', { name: field }));
    await typeAnew(page, text);
    if (field !== 'IP address') {
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
    }
    await pressOn(page, panel.getByRole('button', { name: 'Apply' }), 'Enter');
    if (then === 'Apply') await panel.waitFor({ state: 'detached' });
    return panel;
  };
  /** Opens the dialog of an address from the menu of its first row, by keyboard alone. */
  const manage = async (ip: string) => {
    const { page } = owner;
    await pressOn(page, page.getByRole('button', { name: `Actions for ${ip}` }).first(), 'Enter');
    const entry = page.getByRole('menuitem', { name: 'Manage IP Traffic' });
    await expectFocus(page.locator('.so-menu').getByRole('menuitem').first());
    // The item that blocks or unblocks comes before it if there is one.
    if (!(await entry.evaluate((item) => item === document.activeElement))) await page.keyboard.press('ArrowDown');
    await expectFocus(entry);
    await page.keyboard.press('Enter');
    return owner.dialog('Manage IP Traffic');
  };

  beforeAll(async () => {
    await recover(stack, 'unblock', '--all');
    await owner.set('/disable-xml-rpc', { disable_xml_rpc: 1 });
    await Promise.all(Array.from({ length: 35 }, (_, index) => refused(CROWD, `n=${index}`)));
    await visit(NEIGHBOUR, '/?neighbour');
    await visit(VISITOR, HOSTILE, { agent: '<script>document.title=2</script>' });
    await visit(VISITOR, LONG, { agent: null });
    await visit(VISITOR, '/nothing-here/');
    await refused(VISITOR, 'last');
    await Promise.all([seen(CROWD, 30), seen(NEIGHBOUR, 1), seen(VISITOR, 4)]);
  });
  afterAll(async () => {
    await recover(stack, 'unblock', '--all');
    await owner.set('/manage-activity-log', { disable_activity_log: 0 });
    await owner.set('/activity-log-lifetime', { log_lifetime: 12 });
  });

  it('filters by address and response, reports invalid addresses, and shows input of anonymous visitors as text', async () => {
    const { page } = owner;
    const watched = watchPage(page, stack.url);
    await open('');
    const rows = list('Unknown Visitors');
    await rows.first().waitFor();
    const panel = await filter('IP address', 'not an address', 'Stay');
    await panel.getByText('Invalid format.').waitFor();
    await filter('IP address', VISITOR);
    await count(rows, 4);
    await page.getByRole('button', { name: `Remove filter IP address: ${VISITOR}` }).waitFor();
    const cells = (part: string) => rows.locator(`.so-td-${part}`).allTextContents();
    expect(await cells('page')).toEqual(['//xmlrpc.php?last XML-RPC is off', '/nothing-here/', LONG, HOSTILE]);
    expect(await cells('status')).toEqual(['403 Blocked', '404', '200', '200']);
    expect((await cells('who')).slice(0, 3)).toEqual(['Human', 'Human', 'Unknown']);
    expect(await rows.locator('img, script').count()).toBe(0);
    expect(await page.title()).toContain('Activity Log');

    await filter('Response', '404');
    await count(rows, 1);
    await page.getByRole('button', { name: 'Remove filter Response: 404' }).click();
    await count(rows, 4);
    expect(watched.stop()).toEqual([]);
  });

  it('has the right layout on desktop, tablet and phone, where a long path takes two lines and a tap shows all of it', async () => {
    const { page } = owner;
    await expectLayout(page, 'activity-log');
    for (const width of [801, 961, 1011, 1141, 1321]) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoOverflow(page);
      const wrap = page.locator('.so-tablewrap').first();
      expect(await wrap.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    }
    await page.setViewportSize({ width: 390, height: 900 });
    const path = page.locator('.so-path', { hasText: LONG });
    expect((await path.boundingBox())?.height).toBe(40);
    await path.dispatchEvent('touchstart');
    await until('all of it is shown', async () => (await page.getByRole('tooltip').textContent()) === LONG);
    await expectNoOverflow(page);
    await path.dispatchEvent('touchend');
    await page.getByRole('tooltip').waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('loads more rows of a list, and exports all of them as a file', async () => {
    const { page } = owner;
    await open('');
    const rows = list('Unknown Visitors');
    await rows.first().waitFor();
    await filter('IP address', CROWD);
    await count(rows, 30);
    await page.getByText('Page 1 of 2').waitFor();
    await pressOn(page, owner.button('Load More'), 'Enter');
    await count(rows, 35);
    await expectFocus(rows.nth(30));
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      (async () => {
        await pressOn(page, owner.button('Export'), 'Enter', 'Shift+Tab');
        await page.getByRole('menuitem', { name: 'Export as CSV' }).press('Enter');
      })(),
    ]);
    expect(file.suggestedFilename()).toMatch(/\.csv$/);
    const lines = (await text(await file.createReadStream())).trim().split('\n');
    expect(lines.filter((line) => line.includes('xmlrpc.php?n=') && line.includes(CROWD))).toHaveLength(35);
    expect(lines).toHaveLength(36);
  });

  it('blocks an address by keyboard, counts it on the tab, and unblocks it', async () => {
    const { page } = owner;
    await open('');
    const rows = list('Unknown Visitors');
    await rows.first().waitFor();
    await filter('IP address', VISITOR);
    await count(rows, 4);
    const dialog = await manage(VISITOR);
    await dialog.getByText('Not blocked').waitFor();
    await expectAccessible(page, '.so-dialog');
    await pressOn(page, dialog.getByRole('button', { name: 'Block', exact: true }), 'Enter');
    await dialog.waitFor({ state: 'detached' });
    expect((await visit(VISITOR, '/')).status).toBe(403);

    await tab(/^Blocked 1$/).click();
    await pressOn(page, owner.button(`Unblock ${VISITOR}`), 'Enter');
    await page.getByText('Nobody is blocked at the moment.').waitFor();
    await tab(/^Blocked$/).waitFor();
    expect((await visit(VISITOR, '/')).status).toBe(200);
  });

  it('says why a single address in a blocked range can’t be unblocked', async () => {
    const { page } = owner;
    await open('#blocked');
    await tabTo(page, page.getByRole('textbox', { name: 'Block an IP address or range' }));
    await page.keyboard.type(RANGE);
    await page.keyboard.press('Enter');
    await owner.button(`Unblock ${RANGE}`).waitFor();
    expect((await visit(NEIGHBOUR, '/')).status).toBe(403);

    await tab(/^Unknown$/).click();
    const rows = list('Unknown Visitors');
    await rows.first().waitFor();
    await filter('IP address', NEIGHBOUR);
    await page.getByRole('button', { name: /^Remove filter IP address/ }).waitFor();
    const dialog = await manage(NEIGHBOUR);
    await dialog.getByText('Blocked', { exact: true }).waitFor();
    await pressOn(page, dialog.getByRole('button', { name: 'Unblock' }), 'Enter');
    await dialog.getByText('is in a range that is blocked. Unblock the range to let it in.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    await tab(/^Blocked/).click();
    await pressOn(page, owner.button(`Unblock ${RANGE}`), 'Enter');
    await page.getByText('Nobody is blocked at the moment.').waitFor();
    expect((await visit(NEIGHBOUR, '/')).status).toBe(200);
  });

  it('shows what a registered user did, and everything that this user did', async () => {
    const { page } = owner;
    const session = await logIn(stack);
    await callApi(stack, {
      path: '/wp-json/wp/v2/posts',
      body: JSON.stringify({ title: 'Seen in the log', status: 'publish' }),
      headers: authorised(session),
    });
    await open('#registered');
    const row = list('Registered Users').filter({ hasText: 'Seen in the log' }).first();
    await until('the event is shown', async () => {
      if (await row.isVisible()) return true;
      await page.getByRole('button', { name: /Refresh$/ }).click();
      return false;
    });
    await row.getByRole('button', { name: `Actions for ${stack.user}` }).click();
    await page.getByRole('menuitem', { name: 'View activity' }).click();
    await page.getByRole('button', { name: new RegExp(`^Remove filter .+: ${stack.user}$`) }).waitFor();
    await row.waitFor();
    await expectAccessible(page);
  });

  it('turns the log off and on, and sets for how many days it is kept', async () => {
    const { page } = owner;
    await open('#log-settings');
    const control = page.getByRole('switch', { name: 'Activity log', exact: true });
    const press = async (pressed: boolean) => {
      await pressOn(page, control, 'Space');
      await until('it is shown', async () => (await control.getAttribute('aria-checked')) === String(pressed));
      await until('nothing is under way', async () => (await control.getAttribute('aria-busy')) === null);
    };
    await press(false);
    await visit(VISITOR, '/?unseen');
    await tab(/^Unknown$/).click();
    await page.getByText('The activity log is off.', { exact: true }).waitFor();
    await tab(/^Log Settings$/).click();
    await press(true);
    const days = page.getByRole('combobox', { name: 'Days to keep' });
    await tabTo(page, days);
    await page.keyboard.press('Enter');
    const options = page.getByRole('option');
    expect(await options.count()).toBe(12);
    for (const height of await options.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height)))
      expect(height).toBe(40);
    await expectAccessible(page);
    await page.keyboard.type('7');
    await page.keyboard.press('Enter');
    const question = page.getByRole('alertdialog', { name: 'Keep only 7 days?' });
    // No entry of this log is a week old.
    await question.getByText('No entry is that old, so nothing is deleted now.').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    await page.locator('.so-row').getByText('Saved', { exact: true }).waitFor();
    await page.getByText('Weekly reports are paused.').waitFor();
    await page.getByText('Saving…').waitFor({ state: 'detached' });
    await expectAccessible(page);
    await days.click();
    await page.getByRole('option', { name: '12 days' }).click();
    await page.getByText('Weekly reports are paused.').waitFor({ state: 'detached' });
    await page.getByText('Saving…').waitFor({ state: 'detached' });
  });

  it('opens the tab that the URL names, and never moves the text that is being read', async () => {
    const { page } = owner;
    for (const [hash, name] of [
      ['#registered', 'Registered'],
      ['#blocked', 'Blocked'],
      ['#weekly-reports', 'Weekly Reports'],
      ['#log-settings', 'Log Settings'],
      ['#unknown', 'Unknown'],
    ] as const) {
      await page.goto(`${stack.url}${ACTIVITY_LOG}${hash}`);
      await page.getByRole('tab', { name, exact: true, selected: true }).waitFor();
    }

    // From here on, the test controls the clock of the page.
    await page.clock.install();
    await open('#unknown');
    const rows = list('Unknown Visitors');
    await rows.first().waitFor();
    await filter('IP address', VISITOR);
    await page.getByRole('button', { name: /^Remove filter IP address/ }).waitFor();
    // There are no rows while the filtered list loads.
    const before = await until('the list is filtered', async () => {
      const texts = await rows.allTextContents();
      return texts.length > 0 && !texts.join().includes(CROWD) ? texts : null;
    });
    await refused(VISITOR, 'news=1');
    await refused(VISITOR, 'news=2');
    await seen(VISITOR, before.length + 2);
    await page.clock.fastForward(15_000);
    await owner.button('2 new, Refresh').waitFor();
    expect(await rows.allTextContents()).toEqual(before);
    await pressOn(page, owner.button('2 new, Refresh'), 'Enter', 'Shift+Tab');
    await count(rows, before.length + 2);
    expect(await rows.first().textContent()).toContain('news=2');
  });
});
