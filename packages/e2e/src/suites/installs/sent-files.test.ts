import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '@security-optimizer/sandbox/lib/service';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { policyPushed, startGuard, stopGuard } from '../../stacks/guard-process.js';
import { removeLayouts } from '../../stacks/layouts.js';
import type { Stack } from '../../stacks/stack.js';
import { type Front, startFront } from './front-by-guide.js';
import { attachAnew, HOST, installSite, readStatus, type SiteBehind, startApache, startNginx } from './site-behind.js';

/**
 * Plugins that let a web server send a file, as for downloads of a shop: the server behind guard does that, the server
 * in front never does. Both use the guide's examples.
 */

const MINUTES = 60_000;
const SECRET = 'a file of the machine in front';
const BOUGHT = 'what was bought, and lies outside of the site';
const XSENDFILE = '/usr/lib/apache2/modules/mod_xsendfile.so';

const stack = inject('stacks').find((one): one is Stack => one.kind === 'nginx-defaults' && !('problem' in one));
const has = (program: string, flag: string) => spawnSync(program, [flag]).error === undefined;
const isReady = stack !== undefined && has('openssl', 'version') && existsSync('/etc/nginx/fastcgi.conf');

/** Adds the headers listed in a file to every response, also to guard itself; and serves purchased files. */
const plugin = (bought: string) => `<?php
if ( is_file( __DIR__ . '/headers.json' ) ) {
  foreach ( json_decode( file_get_contents( __DIR__ . '/headers.json' ) ) as $line ) { header( $line, false ); }
}
add_action( 'init', function () {
  if ( ! isset( $_GET['download'] ) ) { return; }
  header( 'Content-Type: application/pdf' );
  header( 'Content-Disposition: attachment; filename="bought.pdf"' );
  header( 'nginx' === $_GET['download'] ? 'X-Accel-Redirect: /bought/a%20file.pdf' : 'X-Sendfile: ${bought}' );
  exit;
} );
`;

