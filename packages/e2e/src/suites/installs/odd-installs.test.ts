import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { countQueries } from '../../http/count-queries.js';
import { form, sendRequest } from '../../http/request.js';
import { authorised, callApi, type Session } from '../../http/session.js';
import { securityOptimizer } from '../../stacks/guard-process.js';
import { deployRelease, type Layout, leadTo, type OddSite, startOddInstall } from '../../stacks/odd-install.js';
import { until } from '../../stacks/until.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { testCustomLoginUrl } from './custom-login-url.js';
import { call, logInToSite, openPage, setAll, visit } from './odd-site.js';

const LAYOUTS: readonly (readonly [string, Layout])[] = [
  ['in a sub-directory', { home: '/blog', core: 'blog' }],
  ['in a folder of its own, its index.php in the root', { home: '', core: 'core' }],
  [
    'in a folder of its own below a sub-directory, with plain permalinks',
    { home: '/blog', core: 'blog/core', plain: true },
  ],
  [
    'in releases, with wp-content moved out of WordPress',
    { home: '', core: 'core', content: 'assets', releases: true },
  ],
  ['with plain permalinks', { home: '', core: '', plain: true }],
  ['as a network in sub-directories', { home: '', core: '', network: true }],
  // Only root can make a folder that no owner of a site may change.
  ...(process.getuid?.() === 0
    ? ([['with a connector that sites share', { home: '', core: '', shared: true }]] as const)
    : []),
  ['behind a TLS proxy on a port of its own', { home: '', core: '', origin: 'https://shop.example:8443' }],
];

/** Each one starts its own PHP with SQLite. */
const canRun = inject('stacks').some((stack) => stack.kind === 'embedded' && !('problem' in stack));

