import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RawAnswer } from '../../http/raw.js';
import { ask, form, type TypedRequest } from '../../http/request.js';
import { muPlugins } from '../../stacks/wordpress.js';
import { toggleSuite } from './toggle-suite.js';

const answers: [string, TypedRequest][] = [
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

toggleSuite({
  field: 'xss_protection',
  probes: () =>
    ['/', '/wp-login.php', '/wp-includes/css/buttons.min.css', '/hello-world/embed/', '/wp-admin/'].map((target) => ({
      target,
    })),
  whileOn({ stack, owner }) {
    it.each(answers)('puts its headers on %s', async (_name, request) => {
      expectHeaders(await ask(stack, request));
    });

    it('puts its headers on wp-admin', async () => {
      const answer = await ask(stack, { target: '/wp-admin/', headers: { cookie: owner().cookie } });
      expect(answer.status).toBe(200);
      expectHeaders(answer);
    });

    it.each(['/hello-world/embed/', '/hello-world/?embed=true', '/index.php/hello-world/embed/'])(
      'lets other sites frame %s, which is made for that',
      async (target) => {
        const answer = await ask(stack, { target });
        expect(answer.headers['x-frame-options']).toBeUndefined();
        expect(answer.headers['content-security-policy']).not.toContain('frame-ancestors');
        expect(answer.headers['x-content-type-options']).toBe('nosniff');
      },
    );

    it.each(['/wp-login.php?embed=true', '/wp-login.php/embed', '/wp-admin/profile.php?embed=1', '/?x=embed'])(
      'does not let other sites frame %s',
      async (target) => {
        const answer = await ask(stack, { target, headers: { cookie: owner().cookie } });
        expect(answer.headers['x-frame-options']).toMatch(/^(?:SAMEORIGIN|DENY)$/i);
      },
    );

    describe('when the site has headers of its own', () => {
      const file = join(muPlugins(stack), 'own-headers.php');
      afterEach(() => rmSync(file, { force: true }));

      it('keeps stricter ones and adds what they leave open', async () => {
        writeFileSync(
          file,
          `<?php add_action( 'send_headers', function () {
            header( "Content-Security-Policy: script-src 'none'; frame-ancestors 'none'" );
            header( 'X-Frame-Options: DENY' );
            header( 'Referrer-Policy: no-referrer' );
          } );`,
        );
        const { headers } = await ask(stack, { target: '/' });
        expect(headers['x-frame-options']).toBe('DENY');
        expect(headers['referrer-policy']).toBe('no-referrer');
        expect(headers['content-security-policy']).toBe(
          "script-src 'none'; frame-ancestors 'none', object-src 'self' blob:; base-uri 'self'",
        );
      });
    });
  },
});

function expectHeaders({ headers, head }: RawAnswer): void {
  expect(headers['x-content-type-options'], head).toBe('nosniff');
  // WordPress says it by itself on its login and in wp-admin.
  expect(headers['x-frame-options'], head).toMatch(/^SAMEORIGIN$/i);
  expect(headers['referrer-policy'], head).toBe('strict-origin-when-cross-origin');
  expect(headers['content-security-policy'], head).toMatch(/script-src .*object-src .*base-uri 'self'/);
}
