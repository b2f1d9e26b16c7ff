import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { attach, detach } from '@security-optimizer/guard/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openChromium, openWindow } from '../../browser/chromium.js';
import { clickSwitch, getSwitch, openSiteSecurity, readState } from '../../browser/pages.js';
import { sendRequest, sendUpstream } from '../../http/request.js';
import { allOptions, authorised, callApi, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { guardLog, killGuard, securityOptimizer, startGuard, stopGuard } from '../../stacks/guard-process.js';
import { onUnlikeStacks, type Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress, startWordPress, stopWordPress, withoutConnector } from '../../stacks/wordpress.js';

const xmlRpc = siteSecurityToggles[3];

onUnlikeStacks('guard and WordPress during failures', (stack) => {
  let owner: Session;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    owner = await logIn(stack);
    await setOptions(stack, owner, { ...allOptions(0), disable_xml_rpc: 1, lock_system_folders: 1 });
    browser = await openChromium();
    page = await (await openWindow(browser, stack, owner)).newPage();
  });
  afterAll(() => browser?.close());

  const refusesXmlRpc = async () =>
    (await sendRequest(stack, { method: 'POST', target: '/xmlrpc.php', body: '' })).status === 403;
  const status = async () => (await securityOptimizer('status', '--data-dir', stack.guardDir)).stdout;
  const logged = (event: string) => guardLog(stack).some((line) => line.event === event);
  /** Makes guard check its connector now. Any unexpected response does that. */
  const connectorIs = (state: string) => until(`the connector is ${state}`, () => logged(state), 60);

  it.each(Array.from({ length: 10 }, (_, turn) => [turn + 1, turn % 2 === 0 ? 0 : 1] as const))(
    'enforces an acknowledged change after a restart when guard was killed right after it (turn %i, value %i)',
    async (_turn, value) => {
      const response = await callApi(stack, {
        path: '/wp-json/security-optimizer/v1/disable-xml-rpc',
        body: JSON.stringify({ disable_xml_rpc: value }),
        headers: authorised(owner),
      });
      expect(response.body.status).toBe(200);
      await killGuard(stack);
      await startGuard(stack);
      expect(await refusesXmlRpc()).toBe(value === 1);
      expect((await readOptions(stack, owner)).disable_xml_rpc).toBe(value);
    },
  );

  it('refuses requests that bypass guard', async () => {
    for (const target of [
      '/',
      '/wp-login.php',
      '/wp-json/',
      '/xmlrpc.php',
      '/index.php/wp-login.php',
      '/wp-admin/admin-ajax.php',
    ]) {
      const response = await sendUpstream(stack, { target });
      expect([target, response.status]).toEqual([target, 403]);
      expect(response.body).not.toMatch(/wp-content|user_login|methodResponse/);
    }
    const forged = `1 00000000 1700000000 0123456789abcdef http 127.0.0.1 ${'0'.repeat(64)}`;
    expect((await sendUpstream(stack, { target: '/', headers: { 'x-security-optimizer-guard': forged } })).status).toBe(
      403,
    );
  });

  it('lets no page cache store responses to requests that bypass guard', async () => {
    const content = join(stack.wordpressDir, 'wp-content');
    const [configuration, cache] = [join(stack.wordpressDir, 'wp-config.php'), join(content, 'advanced-cache.php')];
    const before = readFileSync(configuration, 'utf8');
    const pagesDir = join(stack.dir, 'kept-pages');
    mkdirSync(pagesDir, { mode: 0o777 });
    writeFileSync(configuration, before.replace('<?php', "<?php define( 'WP_CACHE', true );"));
    writeFileSync(
      cache,
      `<?php
$kept_page = '${pagesDir}/' . md5( $_SERVER['REQUEST_URI'] );
if ( is_file( $kept_page ) ) { header( 'X-Kept: yes' ); readfile( $kept_page ); exit; }
ob_start( function ( $page ) use ( $kept_page ) {
  if ( ! defined( 'DONOTCACHEPAGE' ) ) { file_put_contents( $kept_page, $page ); }
  return $page;
} );`,
    );
    try {
      expect((await sendUpstream(stack, { target: '/hello-world/' })).status).toBe(403);
      const pages = [
        await sendRequest(stack, { target: '/hello-world/' }),
        await sendRequest(stack, { target: '/hello-world/' }),
      ];
      expect(pages.map(({ status }) => status)).toEqual([200, 200]);
      for (const { body } of pages) expect(body).toContain('Hello world!');
      expect(pages.map(({ headers }) => headers['x-kept'])).toEqual([undefined, 'yes']);
    } finally {
      rmSync(cache);
      writeFileSync(configuration, before);
      rmSync(pagesDir, { recursive: true });
    }
  });

  describe('while WordPress is down', () => {
    beforeAll(async () => {
      await openSiteSecurity(page, stack);
      await stopWordPress(stack);
    });
    afterAll(() => startWordPress(stack));

    it('shows visitors a page without internal details', async () => {
      const response = await sendRequest(stack, { target: '/hello-world/', headers: { accept: 'text/html' } });
      expect(response.status).toBe(502);
      expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(response.body).not.toMatch(new RegExp(`ECONN|${stack.upstreamPort}|wordpress|php|node`, 'i'));
    });

    it('still refuses what a rule forbids', async () => {
      expect(await refusesXmlRpc()).toBe(true);
      expect((await sendRequest(stack, { target: '/.git/config' })).status).toBe(403);
    });

    it('tells the owner that nothing was changed, and the row shows the stored state', async () => {
      const control = getSwitch(page, xmlRpc.title);
      expect(await readState(control)).toBe('on');
      await control.click();
      await page.getByText('WordPress does not answer at the moment. Nothing was changed.').first().waitFor();
      await page.getByText('We couldn’t save this. The option is still on.').waitFor();
      await until('the row is back', async () => (await readState(control)) === 'on');
    });

    it('reports in its status that WordPress does not answer', async () => {
      expect(await status()).toMatch(/unreachable|does not answer/i);
    });
  });

  it('recovers by itself when WordPress is back', async () => {
    await until(
      'the site is served',
      async () => (await sendRequest(stack, { target: '/hello-world/' })).status === 200,
    );
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText(xmlRpc.messages.off, { exact: true }).first().waitFor();
    expect(await readState(getSwitch(page, xmlRpc.title))).toBe('off');
    await clickSwitch(page, xmlRpc, 'on', xmlRpc.messages.on);
  });

  it('serves and protects the site without its connector, and reports that', async () => {
    await stopGuard(stack);
    await withoutConnector(stack, async () => {
      await startGuard(stack);
      await connectorIs('connector-missing');
      expect((await sendRequest(stack, { target: '/hello-world/' })).status).toBe(200);
      expect(await refusesXmlRpc()).toBe(true);
      expect((await sendRequest(stack, { target: '/.env' })).status).toBe(403);
      expect(await status()).toContain('is missing in WordPress; what only WordPress can enforce is not enforced');
      const response = await callApi(stack, {
        path: '/wp-json/security-optimizer/v1/disable-feeds',
        body: '{"disable_feed":1}',
        headers: authorised(owner),
      });
      expect(response.body).toMatchObject({ data: null, status: 503, code: 'connector_missing' });
    });
    await until('the connector is back', async () => (await readOptions(stack, owner).catch(() => null)) !== null);
    expect((await readOptions(stack, owner)).disable_feed).toBe(0);
  });

  it('writes its key again when the connector has a different one, and reports that', async () => {
    const file = join(muPlugins(stack), 'security-optimizer/secret.php');
    const own = readFileSync(file, 'utf8');
    const secret = /[0-9a-f]{64}/.exec(own)?.[0] ?? '';
    const other = own.replace(secret, 'f'.repeat(64));
    await stopGuard(stack);
    writeFileSync(file, other);
    expect(await status()).toContain('has another secret; what only WordPress can enforce is not enforced');
    await startGuard(stack);
    await until('the key is back', () => readFileSync(file, 'utf8') === own, 30);
    expect(logged('connector-other-secret')).toBe(true);
    await until('the log says so', () => logged('connector-key-restored'));
    await until('the owner may work again', async () => (await readOptions(stack, owner)).disable_xml_rpc === 1);
    expect(await status()).toMatch(/key/i);
  });

  it('pushes the policy to WordPress again after its database was restored', async () => {
    await setOptions(stack, owner, { disable_feed: 1 });
    await runInWordPress(
      stack,
      "delete_option( 'security_optimizer_policy' ); delete_site_option( 'security_optimizer_policy' );",
    );
    await sendRequest(stack, { target: '/' });
    await until('WordPress has the policy', async () =>
      (await runInWordPress(stack, "echo json_encode( get_option( 'security_optimizer_policy' ) );")).includes(
        '"disable_feed":1',
      ),
    );
    expect((await sendRequest(stack, { target: '/hello-world/' })).body).not.toContain('application/rss+xml');
  });

  it('does not start twice with the same data folder', async () => {
    const second = await securityOptimizer('serve', '--data-dir', stack.guardDir);
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/Another guard runs on this data folder \(process \d+\)\./);
    expect((await sendRequest(stack, { target: '/' })).status).toBe(200);
  });

  it('restores WordPress when it is detached, and can be attached again', async () => {
    await stopGuard(stack);
    await detach({ dataDir: stack.guardDir });
    expect(existsSync(muPlugins(stack)) ? readdirSync(muPlugins(stack)) : []).toEqual([]);
    const cached = await runInWordPress(
      stack,
      `global $wpdb; echo implode( ',', array_merge( $wpdb->get_col( "SHOW TABLES LIKE '%security_optimizer%'" ), $wpdb->get_col( "SELECT option_name FROM $wpdb->options WHERE option_name LIKE 'security_optimizer%'" ) ) );`,
    );
    expect(cached).toBe('');
    const page = await sendUpstream(stack, { target: '/hello-world/' });
    expect(page.status).toBe(200);
    expect(page.body).toContain('application/rss+xml');
    expect((await sendUpstream(stack, { target: '/xmlrpc.php' })).body).toContain(
      'XML-RPC server accepts POST requests only',
    );
    await attachAgain(stack);
    await startGuard(stack);
    // Guard stores the settings, so they are restored.
    await until('the owner may work again', async () => (await readOptions(stack, owner)).disable_feed === 1);
    expect(await refusesXmlRpc()).toBe(true);
    expect((await sendUpstream(stack, { target: '/hello-world/' })).status).toBe(403);
  });
});

async function attachAgain(stack: Stack): Promise<void> {
  await attach({
    wordpressDir: stack.wordpressDir,
    upstream: `http://127.0.0.1:${stack.upstreamPort}`,
    listen: { host: '127.0.0.1', port: stack.port },
    dataDir: stack.guardDir,
    site: 'site',
    requireGuard: 'force',
  });
}
