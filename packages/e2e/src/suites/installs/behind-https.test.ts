import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '@security-optimizer/sandbox/lib/service';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { form } from '../../http/request.js';
import { authorised, callApi, getCookies, type Session } from '../../http/session.js';
import { guardLog, policyPushed, securityOptimizer, startGuard, stopGuard } from '../../stacks/guard-process.js';
import { removeLayouts } from '../../stacks/layouts.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { type Front, startFront } from './front-by-guide.js';
import { guideBlocks } from './helpers.js';
import {
  attachAgain,
  attachAnew,
  HOST,
  installSite,
  readStatus,
  type SiteBehind,
  startApache,
  startNginx,
  visit,
} from './site-behind.js';

/** A site with https only, on web servers that redirect to https and have caches, configured as in the guide. */

const MINUTES = 60_000;
const SCHEME = 'The visitor’s scheme';
const stack = inject('stacks').find((one): one is Stack => one.kind === 'nginx-defaults' && !('problem' in one));
const hasApache = spawnSync('apache2', ['-v']).error === undefined;

/** The content of WordPress's `.htaccess`, without redirects. */
const HTACCESS = `RewriteRule ^index\\.php$ - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /index.php [L]
`;

/** The usual redirect, based on whether Apache itself has a TLS connection. */
const NAIVE = `RewriteCond %{HTTPS} off
RewriteRule .* https://%{HTTP_HOST}%{REQUEST_URI} [R=301,L]
`;

/** Adds the scheme of the request to a page, and does not redirect pages with `both`. */
const PLUGIN = `<?php
add_action( 'wp_head', function () { echo is_ssl() ? '<!-- made by https -->' : '<!-- made by http -->'; } );
add_action( 'template_redirect', function () {
  if ( isset( $_GET['both'] ) ) { remove_action( 'template_redirect', 'redirect_canonical' ); }
  if ( isset( $_GET['moved'] ) && ! is_ssl() ) {
    header( 'Cache-Control: max-age=3600' );
    wp_redirect( 'https://' . $_SERVER['HTTP_HOST'] . '/?moved', 301 );
    exit;
  }
}, 1 );
`;

/** A page cache like the common ones: it runs before plugins load, and stores pages in files. */
const DROP_IN = `<?php
function drop_in_file() {
  $https = isset( $_SERVER['HTTPS'] ) && in_array( strtolower( $_SERVER['HTTPS'] ), array( 'on', '1' ), true );
  $https = $https || ( isset( $_SERVER['SERVER_PORT'] ) && '443' === (string) $_SERVER['SERVER_PORT'] );
  $key   = ( $https ? 'https' : 'http' ) . '://' . $_SERVER['HTTP_HOST'] . $_SERVER['REQUEST_URI'];
  return WP_CONTENT_DIR . '/cache/pages/' . md5( $key ) . '.html';
}
if ( 'GET' === $_SERVER['REQUEST_METHOD'] && empty( $_COOKIE ) && 0 === strpos( $_SERVER['REQUEST_URI'], '/?both' ) ) {
  if ( is_file( drop_in_file() ) ) {
    header( 'X-Drop-In: hit' );
    readfile( drop_in_file() );
    exit;
  }
  header( 'X-Drop-In: miss' );
  ob_start( function ( $page ) {
    if ( 200 === http_response_code() ) { file_put_contents( drop_in_file(), $page ); }
    return $page;
  } );
}
`;