describe.skipIf(!isReady)(
  'files that a web server sends on request of a plugin (X-Accel-Redirect)',
  { timeout: 5 * MINUTES },
  () => {
    const dir = join(stack?.dir ?? '', 'sent-files');
    const bought = join(dir, 'bought');
    const muPlugins = join(dir, 'tree/wp-content/mu-plugins');
    let site: SiteBehind;
    let running: Service[] = [];

    beforeAll(async () => {
      site = await installSite(stack as Stack, dir, 'sentfiles');
      for (const folder of [muPlugins, bought, join(dir, 'internal')]) mkdirSync(folder, { recursive: true });
      writeFileSync(join(bought, 'a file.pdf'), BOUGHT);
      writeFileSync(join(dir, 'internal/secret'), SECRET);
      writeFileSync(join(muPlugins, 'files.php'), plugin(join(bought, 'a file.pdf')));
    }, 5 * MINUTES);
    afterEach(async () => {
      addHeaders([]);
      await stopGuard(site);
      for (const service of running.reverse()) await service.stop();
      running = [];
    });
    afterAll(() => removeLayouts(dir));

    const addHeaders = (lines: readonly string[]) =>
      writeFileSync(join(muPlugins, 'headers.json'), JSON.stringify(lines));

    /** Guard between the web server behind and a front from the guide. */
    async function through(behind: Service, program: 'nginx' | 'apache2'): Promise<Front> {
      running.push(behind);
      await attachAnew(site, [HOST]);
      await startGuard(site);
      await policyPushed(site);
      const lines = program === 'nginx' ? `  location /internal/ { internal; alias ${dir}/internal/; }` : '';
      const front = await startFront(site, program, lines);
      running.push(front.service);
      return front;
    }

    const REQUESTS = ['X-Accel-Redirect: /internal/secret', 'x-accel-redirect: /internal/secret'];
    const OTHERS = ['X-Sendfile: /srv/secret', 'X-LIGHTTPD-Send-File: /srv/secret', 'X-Accel-Expires: 60'];

    /** Servers behind guard that pass these headers on. */
    const BEHIND: readonly (readonly [string, boolean, () => Promise<Service>])[] = [
      ['Apache', has('apache2', '-v'), () => startApache(site)],
      [
        'an nginx that is told not to obey',
        true,
        () => {
          const names = ['X-Accel-Redirect', 'X-Accel-Expires'];
          const lines = names.map((name) => `fastcgi_ignore_headers ${name};\nfastcgi_pass_header ${name};`).join('\n');
          return startNginx(site, { lines });
        },
      ],
    ];

    describe.each(BEHIND)('with %s behind', (_name, isInstalled, start) => {
      it.skipIf(!isInstalled)('nginx in front sends no file of its own, and reveals no name', async () => {
        const front = await through(await start(), 'nginx');
        for (const request of REQUESTS) {
          addHeaders([request, ...OTHERS, 'X-Kept: kept']);
          // The same without guard.
          for (const target of ['/', '/wp-login.php', '/?rest_route=/', '/?p=987654'])
            expect([target, (await front.requestWithoutGuard({ target })).body]).toEqual([target, SECRET]);
          const page = await front.request({ target: '/' });
          expect([page.status, page.headers['x-kept'], page.body.includes('</html>')]).toEqual([200, 'kept', true]);
          const responses = [page];
          for (const target of ['/wp-login.php', '/?rest_route=/', '/?p=987654']) {
            responses.push(await front.request({ target }));
            responses.push(await front.request({ target, method: 'HEAD' }));
            responses.push(await front.request({ target, headers: { range: 'bytes=0-3', 'if-none-match': '"a"' } }));
          }
          expect(responses.map(({ status }) => status)).toEqual([...Array(7).fill(200), ...Array(3).fill(404)]);
          for (const { head, body } of responses) {
            expect(body).not.toContain(SECRET);
            expect(head).not.toMatch(/accel|internal|send-?file|\/srv\/secret/i);
          }
        }
        // The responses to guard's own commands had the header, too.
        await expect.poll(async () => (await readStatus(site)).problems).toEqual([]);
        expect((await readStatus(site)).sites).toMatchObject([{ wordpress: 'reachable', connector: 'ok' }]);
      });
    });

    it.skipIf(!has('apache2', '-v'))('Apache in front, which ignores the headers, reveals no name', async () => {
      const front = await through(await startApache(site), 'apache2');
      addHeaders([...REQUESTS, ...OTHERS]);
      expect((await front.requestWithoutGuard({ target: '/' })).head).toMatch(/x-accel-redirect: \/internal\/secret/i);
      const { status, head, body } = await front.request({ target: '/' });
      expect([status, body.includes('</html>')]).toEqual([200, true]);
      expect(head).not.toMatch(/accel-redirect|internal|send-?file|\/srv\/secret/i);
    });

    /** Expects the same file as without guard: complete, HEAD, a range, and not modified. */
    async function expectBought(front: Front, target: string): Promise<void> {
      for (const request of [front.requestWithoutGuard, front.request]) {
        const complete = await request({ target });
        expect([complete.status, complete.body]).toEqual([200, BOUGHT]);
        expect(complete.headers).toMatchObject({
          'content-type': 'application/pdf',
          'content-disposition': 'attachment; filename="bought.pdf"',
          'content-length': String(BOUGHT.length),
        });
        expect(complete.head).not.toMatch(/accel|sendfile|\/bought\//i);
        const head = await request({ target, method: 'HEAD' });
        expect([head.status, head.headers['content-length'], head.body]).toEqual([200, String(BOUGHT.length), '']);
        const part = await request({ target, headers: { range: 'bytes=5-7' } });
        expect([part.status, part.body]).toEqual([206, BOUGHT.slice(5, 8)]);
        const again = await request({ target, headers: { 'if-none-match': complete.headers.etag as string } });
        expect([again.status, again.body]).toEqual([304, '']);
      }
    }

    it.each(['nginx-wordpress.conf', 'nginx-wordpress-cache.conf'] as const)(
      'the nginx behind sends the purchased file through guard and nginx in front: %s',
      async (example) => {
        const lines = `location /bought/ { internal; alias ${bought}/; }`;
        const front = await through(await startNginx(site, { example, lines }), 'nginx');
        for (let time = 0; time < 2; time++) await expectBought(front, '/?download=nginx');
        // Other clients must not get it.
        expect((await front.request({ target: '/bought/a%20file.pdf' })).status).toBe(404);
      },
    );

    it.skipIf(!existsSync(XSENDFILE))('the Apache behind sends the purchased file with mod_xsendfile', async () => {
      const lines = `XSendFile On\nXSendFilePath ${bought}`;
      const front = await through(await startApache(site, { modules: ['xsendfile'], lines }), 'nginx');
      await expectBought(front, '/?download=apache');
    });
  },
);