describe.skipIf(!canRun).each(LAYOUTS)('WordPress %s', (_name, layout) => {
  let dir: string;
  let site: OddSite;
  let owner: Session;
  const { home } = layout;
  const core = layout.core === '' ? '' : `/${layout.core}`;
  const content = layout.content === undefined ? `${core}/wp-content` : `/${layout.content}`;
  /** Every address of the site below which WordPress answers. */
  const homes = layout.network === true ? [home, '/second'] : [home];

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'so-odd-'));
    site = await startOddInstall(dir, layout);
    owner = await logInToSite(site);
  });
  afterAll(async () => {
    await site?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const status = async (target: string, method = 'GET') =>
    [target, (await visit(site, { method, target, ...(method === 'POST' ? { body: '' } : {}) })).status] as const;
  const all = async (expected: number, targets: readonly string[], method = 'GET') => {
    for (const target of targets) expect(await status(target, method)).toEqual([target, expected]);
  };

  it('is connected, and status reports it', async () => {
    const output = await securityOptimizer('status', '--data-dir', site.guardDir, '--json');
    expect(JSON.parse(output.stdout)).toMatchObject({
      problems: [],
      sites: [{ connector: 'ok', policyInSync: true }],
    });
  });

  it.runIf(layout.origin === undefined && layout.network !== true)(
    'passes doctor, except for the warning about http',
    async () => {
      const output = await securityOptimizer('doctor', 'site', '--data-dir', site.guardDir, '--json');
      const findings = JSON.parse(output.stdout) as { check: string; state: string; message: string }[];
      // The state of the disk does not depend on the site.
      const wrong = findings.filter(({ check, state }) => state !== 'ok' && check !== 'disk');
      expect(wrong).toMatchObject([
        // PHP's own web server, which these sites use, does not support proxies.
        { check: 'server-behind', state: 'skipped' },
        { check: 'https', state: 'problem' },
        { check: 'certificate', state: 'skipped' },
      ]);
    },
  );

  it('shows the owner the five pages with their scripts and styles', async () => {
    for (const page of ['security-optimizer', 'login-settings', 'site-security', 'activity-log', 'post-hack-actions']) {
      const { answer, config } = await openPage(site, owner, page);
      expect(answer.status).toBe(200);
      const own = new URL(config.assets_path as string);
      expect(own.href.startsWith(`${site.url}${content}/mu-plugins/`)).toBe(true);
      const files = [...answer.body.matchAll(/(?:href|src)=['"]([^'"]*mu-plugins\/security-optimizer\/[^'"]+)/g)];
      expect(files.length).toBeGreaterThan(1);
      for (const [, url] of files) await all(200, [new URL(url as string, site.url).pathname]);
    }
  });

  describe('with every option of Site Security on', () => {
    beforeAll(async () => {
      const uploads = join(dir, 'root', content, 'uploads');
      mkdirSync(uploads, { recursive: true });
      writeFileSync(join(uploads, 'shell.php'), '<?php echo "ran";');
      writeFileSync(join(dir, 'root', core, 'wp-config.php.bak'), 'DB_PASSWORD');
      writeFileSync(join(dir, 'root', '.env'), 'KEY=1');
      const options = await setAll(site, owner, 1);
      expect(options).toEqual(Object.fromEntries(siteSecurityToggles.map(({ field }) => [field, 1])));
    });

    it('no script runs in folders for files, and no secret is served', async () => {
      await all(403, [
        `${content}/uploads/shell.php`,
        `${content.toUpperCase()}/uploads//shell.php`,
        `/x/..${content}/uploads/shell.php/info`,
        `${content}/languages/x.php`,
        `${core}/wp-includes/version.php`,
        `${core}/wp-admin/includes/file.php`,
        `${core}/wp-config.php.bak`,
        '/.env',
        ...homes.map((at) => `${at}/.git/config`),
        ...(layout.network === true ? ['/second/wp-content/uploads/shell.php', '/second/wp-includes/version.php'] : []),
      ]);
    });

    it('no response reveals the version', async () => {
      await all(404, [`${core}/readme.html`, `${core}/license.txt`]);
      expect(existsSync(join(dir, 'root', core, 'readme.html'))).toBe(false);
      for (const at of homes) {
        const page = await visit(site, { target: `${at}/` });
        expect(page.status).toBe(200);
        expect(page.body).not.toMatch(/name="generator"|[?&]ver=6\.\d/);
        expect(page.body).not.toMatch(/type="application\/rss\+xml"|rel="EditURI"|rel="pingback"/i);
        expect(page.headers['x-pingback']).toBeUndefined();
      }
    });

    it('file editors, XML-RPC and feeds are closed', async () => {
      for (const at of [core, ...homes]) {
        for (const screen of ['theme-editor.php', 'plugin-editor.php']) {
          const response = await visit(site, { target: `${at}/wp-admin/${screen}`, headers: { cookie: owner.cookie } });
          expect([at, screen, response.status]).toEqual([at, screen, 403]);
        }
        await all(403, [`${at}/xmlrpc.php`, `${at}/index.php/xmlrpc.php`], 'POST');
      }
      for (const at of homes) {
        await all(404, [
          `${at}/feed/`,
          `${at}/feed`,
          `${at}/?feed=rss2`,
          `${at}/index.php?feed=atom`,
          `${at}/index.php/feed/`,
          `${at}/comments/feed/`,
          `${at}/wp-rss2.php`,
        ]);
      }
      const hidden = await visit(site, form(`${home}/`, 'feed=rss2'));
      expect(hidden.status).toBe(404);
    });

    it('every response carries the headers against XSS', async () => {
      for (const target of [...homes.map((at) => `${at}/`), `${core}/wp-login.php`]) {
        const { headers } = await visit(site, { target });
        expect([target, headers['x-content-type-options']]).toEqual([target, 'nosniff']);
        expect(headers['content-security-policy']).toBeTruthy();
      }
    });

    it('the owner can work: wp-admin, block editor, REST, uploads', async () => {
      const { cookie, nonce } = owner;
      for (const screen of ['', 'post-new.php', 'options-general.php', 'plugins.php', 'upload.php']) {
        const response = await visit(site, { target: `${core}/wp-admin/${screen}`, headers: { cookie } });
        expect([screen, response.status]).toEqual([screen, 200]);
      }
      for (const base of [`${home}/?rest_route=/`, ...(layout.plain === true ? [] : [`${home}/wp-json/`])]) {
        const response = await visit(site, {
          method: 'POST',
          target: `${base}wp/v2/posts`,
          headers: { cookie, 'x-wp-nonce': nonce, 'content-type': 'application/json' },
          body: JSON.stringify({ title: 'A post', status: 'publish' }),
        });
        expect([base, response.status]).toEqual([base, 201]);
        const { link } = JSON.parse(response.body) as { link: string };
        const at = new URL(link);
        await all(200, [at.pathname + at.search]);
      }
    });
  });

  it('with every option off, it behaves as without the product', async () => {
    await setAll(site, owner, 0);
    for (const at of homes) {
      await all(200, [layout.plain === true ? `${at}/?feed=rss2` : `${at}/feed/`]);
      const page = await visit(site, { target: `${at}/` });
      expect(page.body).toMatch(/name="generator"/);
    }
    expect((await visit(site, { target: `${core}/xmlrpc.php` })).body).toContain('accepts POST requests only');
    expect((await visit(site, { target: `${content}/uploads/shell.php` })).body).toBe('ran');
  });

  it('logs visits with the requested path', async () => {
    await visit(site, { target: `${home}/a-page-that-is-missing/?x=1`, headers: { 'user-agent': 'Mozilla/5.0 Test' } });
    await until('the visit is listed', async () => {
      const { body } = await call(site, owner, '/activity-unknown', { page: 1 });
      const { entries } = body.data as { entries: { page_visited: string; ip: string; response: number }[] };
      const found = entries.find(({ page_visited }) => page_visited.includes('a-page-that-is-missing'));
      if (found === undefined) return false;
      expect(found.page_visited).toContain(`${home}/a-page-that-is-missing/`);
      expect(found.ip).toBe(layout.origin === undefined ? '127.0.0.1' : '203.0.113.9');
      return true;
    });
    await until('the login is listed', async () => {
      const { body } = await call(site, owner, '/activity-registered', { page: 1 });
      return JSON.stringify(body.data).includes(site.user);
    });
  });

  testCustomLoginUrl({ core, home, homes, site: () => site, owner: () => owner });

  describe.runIf(layout.network === true)('in the network', () => {
    it('only a super administrator may change settings of all sites', async () => {
      await runInWordPress(
        site,
        `$id = wp_create_user( 'site-admin', '${site.password}', 'site-admin@example.com' );
        foreach ( array( 1, 2 ) as $blog ) { add_user_to_blog( $blog, $id, 'administrator' ); }`,
      );
      const admin = await logInToSite(site, '/wp-login.php', 'site-admin');
      for (const at of ['', '/second']) {
        const { cookie } = admin;
        expect((await visit(site, { target: `${at}/wp-admin/options-general.php`, headers: { cookie } })).status).toBe(
          200,
        );
        const page = await visit(site, { target: `${at}/wp-admin/admin.php?page=site-security`, headers: { cookie } });
        expect([at, page.status]).toEqual([at, 403]);
      }
      for (const suffix of ['/fetch-options', '/activity-unknown', '/logout-users']) {
        const response = await callApi(site, {
          path: `/wp-json/security-optimizer/v1${suffix}`,
          body: '{"page":"security"}',
          headers: authorised(admin),
        });
        expect([suffix, response.http, response.body.code]).toEqual([suffix, 403, 'rest_forbidden']);
      }
    });

    it('adds at most one query to a page of any site, for the policy of the network', async () => {
      for (const target of ['/', '/second/']) {
        const { withConnector, without } = await countQueries(site, { target }, (request) => visit(site, request));
        expect([target, withConnector.count - without.count]).toEqual([target, 1]);
      }
    });

    it('the pages are only in wp-admin of the main site, since they apply to all sites', async () => {
      const { cookie } = owner;
      const page = await visit(site, { target: '/second/wp-admin/admin.php?page=site-security', headers: { cookie } });
      expect(page.status).toBe(403);
      expect((await visit(site, { target: '/second/wp-admin/', headers: { cookie } })).body).not.toContain(
        'Security Optimizer',
      );
    });
  });

  // Only behind a proxy do guesses come from another address than the owner's.
  it.runIf(layout.releases === true)('keeps its settings and sessions after a deployment and a rollback', async () => {
    const attachAll = () => securityOptimizer('attach', '--all', '--data-dir', site.guardDir);
    const readStatus = async () =>
      JSON.parse((await securityOptimizer('status', '--data-dir', site.guardDir, '--json')).stdout);
    const options = await setAll(site, owner, 1);
    deployRelease(dir, '1', '2');
    expect((await readStatus()).problems.join('\n')).toContain('a release without the connector');
    expect(await attachAll()).toMatchObject({ code: 0, stderr: '' });
    for (const release of ['2', '1']) {
      leadTo(dir, release);
      expect(await readStatus()).toMatchObject({ problems: [], sites: [{ connector: 'ok', policyInSync: true }] });
      const page = await openPage(site, owner, 'login-settings');
      expect(page.answer.status).toBe(200);
      await all(403, [`${core}//xmlrpc.php`], 'POST');
      const now = await call(site, owner, '/fetch-options', { page: 'security' });
      expect(now.body.data).toMatchObject(options);
    }
    await setAll(site, owner, 0);
  });

  describe.runIf(layout.origin !== undefined)('behind two proxies', () => {
    const shown = (schemes: string, chain: string) =>
      sendRequest(site, {
        target: `${core}/wp-admin/`,
        headers: { cookie: owner.cookie, 'x-forwarded-for': chain, 'x-forwarded-proto': schemes },
      });
    const [one, two] = ['203.0.113.9', '203.0.113.9, 127.0.0.1'];

    it.each([
      ['https', two],
      ['https, http', two],
      ['https\r\nX-Forwarded-Proto: http', two],
      ['https, ', two],
      ['"https"', two],
      ['HTTPS', two],
      ['https,https', two],
      ['https', one],
      ['http, https', one],
    ])('opens wp-admin with https with %j from %s, without a redirect loop', async (schemes, chain) => {
      expect((await shown(schemes, chain)).status).toBe(200);
    });

    it.each([
      ['http, https', two],
      ['http', two],
      // The first value is the visitor's own.
      ['https, http', one],
      ['https, https, http', one],
      ['https, http, https', two],
    ])('redirects http to https with %j from %s', async (schemes, chain) => {
      const { status, headers } = await shown(schemes, chain);
      expect([status, headers.location]).toEqual([302, `${site.url}${core}/wp-admin/`]);
    });
  });

  it.runIf(layout.origin !== undefined)(
    'locks out the address that the proxy reports after wrong passwords',
    async () => {
      const guess = (address: string) =>
        visit(site, form(`${core}/wp-login.php`, `log=${site.user}&pwd=wrong`), address);
      for (let n = 0; n < 5; n++) expect((await guess('198.51.100.7')).status).toBe(200);
      expect((await guess('198.51.100.7')).status).toBe(429);
      await logInToSite(site);
    },
  );
});
