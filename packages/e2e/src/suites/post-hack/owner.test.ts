import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Checkup } from '@security-optimizer/contract/post-hack/checkup';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openChromium, openWindow } from '../../browser/chromium.js';
import { expectFocus, pressOn } from '../../browser/keyboard.js';
import { logIn, type Session } from '../../http/session.js';
import { type PluginDirectory, startPluginDirectory, usePluginDirectory } from '../../stacks/plugin-directory.js';
import { onUsualStack, type Stack } from '../../stacks/stack.js';
import { expectLayout } from '../login-owner/helpers.js';
import {
  callAction,
  endedJob,
  expectReinstalled,
  giveToWordPress,
  pluginHeader,
  pluginsOnDisk,
  restorePasswords,
} from './helpers.js';

const screenshots = fileURLToPath(new URL('../../../screenshots/', import.meta.url));
const PAGE = '/wp-admin/admin.php?page=post-hack-actions';
const offer = (slug: string, name: string, version: string) => ({
  slug,
  name,
  version,
  files: { [`${slug}.php`]: pluginHeader(name, version), 'readme.txt': `=== ${name} ===\n` },
});
const offered = [
  offer('contact-form', 'Contact form', '5.9.8'),
  offer('event-calendar', 'Event calendar', '6.6.0'),
  offer('image-optimiser', 'Image optimiser', '3.2.1'),
];

onUsualStack('Post-hack Actions as the owner sees it', defineFlow);

