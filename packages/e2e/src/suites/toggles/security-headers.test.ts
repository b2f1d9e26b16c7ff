import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openChromium } from '../../browser/chromium.js';
import type { RawResponse } from '../../http/raw.js';
import { form, sendRequest, type TypedRequest } from '../../http/request.js';
import { muPlugins } from '../../stacks/wordpress.js';
import { toggleSuite } from './helpers.js';

const requests: [string, TypedRequest][] = [
  ['the front page', { target: '/' }],
  ['a post', { target: '/hello-world/' }],
  ['a missing page', { target: '/nothing-here/' }],
  ['the login', { target: '/wp-login.php' }],
  ['a refused login', form('/wp-login.php', 'log=nobody&pwd=wrong')],
  ['the redirect of wp-admin', { target: '/wp-admin/' }],
  ['a redirect of the web server', { target: '/wp-admin' }],
  ['admin-ajax', { target: '/wp-admin/admin-ajax.php' }],
  ['REST', { target: '/wp-json/' }],
  ['a feed', { target: '/feed/' }],
  ['a sitemap', { target: '/wp-sitemap.xml' }],
  ['a static file', { target: '/wp-includes/css/buttons.min.css' }],
  ['a range of a static file', { target: '/wp-includes/css/buttons.min.css', headers: { range: 'bytes=0-9' } }],
  ['the API of the product', { method: 'POST', target: '/wp-json/security-optimizer/v1/fetch-options' }],
  ['an ambiguous request', { target: '/%zz' }],
  ['HTTP/1.0', { target: '/', version: '1.0' }],
  ['HEAD', { method: 'HEAD', target: '/' }],
  ['a page with path info', { target: '/wp-login.php/x' }],
];

/** Sources of the site's images and scripts, with http as the site itself. */
const OTHER_HOST = '127.0.89.8';
/** Output of optimisers and page builders: inline, deferred as `data:`, from another host, and an embedded document. */
const toScripts = (host: string) => `<?php
add_action( 'wp_footer', function () {
  echo '<script>document.body.dataset.inline = "ran";</script>',
    '<script defer src="data:text/javascript,document.body.dataset.data%3D%22ran%22"></script>',
    '<script src="${host}/count.js"></script>',
    '<object data="${host}/menu.pdf" width="9" height="9"></object>';
} );
`;

toggleSuite({
  field: 'xss_protection',
  probes: () =>
    ['/', '/wp-login.php', '/wp-includes/css/buttons.min.css', '/hello-world/embed/', '/wp-admin/'].map((target) => ({
      target,
    })),
  whileEnabled({ stack, owner }) {
    const scripts = join(muPlugins(stack), 'scripts.php');
    it.each(requests)('adds its headers to %s', async (_name, request) => {
      expectHeaders(await sendRequest(stack, request));
    });

    it('adds its headers to wp-admin', async () => {
      const response = await sendRequest(stack, { target: '/wp-admin/', headers: { cookie: owner().cookie } });
      expect(response.status).toBe(200);
      expectHeaders(response);
    });

    it('does not break scripts and embedded content of the site', async () => {
      const other = createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/javascript').end('document.body.dataset.host = "ran";');
      });
      await new Promise<void>((resolve) => other.listen(0, OTHER_HOST, resolve));
      const host = `http://${OTHER_HOST}:${(other.address() as AddressInfo).port}`;
      writeFileSync(scripts, toScripts(host));
      const browser = await openChromium();
      try {
        const page = await (await browser.newContext()).newPage();
        const refused: string[] = [];
        page.on('console', (line) => {
          if (line.text().includes('Content Security Policy')) refused.push(line.text());
        });
        await page.goto(`${stack.url}/`, { waitUntil: 'load' });
        const ran = () => page.evaluate(() => ({ ...document.body.dataset }));
        await expect.poll(ran).toEqual(expect.objectContaining({ inline: 'ran', data: 'ran', host: 'ran' }));
        expect(refused).toEqual([]);
      } finally {
        await browser.close();
        other.close();
        rmSync(scripts, { force: true });
      }
    });

    it.each(['/hello-world/embed/', '/hello-world/?embed=true', '/index.php/hello-world/embed/'])(
      'lets other sites frame %s, which is made for embedding',
      async (target) => {
        const response = await sendRequest(stack, { target });
        expect(response.headers['x-frame-options']).toBeUndefined();
        expect(response.headers['content-security-policy']).not.toContain('frame-ancestors');
        expect(response.headers['x-content-type-options']).toBe('nosniff');
      },
    );

    it.each(['/wp-login.php?embed=true', '/wp-login.php/embed', '/wp-admin/profile.php?embed=1', '/?x=embed'])(
      'does not let other sites frame %s',
      async (target) => {
        const response = await sendRequest(stack, { target, headers: { cookie: owner().cookie } });
        expect(response.headers['x-frame-options']).toMatch(/^(?:SAMEORIGIN|DENY)$/i);
      },
    );

    describe('when the site has its own headers', () => {
      const file = join(muPlugins(stack), 'own-headers.php');
      afterEach(() => rmSync(file, { force: true }));

      it('keeps stricter ones and adds missing ones', async () => {
        writeFileSync(
          file,
          `<?php add_action( 'send_headers', function () {
            header( "Content-Security-Policy: script-src 'none'; frame-ancestors 'none'" );
            header( 'X-Frame-Options: DENY' );
            header( 'Referrer-Policy: no-referrer' );
          } );`,
        );
        const { headers } = await sendRequest(stack, { target: '/' });
        expect(headers['x-frame-options']).toBe('DENY');
        expect(headers['referrer-policy']).toBe('no-referrer');
        expect(headers['content-security-policy']).toBe(
          "script-src 'none'; frame-ancestors 'none', object-src 'self' https: http: blob:; base-uri 'self'",
        );
      });
    });
  },
});

function expectHeaders({ headers, head }: RawResponse): void {
  expect(headers['x-content-type-options'], head).toBe('nosniff');
  // WordPress sends it itself on its login and in wp-admin.
  expect(headers['x-frame-options'], head).toMatch(/^SAMEORIGIN$/i);
  expect(headers['referrer-policy'], head).toBe('strict-origin-when-cross-origin');
  expect(headers['content-security-policy'], head).toMatch(/script-src .*object-src .*base-uri 'self'/);
}
