import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { usersBlogs } from '../../attacks/requests.js';
import { openChromium } from '../../browser/chromium.js';
import { sendLoginForm } from '../../browser/pages.js';
import { logIn, type Session, setOptions } from '../../http/session.js';
import { onUsualStack, type Stack } from '../../stacks/stack.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import { recover, SHOP_PLUGIN } from './helpers.js';

const GUESSES = 8;

/** Requests that a page can make a visitor's browser send. */
const weapons: readonly [string, (stack: Stack) => string][] = [
  [
    'the login form',
    ({ url }) =>
      script(`const frame = Object.assign(document.createElement('iframe'), { name: 'f' + i });
        document.body.appendChild(frame);
        const form = document.body.appendChild(document.createElement('form'));
        Object.assign(form, { method: 'POST', action: '${url}/wp-login.php', target: frame.name });
        for (const [name, value] of [['log', 'owner-of-office'], ['pwd', 'guess' + i], ['testcookie', '1']]) {
          form.appendChild(Object.assign(document.createElement('input'), { name, value }));
        }
        const loaded = new Promise((resolve) => { frame.onload = resolve; setTimeout(resolve, 2000); });
        form.submit(); await loaded;`),
  ],
  [
    'the login form, from a page that tells nothing of itself',
    (stack) => `<meta name="referrer" content="no-referrer">${(weapons[0] as (typeof weapons)[0])[1](stack)}`,
  ],
  [
    'XML-RPC',
    (stack) =>
      script(`const body = ${JSON.stringify(usersBlogs('owner-of-office', 'GUESS').body)}.replace('GUESS', 'guess' + i);
        await fetch('${stack.url}/xmlrpc.php', { method: 'POST', mode: 'no-cors', body }).catch(() => {});`),
  ],
  [
    'REST with basic authentication',
    ({ url }) =>
      script(`await fetch('${url}/wp-json/wp/v2/users/me', {
        headers: { Authorization: 'Basic ' + btoa('owner-of-office:guess' + i) } }).catch(() => {});`),
  ],
  [
    "a plugin's own form",
    ({ url }) =>
      script(`const body = new URLSearchParams({ shop_login: 'owner-of-office', shop_password: 'guess' + i });
        await fetch('${url}/', { method: 'POST', mode: 'no-cors', body }).catch(() => {});`),
  ],
];

function script(attempt: string): string {
  return `<script>addEventListener('load', async () => {
    for (let i = 0; i < ${GUESSES}; i++) { ${attempt} }
    document.title = 'done';
  });</script>`;
}

onUsualStack('passwords that pages of other sites make a browser send (cross-site requests)', (stack) => {
  let browser: Browser;
  let window: BrowserContext;
  let elsewhere: Server;
  let page = '';
  let owner: Session;
  const plugin = join(muPlugins(stack), 'other-routes.php');

  beforeAll(async () => {
    writeFileSync(plugin, `<?php\n${SHOP_PLUGIN}`);
    browser = await openChromium();
    elsewhere = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><body>${page}`);
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    await runInWordPress(
      stack,
      `$id = wp_insert_user( array( 'user_login' => 'owner-of-office', 'user_pass' => '${stack.password}', 'user_email' => 'office@example.com', 'role' => 'subscriber' ) );
       WP_Application_Passwords::create_new_application_password( $id, array( 'name' => 'phone' ) );`,
    );
    owner = await logIn(stack);
    await setOptions(stack, owner, { disable_xml_rpc: 0 });
  });

  afterEach(async () => {
    await window.close();
    await recover(stack, 'unblock', '--all');
  });

  afterAll(async () => {
    await setOptions(stack, owner, { disable_xml_rpc: 1 });
    rmSync(plugin, { force: true });
    await browser.close();
    elsewhere.closeAllConnections();
    await new Promise((resolve) => elsewhere.close(resolve));
  });

  // Runs first: the others end in a lockout of cross-site requests, and guard applies its end with a delay.
  it('get the login form with a message, and the right password logs in there', async () => {
    window = await browser.newContext();
    page = `<form method="POST" action="${stack.url}/wp-login.php">
      <input name="log" value="owner-of-office"><input name="pwd" value="${stack.password}"><button>Log in</button></form>`;
    const visitor = await window.newPage();
    await visitor.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);
    await visitor.click('button');
    expect(await visitor.textContent('#login_error')).toContain('Another website sent this password');
    expect(await visitor.inputValue('#user_login')).toBe('owner-of-office');
    // WordPress clears and focuses the field a moment after it has shown the form.
    await visitor.waitForFunction(() => document.activeElement?.id === 'user_pass');
    await visitor.fill('#user_pass', stack.password);
    await visitor.click('#wp-submit');
    await visitor.waitForURL(/wp-admin/);
  });

  for (const [route, weapon] of weapons) {
    it(`do not lock out the address of the browser: ${route}`, async () => {
      window = await browser.newContext();
      page = weapon(stack);
      const visitor = await window.newPage();
      await visitor.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);
      await visitor.waitForFunction(() => document.title === 'done', undefined, { timeout: 60_000 });

      await visitor.goto(`${stack.url}/wp-login.php`);
      await sendLoginForm(visitor, 'owner-of-office', stack.password);
      await visitor.waitForURL(/wp-admin/);
      expect(await visitor.title()).toContain('Profile');
    });
  }
});
