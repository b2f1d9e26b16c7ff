import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RawResponse } from '../../http/raw.js';
import { form, type TypedRequest } from '../../http/request.js';
import type { Session } from '../../http/session.js';
import { securityOptimizer } from '../../stacks/guard-process.js';
import {
  type ChosenNames,
  type Layout,
  type OddSite,
  startOddInstall,
  writeConfiguration,
} from '../../stacks/odd-install.js';
import { until } from '../../stacks/until.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { FormBrowser, recover, totpCode } from '../login/helpers.js';
import { call, logInToSite, openPage, setAll, visit } from './odd-site.js';

const OWN_COOKIES = {
  LOGGED_IN_COOKIE: 'member_pass',
  AUTH_COOKIE: 'staff_pass',
  SECURE_AUTH_COOKIE: 'staff_pass_tls',
  TEST_COOKIE: 'may_i',
};

/** As a multilingual plugin does: the home page has an additional folder in requests for a language. */
const LANGUAGES = `add_filter( 'home_url', function ( $url, $path ) {
  if ( ! preg_match( '#^/latin-america(/|$)#', $_SERVER['REQUEST_URI'] ?? '' ) ) { return $url; }
  return get_option( 'home' ) . '/latin-america' . ( '' === (string) $path ? '' : '/' . ltrim( $path, '/' ) );
}, 10, 2 );
add_filter( 'security_optimizer_language_folders', function ( $folders ) { $folders[] = 'latin-america'; return $folders; } );`;

interface Choice extends ChosenNames {
  readonly home?: string;
  readonly core?: string;
  readonly content?: string;
  /** URL path of the uploads folder. */
  readonly uploads?: string;
  readonly rest?: string;
  /** Category base. */
  readonly base?: string;
  /** Page to which a plugin redirects registered users instead of wp-admin. */
  readonly members?: string;
}

const CHOICES: readonly (readonly [string, Choice])[] = [
  ['its cookies and tables by other names', { constants: { ...OWN_COOKIES, COOKIEHASH: 'shop' }, tablePrefix: 'q7_' }],
  [
    'one of its cookies by another name, for another path',
    { constants: { LOGGED_IN_COOKIE: 'wordpress_pass', COOKIEPATH: '/', SITECOOKIEPATH: '/', ADMIN_COOKIE_PATH: '/' } },
  ],
  [
    'folders of content, plugins, uploads and must-use plugins by other names',
    {
      content: 'assets',
      mustUse: 'musts/own',
      uploads: '/media/files',
      constants: {
        WP_PLUGIN_DIR: 'ROOT/modules',
        WP_PLUGIN_URL: 'ORIGIN/modules',
        WPMU_PLUGIN_DIR: 'ROOT/musts/own',
        WPMU_PLUGIN_URL: 'ORIGIN/musts/own',
        UPLOADS: 'media/files',
        WP_LANG_DIR: 'ROOT/words',
      },
    },
  ],
  [
    'another REST prefix, bases and languages',
    {
      rest: 'api/data',
      base: 'topics',
      plugin: `add_filter( 'rest_url_prefix', function () { return 'api/data'; } );\n${LANGUAGES}`,
      options: { permalink_structure: '/archive/%postname%/', category_base: 'topics', tag_base: 'words/of' },
    },
  ],
  [
    'addresses that plugins lead to another host',
    {
      plugin: `foreach ( array( 'content_url', 'plugins_url', 'includes_url' ) as $hook ) {
  add_filter( $hook, function ( $url ) { return preg_replace( '#^https?://[^/]+(?:/wp-(?:content|includes))?#', 'http://cdn.example/files', $url ); } );
}
add_filter( 'upload_dir', function ( $dir ) { $dir['baseurl'] = 'http://cdn.example'; return $dir; } );
add_filter( 'admin_url', function ( $url, $path ) { return in_array( $path, array( '', 'profile.php' ), true ) ? home_url( '/my-account' ) : $url; }, 10, 2 );
add_action( 'template_redirect', function () { if ( is_404() && isset( $_GET['go'] ) ) { wp_safe_redirect( admin_url() ); exit; } } );`,
      members: '/my-account',
    },
  ],
  ['WordPress outside of the folder of the home page', { home: '/blog', core: 'engine' }],
];

/** Each one starts its own PHP with SQLite. */
const canRun = inject('stacks').some((stack) => stack.kind === 'embedded' && !('problem' in stack));
const ELSEWHERE = '127.0.83.9';

