import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { attach, loadConfig, openGuardDatabase, silentLogger } from '@security-optimizer/guard/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from '../../browser/accessibility.js';
import { openChromium } from '../../browser/chromium.js';
import { expectNoOverflow } from '../../browser/text-layout.js';
import { sendRequest } from '../../http/request.js';
import { startGuard, stopGuard } from '../../stacks/guard-process.js';
import { onUsualStack, type Stack } from '../../stacks/stack.js';

const BLOCKED = '203.0.113.7';
const screenshots = fileURLToPath(new URL('../../../screenshots/', import.meta.url));

onUsualStack('a blocked visitor', (stack) => {
  let browser: Browser;

  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true });
    // The tests act as a trusted proxy in front of guard, so that visitors can have any address.
    await restart(stack, ['127.0.0.1'], [BLOCKED, '2001:db8::/32']);
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await restart(stack, [], []);
  });

  const visit = (target: string, from: string) => sendRequest(stack, { target, headers: { 'x-forwarded-for': from } });

  it.each([
    '/',
    '/hello-world/',
    '/wp-login.php',
    '/wp-admin/',
    '/wp-json/',
    '/wp-content/themes/twentytwentyfour/style.css',
    '/nothing-here/',
  ])('is refused at %s', async (target) => {
    const response = await visit(target, BLOCKED);
    expect(response.status).toBe(403);
    expect(response.body).not.toMatch(/wp-content|Hello world|user_login/);
  });

  it.each([`::ffff:${BLOCKED}`, `${BLOCKED}, 127.0.0.1`, `198.51.100.1, ${BLOCKED}`, '2001:db8:1::1'])(
    'is recognised as %s',
    async (from) => {
      expect((await visit('/', from)).status).toBe(403);
    },
  );

  it.each(['203.0.113.8', `${BLOCKED}, 198.51.100.1`, '2001:db9::1'])('is not confused with %s', async (from) => {
    expect((await visit('/', from)).status).toBe(200);
  });

  it.each([
    [1440, 900],
    [390, 844],
    [320, 568],
  ])('sees the page for blocked visitors, at %i px', async (width, height) => {
    const window = await browser.newContext({
      viewport: { width, height },
      extraHTTPHeaders: { 'x-forwarded-for': BLOCKED },
    });
    const page = await window.newPage();
    const response = await page.goto(`${stack.url}/hello-world/`);
    expect(response?.status()).toBe(403);
    await page.getByRole('heading', { name: 'You are blocked from this site' }).waitFor();
    await page.getByText(BLOCKED).waitFor();
    expect(await page.content()).not.toMatch(/wordpress|security optimizer|guard/i);
    await expectNoOverflow(page);
    await expectAccessible(page, 'html');
    await page.screenshot({ path: join(screenshots, `${stack.kind}-blocked-${width}.png`) });
    await window.close();
  });
});

/** Restarts guard with these trusted proxies and blocked addresses. */
async function restart(stack: Stack, trustedProxies: string[], blocked: string[]): Promise<void> {
  await stopGuard(stack);
  await attach({
    wordpressDir: stack.wordpressDir,
    upstream: `http://127.0.0.1:${stack.upstreamPort}`,
    listen: { host: '127.0.0.1', port: stack.port },
    dataDir: stack.guardDir,
    trustedProxies,
  });
  const config = await loadConfig({ dataDir: stack.guardDir });
  const db = await openGuardDatabase({ url: config.database, dataDir: stack.guardDir, logger: silentLogger() });
  try {
    const site = config.sites[0]?.id ?? '';
    await db.deleteFrom('blocked_visitors').where('site', '=', site).execute();
    await db.replaceInto('blocked_versions').values({ site, version: Date.now() }).execute();
    for (const value of blocked) {
      const kind = /[-/*]/.test(value) ? 'range' : 'ip';
      const row = {
        site,
        kind,
        value,
        name: value,
        visitor_id: 0,
        created_at: Date.now(),
        by_id: null,
        by_login: '',
      } as const;
      await db.insertInto('blocked_visitors').values(row).execute();
    }
  } finally {
    await db.destroy();
  }
  await startGuard(stack);
}