describe.skipIf(stack === undefined)(
  'a site with https only on a web server behind guard',
  { timeout: 5 * MINUTES },
  () => {
    const dir = join((stack as Stack | undefined)?.dir ?? '', 'behind-https');
    let site: SiteBehind;
    let web: Service | undefined;
    let front: Front | undefined;

    beforeAll(async () => {
      site = await installSite(stack as Stack, dir, 'behindhttps');
      const content = join(site.wordpressDir, 'wp-content');
      mkdirSync(join(content, 'mu-plugins'), { recursive: true });
      writeFileSync(join(content, 'mu-plugins/scheme.php'), PLUGIN);
      mkdirSync(join(content, 'cache/pages'), { recursive: true });
    }, 5 * MINUTES);
    afterEach(async () => {
      await stopGuard(site);
      await front?.service.stop();
      front = undefined;
      await web?.stop();
      web = undefined;
    });
    afterAll(() => removeLayouts(dir));

    const events = (name: string) => guardLog(site).filter(({ event }) => event === name);
    const expectHealthy = async () => {
      const { problems, sites } = await readStatus(site);
      expect(problems).toEqual([]);
      expect(sites).toMatchObject([{ wordpress: 'reachable', connector: 'ok', redirectLoop: null }]);
    };
    const byHttps = { 'x-forwarded-for': '127.0.90.9', 'x-forwarded-proto': 'https' };

    /** Logs the owner in, and changes a protection as the dashboard does. */
    const switchFeeds = async (value: 0 | 1) => {
      const test = { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' };
      const fields = new URLSearchParams({ log: site.user, pwd: site.password, testcookie: '1' });
      const { target, ...typed } = form('/wp-login.php', fields.toString(), test);
      const cookie = getCookies(
        await visit(site, target, 'https', { ...typed, headers: { ...typed.headers, ...byHttps } }),
      );
      const page = await visit(site, '/wp-admin/admin-ajax.php?action=rest-nonce', 'https', { headers: { cookie } });
      const owner: Session = { login: site.user, cookie, nonce: page.body.trim() };
      return callApi(site, {
        path: '/?rest_route=/security-optimizer/v1/disable-feeds',
        body: JSON.stringify({ disable_feed: value }),
        headers: { ...authorised(owner), ...byHttps },
      });
    };

    describe('nginx that serves it with https only, as in the guide', () => {
      const redirect = () => guideBlocks(SCHEME, 'nginx').find((block) => block.includes('return 301')) as string;

      it.each([[[HOST]], [[]]])('receives guard’s commands, attached with the hosts %j', async (hosts) => {
        web = await startNginx(site, { lines: redirect() });
        const attached = await attachAnew(site, hosts);
        expect(attached).toMatchObject({ code: 0, stderr: '', stdout: expect.not.stringContaining('not verified') });
        await startGuard(site);
        await policyPushed(site);
        expect([...events('connector-missing'), ...events('wordpress-unreachable')]).toEqual([]);
        await expectHealthy();
        expect(await visit(site, '/', 'http')).toMatchObject({
          status: 301,
          headers: { location: `https://${HOST}/` },
        });
        const page = await visit(site, '/');
        expect([page.status, page.body.includes('made by https')]).toEqual([200, true]);
        expect((await switchFeeds(1)).body).toMatchObject({ status: 200 });
        expect((await switchFeeds(0)).body).toMatchObject({ status: 200 });
      });

      const OTHERS: readonly (readonly [string, string])[] = [
        ['answers with a page', 'return 200 "another site";'],
        ['answers with 404', 'return 404;'],
        ['closes the connection', 'return 444;'],
        ['redirects to its own name', 'return 301 https://other.example$request_uri;'],
      ];

      it.each(OTHERS)(
        'with another server block that %s: the first page of a visitor reaches it',
        async (_what, answer) => {
          const other = `server { listen 127.0.0.1:${site.upstreamPort} default_server; server_name other.example; ${answer} }`;
          web = await startNginx(site, { lines: redirect(), before: other }).catch(() => undefined);
          const attached = await attachAnew(site, []);
          const own = `127.0.0.1:${site.upstreamPort}`;
          if (answer !== 'return 444;') expect(attached.stdout + attached.stderr).toContain(own);
          if (answer.includes('another')) {
            expect(attached.stderr).toContain(`What answers for the host ${own} has no connector plugin.`);
            expect(attached.stderr).toContain('--host');
          }
          await startGuard(site);
          expect((await readStatus(site)).problems).not.toEqual([]);
          expect((await visit(site, '/')).status).toBe(200);
          await policyPushed(site);
          await until('status is well', async () => (await readStatus(site)).problems.length === 0);
          await expectHealthy();
          expect(await attachAgain(site)).toMatchObject({
            code: 0,
            stdout: expect.stringContaining('has taken it up'),
          });
        },
      );
    });

    describe.skipIf(!hasApache)('Apache', () => {
      const htaccess = (redirect: string) =>
        writeFileSync(join(site.wordpressDir, '.htaccess'), `RewriteEngine On\n${redirect}${HTACCESS}`);
      const mended = () => guideBlocks(SCHEME, 'apache').find((block) => block.includes('RewriteCond')) as string;

      it('that redirects based on its own connection is reported, and the lines of the guide correct it', async () => {
        htaccess(NAIVE);
        web = await startApache(site);
        const attached = await attachAnew(site, [HOST]);
        const loop = `redirects guard’s commands to https://${HOST}/index.php`;
        expect(attached.stdout + attached.stderr).toContain(loop);
        await startGuard(site);
        await until('guard says so', () => events('wordpress-unreachable').length > 0);
        expect(events('wordpress-unreachable')[0]).toMatchObject({ redirect: `https://${HOST}/index.php` });
        expect(events('connector-missing')).toEqual([]);
        const before = await readStatus(site);
        expect(before.sites).toMatchObject([{ wordpress: 'reachable', connector: 'redirected' }]);
        expect(before.problems).toEqual([expect.stringContaining(loop)]);
        expect(before.problems[0]).toContain('X-Forwarded-Proto');
        expect(await visit(site, '/')).toMatchObject({ status: 301, headers: { location: `https://${HOST}/` } });

        htaccess(mended());
        await until('status is well', async () => (await readStatus(site)).problems.length === 0);
        await expectHealthy();
        expect((await visit(site, '/')).status).toBe(200);
        expect(await visit(site, '/', 'http')).toMatchObject({
          status: 301,
          headers: { location: `https://${HOST}/` },
        });
        expect((await switchFeeds(1)).body).toMatchObject({ status: 200 });
        expect((await switchFeeds(0)).body).toMatchObject({ status: 200 });
        writeFileSync(join(site.wordpressDir, 'https.php'), '<?php echo $_SERVER["HTTPS"] ?? "none";');
        expect((await visit(site, '/https.php')).body).toBe('on');

        // Only the first page: commands pass, and visitors do not notice.
        htaccess(`RewriteCond %{REQUEST_URI} ^/$\n${NAIVE}`);
        const after = await readStatus(site);
        expect(after.sites).toMatchObject([{ connector: 'ok', redirectLoop: `https://${HOST}/` }]);
        expect(after.problems).toEqual([
          expect.stringContaining(`leads visitors of https://${HOST}/ to the very same address`),
        ]);
      });
    });

    describe('page caches configured as in the guide', () => {
      const begin = async () => {
        await attachAnew(site, [HOST]);
        await startGuard(site);
        await policyPushed(site);
      };

      it('of nginx serve https, share no entry with http, and store no redirect', async () => {
        web = await startNginx(site, { example: 'nginx-wordpress-cache.conf' });
        await begin();
        for (const scheme of ['https', 'http'] as const) {
          const pages = [await visit(site, '/?both', scheme), await visit(site, '/?both', scheme)];
          expect(pages.map(({ status, headers }) => [status, headers['x-cache']])).toEqual([
            [200, 'MISS'],
            [200, 'HIT'],
          ]);
          for (const { body } of pages) expect(body).toContain(`made by ${scheme} `);
        }
        // WordPress itself marks this redirect as cacheable.
        for (let time = 0; time < 2; time++) {
          const { status, headers } = await visit(site, '/?moved', 'http');
          expect([status, headers['x-cache'], headers.location]).toEqual([301, 'MISS', `https://${HOST}/?moved`]);
        }
        expect((await visit(site, '/?moved')).status).toBe(200);
        await expectHealthy();
      });

      it('of nginx satisfy doctor, which reports one without the scheme in its key', async () => {
        const file = 'nginx-wordpress-cache.conf';
        web = await startNginx(site, { example: file });
        await begin();
        front = await startFront(site, 'nginx', '');
        expect(await examineCache(front)).toMatchObject({ state: 'ok' });
        await web.stop();
        web = await startNginx(site, {
          example: file,
          change: (text) => text.replace('_key "$http_x_forwarded_proto ', '_key "'),
        });
        expect(await examineCache(front)).toMatchObject({ state: 'problem', code: 'cache-mixes-schemes' });
      });

      const examineCache = async ({ port }: Front) => {
        const [found] = (await readStatus(site)).sites;
        const args = [String(found?.id), '--data-dir', site.guardDir, '--connect', `127.0.0.1:${port}`, '--json'];
        const { stdout } = await securityOptimizer('doctor', ...args);
        return (JSON.parse(stdout) as { readonly check: string }[]).find(({ check }) => check === 'cache');
      };

      describe('of plugins that run before WordPress', () => {
        const config = () => join(site.wordpressDir, 'wp-config.php');
        beforeAll(() => {
          writeFileSync(join(site.wordpressDir, 'wp-content/advanced-cache.php'), DROP_IN);
          writeFileSync(
            config(),
            readFileSync(config(), 'utf8').replace('<?php\n', "<?php\ndefine( 'WP_CACHE', true );\n"),
          );
        });
        afterAll(() => {
          writeFileSync(config(), readFileSync(config(), 'utf8').replace("define( 'WP_CACHE', true );\n", ''));
        });

        const twice = async (target: string, scheme: 'http' | 'https') => {
          const pages = [await visit(site, target, scheme), await visit(site, target, scheme)];
          return pages.map(({ headers, body }) => [headers['x-drop-in'], body.includes(`made by ${scheme} `)]);
        };
        const HIT = [
          ['miss', true],
          ['hit', true],
        ];

        it('never hit for https without the line of the guide, and do with it, separately for each scheme', async () => {
          web = await startNginx(site, { change: (text) => text.replace(/^ *fastcgi_param HTTPS .*\n/m, '') });
          await begin();
          expect(await twice('/?both=a', 'https')).toEqual([
            ['miss', true],
            ['miss', true],
          ]);
          // Now an http visitor requests a page that is not cached for http.
          await web.stop();
          web = await startNginx(site);
          expect(await twice('/?both=b', 'https')).toEqual(HIT);
          expect(await twice('/?both=b', 'http')).toEqual(HIT);
          await expectHealthy();
        });

        it.skipIf(!hasApache)('hit on Apache too', async () => {
          writeFileSync(join(site.wordpressDir, '.htaccess'), `RewriteEngine On\n${HTACCESS}`);
          web = await startApache(site);
          await begin();
          expect(await twice('/?both=c', 'https')).toEqual(HIT);
          expect(await twice('/?both=c', 'http')).toEqual(HIT);
          await expectHealthy();
        });
      });
    });
  },
);
