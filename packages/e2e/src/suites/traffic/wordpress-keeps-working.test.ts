import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openChromium } from '../../browser/chromium.js';
import { watchPage } from '../../browser/page-errors.js';
import { sendLoginForm } from '../../browser/pages.js';
import { picture } from '../../browser/sample-files.js';
import { sendRequest } from '../../http/request.js';
import { allOptions, logIn, type Session, setOptions } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';

const SCREENS = [
  'index.php',
  'edit.php',
  'upload.php',
  'edit-comments.php',
  'themes.php',
  'plugins.php',
  'users.php',
  'profile.php',
  'tools.php',
  'options-general.php',
  'options-permalink.php',
  'site-health.php',
  'admin.php?page=site-security',
];

/** Actions of the owner; those of visitors are in `visitors-keep-being-served`. */
onUnlikeStacks('WordPress with all seven toggles on', (stack) => {
  let owner: Session;
  let browser: Browser;
  let window: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    owner = await logIn(stack);
    await setOptions(stack, owner, allOptions(1));
    browser = await openChromium();
    window = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    page = await window.newPage();
  });
  afterAll(() => browser?.close());

  const visit = (target: string, headers: Record<string, string> = {}) => sendRequest(stack, { target, headers });

  it('lets the owner log in', async () => {
    await page.goto(`${stack.url}/wp-login.php`);
    await sendLoginForm(page, stack.user, stack.password);
    await page.waitForURL(/\/wp-admin\//);
    await page.getByRole('heading', { name: 'Dashboard', exact: true }).waitFor();
  });

  it.each(SCREENS)('shows wp-admin/%s without errors', async (screen) => {
    const watched = watchPage(page, stack.url);
    await page.goto(`${stack.url}/wp-admin/${screen}`, { waitUntil: 'load' });
    await page.locator('#wpcontent').waitFor({ state: 'attached' });
    await page.waitForLoadState('networkidle', { timeout: 100_000 });
    expect(watched.stop()).toEqual([]);
  });

  it('opens the site editor', async () => {
    const watched = watchPage(page, stack.url);
    await page.goto(`${stack.url}/wp-admin/site-editor.php`);
    await page.getByRole('button', { name: 'Templates' }).waitFor();
    expect(watched.stop()).toEqual([]);
  });

  it('writes, illustrates, publishes and changes a post in the block editor', async () => {
    const watched = watchPage(page, stack.url);
    await page.goto(`${stack.url}/wp-admin/post-new.php`);
    const canvas = page.frameLocator('iframe[name="editor-canvas"]');
    const title = canvas.getByRole('textbox', { name: 'Add title' });
    await title.fill('A walk');
    await title.press('Enter');
    await page.keyboard.type('Along the river.');
    await page.keyboard.press('Enter');
    await page.keyboard.type('/image');
    await page.getByRole('option', { name: 'Image', exact: true }).click();
    await canvas.getByRole('document', { name: 'Block: Image' }).waitFor();
    // The input of the button "Upload".
    const field = canvas.getByRole('document', { name: 'Block: Image' }).locator('input[type="file"]');
    await field.setInputFiles({ name: 'river.png', mimeType: 'image/png', buffer: picture() });
    await canvas.locator('img[src*="/wp-content/uploads/"]').waitFor();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByLabel('Editor publish').getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('is now live.').waitFor();

    await title.fill('A long walk');
    // The button is "Update" up to WordPress 6.5.
    await page.getByRole('button', { name: /^(?:Save|Update)$/ }).click();
    await page.getByText('Post updated.').first().waitFor();
    expect(watched.stop()).toEqual([]);

    const seen = await window.newPage();
    const watchedPost = watchPage(seen, stack.url);
    await seen.goto(`${stack.url}/a-walk/`);
    await seen.getByRole('heading', { name: 'A long walk', level: 1 }).waitFor();
    await until('the image is shown', () =>
      seen.locator('.wp-block-image img').evaluate((image) => (image as HTMLImageElement).naturalWidth > 0),
    );
    expect(watchedPost.stop()).toEqual([]);
    await seen.close();
  });

  it('previews a draft', async () => {
    const id = await runInWordPress(
      stack,
      "echo wp_insert_post( array( 'post_title' => 'Not yet', 'post_status' => 'draft', 'post_content' => 'Soon.', 'post_author' => 1 ) );",
    );
    const seen = await window.newPage();
    await seen.goto(`${stack.url}/?p=${id}&preview=true`);
    await seen.getByRole('heading', { name: 'Not yet' }).waitFor();
    await seen.close();
    expect((await visit(`/?p=${id}&preview=true`)).status).toBe(404);
  });

  it('loads the customizer with its preview', async () => {
    const file = join(muPlugins(stack), 'customizer.php');
    // A block theme hides the customizer until a plugin uses it.
    writeFileSync(file, "<?php add_action( 'customize_register', '__return_true' );");
    try {
      const watched = watchPage(page, stack.url);
      await page.goto(`${stack.url}/wp-admin/customize.php`);
      await page.frameLocator('#customize-preview iframe').locator('body').getByText('Hello world').first().waitFor();
      expect(watched.stop()).toEqual([]);
    } finally {
      rmSync(file);
    }
  });

  it('installs a plugin from a zip, activates it and shows its screen', async () => {
    const code = `<?php
/** Plugin Name: Tiny */
add_action( 'admin_menu', function () { add_menu_page( 'Tiny', 'Tiny', 'manage_options', 'tiny', function () { echo '<h1>Tiny works</h1>'; } ); } );`;
    await page.goto(`${stack.url}/wp-admin/plugin-install.php?tab=upload`);
    await page.setInputFiles('#pluginzip', {
      name: 'tiny.zip',
      mimeType: 'application/zip',
      buffer: Buffer.from(zipSync({ 'tiny/tiny.php': strToU8(code) })),
    });
    await page.click('#install-plugin-submit');
    await page.getByText('Plugin installed successfully.').waitFor();
    await page.getByRole('link', { name: 'Activate Plugin' }).click();
    await page.getByText('Plugin activated.').waitFor();
    await page.goto(`${stack.url}/wp-admin/admin.php?page=tiny`);
    await page.getByRole('heading', { name: 'Tiny works' }).waitFor();
  });

  it('serves REST with an application password', async () => {
    const password = await runInWordPress(
      stack,
      "add_filter( 'wp_is_application_passwords_available', '__return_true' ); echo WP_Application_Passwords::create_new_application_password( 1, array( 'name' => 'e2e' ) )[0];",
    );
    // WordPress offers them without TLS on local sites only. For guard there is no difference.
    const file = join(muPlugins(stack), 'application-passwords.php');
    writeFileSync(file, "<?php add_filter( 'wp_is_application_passwords_available', '__return_true' );");
    try {
      const authorization = `Basic ${Buffer.from(`${stack.user}:${password}`).toString('base64')}`;
      const me = await visit('/wp-json/wp/v2/users/me?context=edit', { authorization });
      expect(me.status).toBe(200);
      expect(JSON.parse(me.body)).toMatchObject({ username: stack.user });
      const made = await sendRequest(stack, {
        method: 'POST',
        target: '/wp-json/wp/v2/posts',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{"title":"By REST","status":"publish"}',
      });
      expect(made.status).toBe(201);
      const wrong = `Basic ${Buffer.from(`${stack.user}:wrong`).toString('base64')}`;
      expect((await visit('/wp-json/wp/v2/users/me', { authorization: wrong })).status).toBe(401);
    } finally {
      rmSync(file);
    }
  });

  it('answers the heartbeat of admin-ajax', async () => {
    await page.goto(`${stack.url}/wp-admin/index.php`);
    const nonce = await page.evaluate(
      () => (globalThis as unknown as { heartbeatSettings: { nonce: string } }).heartbeatSettings.nonce,
    );
    const heartbeat = await page.evaluate(async (value) => {
      const body = new URLSearchParams({
        action: 'heartbeat',
        _nonce: value,
        screen_id: 'dashboard',
        has_focus: 'true',
        interval: '15',
      });
      const response = await fetch('/wp-admin/admin-ajax.php', { method: 'POST', body });
      return { status: response.status, body: await response.json() };
    }, nonce);
    expect(heartbeat).toMatchObject({ status: 200, body: { server_time: expect.any(Number) } });
  });

  it('lets the owner log out', async () => {
    await page.goto(`${stack.url}/wp-admin/`);
    const link = await page.locator('#wp-admin-bar-logout a').getAttribute('href');
    await page.goto(link ?? '');
    await page.getByText('You are now logged out.').waitFor();
    await page.goto(`${stack.url}/wp-admin/`);
    expect(page.url()).toContain('wp-login.php');
  });

  it('has deleted the readme', () => {
    expect(readdirSync(stack.wordpressDir)).not.toContain('readme.html');
  });
});