function defineFlow(stack: Stack): void {
  const { path, put, remove, changeOwner } = pluginsOnDisk(stack);
  const uploads = join(stack.wordpressDir, 'wp-content/uploads/2024');
  let directory: PluginDirectory;
  let restore: () => Promise<void>;
  let browser: Browser;
  let page: Page;
  let owner: Session;
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });

  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true });
    directory = await startPluginDirectory(offered);
    restore = await usePluginDirectory(stack, directory.url);
    for (const { slug, files } of offered) put(slug, files);
    put('contact-form', { 'cache/door.php': '<?php // a door left open' });
    put('paid-gallery', { 'paid-gallery.php': pluginHeader('Paid gallery', '4.0.2') });
    changeOwner();
    const [session, started] = await Promise.all([logIn(stack), openChromium()]);
    browser = started;
    owner = session;
    page = await (await openWindow(browser, stack, session)).newPage();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(uploads, { recursive: true, force: true });
    await restorePasswords(stack);
    remove(...offered.map(({ slug }) => slug), 'paid-gallery');
    await restore?.();
    await directory?.close();
  });

  it('says what an action will do, and does nothing when it is cancelled', async () => {
    await page.goto(`${stack.url}${PAGE}`);
    const start = page.getByRole('button', { name: 'Force password reset', exact: true });
    await start.waitFor();
    await page.getByText(/^\d+ users?$/).waitFor();
    await expectLayout(page, 'post-hack');

    await pressOn(page, start, 'Enter');
    const dialog = page.getByRole('alertdialog', { name: 'Force password reset' });
    await dialog.getByText(/users are logged out at once, you included/).waitFor();
    await expectFocus(dialog.getByRole('button', { name: 'Cancel' }));
    await expectLayout(page, 'post-hack-dialog', '.so-portal');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expectFocus(start);
    expect(directory.requested).toEqual([]);
  });

  it('shows the progress of reinstalled plugins, also after the page was left in between', async () => {
    directory.delayMs = 700;
    await pressOn(page, page.getByRole('button', { name: 'Reinstall all', exact: true }), 'Enter');
    const dialog = page.getByRole('alertdialog', { name: 'Reinstall all' });
    await dialog.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('progressbar').waitFor();
    await page.getByText('You can leave this page. We’ll carry on.').waitFor();
    await page.getByText('Waiting', { exact: true }).first().waitFor();
    await page.screenshot({ path: join(screenshots, 'post-hack-progress-1440.png'), animations: 'disabled' });

    await page.goto(`${stack.url}/wp-admin/users.php`);
    await page.goto(`${stack.url}${PAGE}`);
    await page.getByRole('progressbar').waitFor();
    expect(await page.getByRole('button', { name: 'Reinstalling…' }).getAttribute('aria-disabled')).toBe('true');

    directory.delayMs = 0;
    const job = await endedJob(stack, owner, 'reinstall-plugins');
    for (const { slug } of offered) expectReinstalled(job, `${slug}/${slug}.php`);
    await row('Contact form').getByText('Clean copy in place').waitFor();
    await row('Paid gallery').getByText('Skipped. Not a free plugin of the plugin directory.').waitFor();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    await page.getByText('3 plugins have a clean copy.').first().waitFor();
    await row('Contact form').getByText('1 file that is not part of it was removed').click();
    await row('Contact form').getByText('cache/door.php').waitFor();
    expect(existsSync(path('contact-form/cache/door.php'))).toBe(false);
    expect(existsSync(path('paid-gallery/paid-gallery.php'))).toBe(true);
    await expectLayout(page, 'post-hack-done');
  });

  it('offers to retry a plugin that failed, and keeps the results of the others', async () => {
    directory.fault = 'changed';
    await pressOn(page, page.getByRole('button', { name: 'Reinstall all', exact: true }), 'Enter');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Reinstall all' }).click();
    const again = page.getByRole('button', { name: 'Try again: Event calendar' });
    await again.waitFor();
    await row('Event calendar').getByText('The download was damaged or changed:').waitFor();
    directory.fault = 'none';
    await again.click();
    await row('Event calendar').getByText('Clean copy in place').waitFor();
    await row('Contact form').getByText('The download was damaged or changed:').waitFor();
  });

  it('says that nothing was reinstalled while the directory does not answer', async () => {
    directory.fault = 'down';
    await pressOn(page, page.getByRole('button', { name: 'Reinstall all', exact: true }), 'Enter');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Reinstall all' }).click();
    await row('Contact form').getByText('Could not be checked. The plugin directory does not answer.').waitFor();
    await page.getByText('Nothing was reinstalled', { exact: true }).waitFor();
    const announced = await page.getByText(/^\d+ plugins?$/).textContent();
    expect(await page.locator('.so-run__list > li').count()).toBe(Number.parseInt(announced ?? '', 10));
    await expectLayout(page, 'post-hack-directory-down');
    directory.fault = 'none';
  });

  it('finds a planted script, which survives a reload, is accepted, and is omitted next time', async () => {
    mkdirSync(uploads, { recursive: true });
    writeFileSync(join(uploads, 'door.php'), '<?php echo 1;');
    const verdict = page.locator('.so-verdict');
    const check = verdict.getByRole('button');
    await check.click();
    await page.getByRole('heading', { name: 'A script in uploads' }).waitFor({ timeout: 60_000 });
    await check.getByText('Check again').waitFor();
    await verdict.getByText(/needs? a look/).waitFor();
    await expectLayout(page, 'post-hack-checkup');

    await page.reload();
    await page.getByRole('heading', { name: 'A script in uploads' }).waitFor();
    const words = await verdict.textContent();
    await pressOn(page, page.getByRole('button', { name: 'Keep: A script in uploads' }), 'Enter');
    await page.getByText('1 known finding is left out').waitFor();
    await page.getByRole('heading', { name: 'A script in uploads' }).waitFor({ state: 'detached' });
    expect(await verdict.textContent()).not.toBe(words);

    await check.click();
    await verdict.getByText('Checking…').first().waitFor();
    await check.getByText('Check again').waitFor({ timeout: 60_000 });
    await page.getByText('1 known finding is left out').waitFor();
    expect(await page.getByRole('heading', { name: 'A script in uploads' }).count()).toBe(0);
    await expectLayout(page, 'post-hack-checkup-kept');
  });

  it('removes planted scripts by the keyboard, undoes it, and restores a single one from the list', async () => {
    const { removed } = (await callAction(stack, owner, '/checkup')).body.data as Checkup;
    const kept = (count: number) => page.getByText(`${removed.length + count} removed file`);
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `${name}.php`);
    for (const name of names) writeFileSync(join(uploads, name), '<?php echo 2;');
    giveToWordPress(stack, uploads);
    const left = () => names.filter((name) => existsSync(join(uploads, name))).join(' ');
    const check = page.locator('.so-verdict').getByRole('button');
    await check.click();
    const finding = page.getByRole('heading', { name: '8 scripts in uploads' });
    await finding.waitFor({ timeout: 60_000 });
    await check.getByText('Check again').waitFor();

    await pressOn(page, page.getByRole('button', { name: 'Remove: 8 scripts in uploads' }), 'Enter');
    const dialog = page.getByRole('alertdialog', { name: 'Remove files' });
    await expectFocus(dialog.getByRole('button', { name: 'Cancel' }));
    await expectLayout(page, 'post-hack-remove-files', '.so-portal');
    await dialog.getByText('/wp-content/uploads/2024/g.php').click();
    await dialog.getByText('/wp-content/uploads/2024/door.php').click();
    await dialog.getByText('6 of 8 selected').waitFor();
    await pressOn(page, dialog.getByRole('button', { name: 'Remove', exact: true }), 'Enter');
    await dialog.waitFor({ state: 'detached' });
    await kept(6).waitFor();
    expect(left()).toBe('g.php');
    await expectFocus(page.locator('.so-finding .so-btn').first());

    const toast = page.locator('.so-toast', { hasText: 'Removed' });
    await toast.getByRole('button', { name: 'Undo', exact: true }).click();
    await finding.waitFor();
    expect(left()).toBe(names.join(' '));

    await page.getByRole('button', { name: 'Remove: 8 scripts in uploads' }).click();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await finding.waitFor({ state: 'detached' });
    expect(left()).toBe('');
    await page.reload();
    await kept(8).click();
    await expectLayout(page, 'post-hack-removed-files');
    await page.getByRole('button', { name: 'Restore: /wp-content/uploads/2024/c.php' }).click();
    await kept(7).waitFor();
    await page.getByRole('heading', { name: 'A script in uploads' }).waitFor();
    expect(left()).toBe('c.php');
  });

  it('says after a forced reset that the session has ended, and links to the login', async () => {
    await page.reload();
    await pressOn(page, page.getByRole('button', { name: 'Force password reset', exact: true }), 'Enter');
    const dialog = page.getByRole('alertdialog', { name: 'Force password reset' });
    await dialog.getByText(/^Your own link goes to \S+@\S+\./).waitFor();
    await dialog.getByRole('button', { name: 'Force password reset' }).click();
    const out = page.locator('.so-run--out');
    await out.getByText('You are logged out').waitFor();
    await out.getByText(/Yours goes to \S+@\S+: choose a new password with its link/).waitFor();
    const link = out.getByRole('link', { name: 'Log in' });
    await expectFocus(link);
    expect(await page.getByRole('progressbar').count()).toBe(0);
    await expectLayout(page, 'post-hack-logged-out');
    await page.keyboard.press('Enter');
    await page.locator('#loginform').waitFor();
    expect(page.url()).toContain('wp-login.php');
  });
}