describe.skipIf(!canRun).each(CHOICES)('a site with %s', (_name, choice) => {
  const { home = '', core = '', content, uploads, rest = 'wp-json', base = 'category', members, ...names } = choice;
  const corePath = core === '' ? '' : `/${core}`;
  let dir: string;
  let site: OddSite;
  let owner: Session;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'so-names-'));
    const layout: Layout = { home, core, ...(content !== undefined && { content }), names };
    site = await startOddInstall(dir, layout);
    owner = await logInToSite(site);
  });
  afterAll(async () => {
    await site?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const browse = (loginPath = `${corePath}/wp-login.php`) => new FormBrowser(site, ELSEWHERE, 'A browser', loginPath);
  const ajax = (cookie: string): TypedRequest =>
    form(`${corePath}/wp-admin/admin-ajax.php`, 'action=heartbeat&interval=60', { cookie });
  const admin = `${corePath}/wp-admin/profile.php`;
  /** Anonymous clients are redirected to the login, or get 404. */
  const isSignedIn = async (browser: FormBrowser) => (await browser.get(admin)).status === 200;
  const addPost = (session: Session, prefix: string) =>
    visit(site, {
      method: 'POST',
      target: `${home}/${prefix}/wp/v2/posts`,
      headers: { cookie: session.cookie, 'x-wp-nonce': session.nonce, 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'A post', status: 'publish' }),
    });

  it('is connected, and its owner can open the dashboard', async () => {
    const output = await securityOptimizer('status', '--data-dir', site.guardDir, '--json');
    expect(JSON.parse(output.stdout)).toMatchObject({ problems: [], sites: [{ connector: 'ok', policyInSync: true }] });
    for (const page of ['security-optimizer', 'login-settings', 'site-security', 'activity-log', 'post-hack-actions']) {
      expect([page, (await openPage(site, owner, page)).answer.status]).toEqual([page, 200]);
    }
    expect((await call(site, owner, '/fetch-options', { page: 'security' })).body).toMatchObject({ status: 200 });
    expect((await addPost(owner, rest)).status).toBe(201);
  });

  it('has its moved folders locked', async () => {
    const files = uploads ?? `${content === undefined ? `${corePath}/wp-content` : `/${content}`}/uploads`;
    const shell = join(site.dir, 'root', files, 'shell.php');
    mkdirSync(dirname(shell), { recursive: true });
    writeFileSync(shell, '<?php echo "ran";');
    await setAll(site, owner, 1);
    expect((await visit(site, { target: `${files}/shell.php` })).status).toBe(403);
    expect((await visit(site, { target: `${corePath}/wp-includes/version.php` })).status).toBe(403);
    expect((await visit(site, { target: `${corePath}/xmlrpc.php`, method: 'POST', body: '' })).status).toBe(403);
    // A term that is named like a protected file is a page of the site.
    await runInWordPress(site, `wp_insert_term( 'wp-admin', 'category' );`);
    expect((await visit(site, { target: `${home}/${base}/wp-admin/feed/` })).status).toBe(404);
    expect((await visit(site, { target: `${home}/${base}/xmlrpc.php` })).status).toBe(404);
    await setAll(site, owner, 0);
    expect((await visit(site, { target: `${files}/shell.php` })).body).toBe('ran');
  });

  it('lets its owner log in at a custom login URL, and hides its own', async () => {
    await call(site, owner, '/custom-login-url', { type: 'custom', login: 'my-door', signup: 'join-us' });
    const browser = browse(`${home}/my-door`);
    expect((await browser.get(admin)).status).toBe(404);
    const page = await browser.get(`${home}/my-door`);
    expect(page.status).toBe(200);
    // A browser sends a cookie only below its path. The form is in the home page's folder, its styles are in wp-admin.
    const marked = /^set-cookie: visit_mark=[^\n]*; path=([^;\r\n]+)/im.exec(page.head)?.[1];
    expect([`${corePath}/wp-admin/`, `${home}/`].map((path) => path.startsWith(marked ?? 'none'))).toEqual([
      true,
      true,
    ]);
    const style = /href='[^']*(\/wp-admin\/(?:load-styles\.php|css\/)[^']*)'/.exec(page.body)?.[1] ?? '';
    expect((await browser.get(corePath + style.replace(/&(?:amp|#038);/g, '&'))).status).toBe(200);
    expect((await browse().get(corePath + style.replace(/&(?:amp|#038);/g, '&'))).status).toBe(404);
    if (members !== undefined) {
      const led = await browser.get(`${home}/nothing-here?go=1`);
      expect([led.status, led.headers.location]).toEqual([302, expect.stringMatching(`${members}$`)]);
      expect((await browser.get('/wp-admin/')).status).toBe(404);
    }
    await browser.logIn(site.user);
    expect(await isSignedIn(browser)).toBe(true);
    await call(site, owner, '/custom-login-url', { type: 'default', login: '', signup: '' });
    await until('the old address answers', async () =>
      (await visit(site, { target: `${corePath}/wp-login.php` })).body.includes('name="log"'),
    );
  });

  it('refuses clients that Login Access does not list, with or without a session', async () => {
    const browser = browse();
    await browser.logIn(site.user);
    expect(await isSignedIn(browser)).toBe(true);
    await call(site, owner, '/login-access', { entries: ['127.0.0.1'] });
    const refused = [admin, `${corePath}/wp-login.php`].map((target) => browser.get(target));
    expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([403, 403]);
    expect((await browser.request(ajax(browser.cookie))).status).toBe(403);
    expect((await visit(site, { target: admin, headers: { cookie: owner.cookie } })).status).toBe(200);
    await recover(site, 'login-access', 'clear');
    await until('the browser may go on', () => isSignedIn(browser));
  });

  it('asks for the second factor, and accepts it', async () => {
    await call(site, owner, '/2fa', { sg2fa: 1 });
    const browser = browse();
    const half = await browser.logIn(site.user);
    expect([half.status, half.headers.location]).toEqual([303, expect.stringContaining('action=second-factor')]);
    expect(await isSignedIn(browser)).toBe(false);
    const page = await browser.get(toPath(half));
    const key = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.body)?.[1] ?? '';
    const shown = await browser.send(page, 'enrol', { code: totpCode(key) }, toPath(half));
    const done = await browser.send(shown, 'continue', { saved: '1' }, toPath(half));
    expect(done.status).toBe(303);
    expect(await isSignedIn(browser)).toBe(true);
    const target = `${corePath}/wp-admin/admin-ajax.php?action=rest-nonce`;
    const nonce = (await browser.get(target)).body.trim();
    const off = await call(site, { ...owner, cookie: browser.cookie, nonce }, '/2fa', { sg2fa: 0 });
    expect(off.body).toMatchObject({ status: 200 });
    await recover(site, 'two-factor', 'reset', site.user);
    owner = await logInToSite(site);
  });

  it('is closed by Away Mode, also for users with a session', async () => {
    const away = await call(site, owner, '/away-mode', { type: 'weekly', weekly: daysAroundNow(), confirm: true });
    expect(away.body).toMatchObject({ status: 200 });
    expect((await visit(site, { target: admin, headers: { cookie: owner.cookie } })).status).toBe(403);
    expect((await visit(site, ajax(owner.cookie))).status).toBe(403);
    expect((await addPost(owner, rest)).status).toBe(403);
    for (const language of ['latin-america', 'en']) {
      expect((await addPost(owner, `${language}/${rest}`)).status).not.toBe(201);
    }
    expect((await browse().logIn(site.user)).status).toBe(403);
    expect((await visit(site, { target: `${home}/` })).status).toBe(200);
    await recover(site, 'away-mode', 'off');
    await until('the owner works again', async () => (await addPost(owner, rest)).status === 201);
  });
});

describe.skipIf(!canRun)('a site that changes its paths while guard runs', () => {
  let dir: string;
  let site: OddSite;
  let owner: Session;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'so-names-'));
    site = await startOddInstall(dir, { home: '', core: '' });
    owner = await logInToSite(site);
    await call(site, owner, '/custom-login-url', { type: 'custom', login: 'my-door', signup: 'join-us' });
    await setAll(site, owner, 1);
  });
  afterAll(async () => {
    await site?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('is followed within a minute, without any logged event: cookies and uploads', async () => {
    mkdirSync(join(site.wordpressDir, 'media'), { recursive: true });
    writeFileSync(join(site.wordpressDir, 'media/shell.php'), '<?php echo "ran";');
    expect((await visit(site, { target: '/media/shell.php' })).body).toBe('ran');
    writeConfiguration(join(site.wordpressDir, 'wp-config.php'), { ...OWN_COOKIES, UPLOADS: 'media' });
    const changed = Date.now();
    // A visit, since guard learns from responses.
    await until(
      'the new folder is locked',
      async () => (await visit(site, { target: '/media/shell.php' })).status === 403,
    );
    expect(Date.now() - changed).toBeLessThan(60_000);
    const browser = new FormBrowser(site, ELSEWHERE, 'A browser', '/my-door');
    await browser.logIn(site.user);
    expect(browser.cookie).toContain('member_pass=');
    expect((await browser.get('/wp-admin/profile.php')).status).toBe(200);
  });

  it('is followed within a minute when its owner chooses another base for categories', async () => {
    const closed = async (base: string) =>
      (await visit(site, { target: `/${base}/xmlrpc.php`, method: 'POST', body: '' })).status === 403;
    expect([await closed('category'), await closed('topics')]).toEqual([false, true]);
    await runInWordPress(site, `update_option( 'category_base', 'topics' );`);
    await runInWordPress(site, 'flush_rewrite_rules( false );');
    const changed = Date.now();
    await until('the new base is known', async () => !(await closed('topics')));
    expect(Date.now() - changed).toBeLessThan(60_000);
    expect(await closed('category')).toBe(true);
  });
});

/** Yesterday, today and tomorrow, independent of the time. */
function daysAroundNow(): string[] {
  const name = (days: number) =>
    new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' })
      .format(Date.now() + days * 24 * 3600_000)
      .toLowerCase();
  return [-1, 0, 1].map(name);
}

function toPath({ headers }: RawResponse): string {
  const to = new URL(headers.location ?? '/', 'http://site.example');
  return to.pathname + to.search;
}
