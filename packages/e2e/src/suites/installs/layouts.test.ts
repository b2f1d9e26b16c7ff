import { mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RawResponse } from '../../http/raw.js';
import { form, sendUpstream } from '../../http/request.js';
import { getCookies, type Session } from '../../http/session.js';
import { guardLog, securityOptimizer } from '../../stacks/guard-process.js';
import {
  FOLDER_ADDED_INSIDE,
  type Layouts,
  makeTree,
  NETWORK_IN_FOLDERS,
  removeLayouts,
  startLayouts,
} from '../../stacks/layouts.js';
import { makeNetwork, type OddSite } from '../../stacks/odd-install.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { totpCode } from '../login/helpers.js';
import { call, logInToSite, openPage, setAll, toComparable, visit } from './odd-site.js';

const MINUTES = 60_000;

/** The stack whose WordPress, PHP and database they use. */
const stack = inject('stacks').find((one): one is Stack => one.kind === 'nginx-defaults' && !('problem' in one));

const DOMAINS = { main: 'network.example', own: 'garden.example', alias: 'allotment.example' } as const;
const FOLDERS = 'folders.example';
const REWRITTEN = 'rewritten.example';
const ABOVE = 'above.example';
const DEPLOYED = 'deployed.example';
const INSIDE = 'inside.example';

/**
 * Maps a site of the network to a domain that is not in its table of sites, and sets cookies for the requested domain.
 */
const SUNRISE = `<?php
$host = strtolower( $_SERVER['HTTP_HOST'] );
if ( '${DOMAINS.alias}' === $host ) {
	$current_blog         = get_site_by_path( '${DOMAINS.own}', '/' );
	$current_site         = get_network( $current_blog->site_id );
	$blog_id              = (int) $current_blog->blog_id;
	$site_id              = (int) $current_blog->site_id;
	$current_blog->domain = $host;
	foreach ( array( 'home', 'siteurl' ) as $name ) {
		add_filter( "pre_option_$name", static function () use ( $host ) { return "http://$host"; } );
	}
}
define( 'COOKIE_DOMAIN', $host );
`;

/** Loads every must-use plugin in its own folder, as Composer-based sites do. */
const AUTOLOADER = `<?php
/* Plugin Name: Loads the must-use plugins in folders */
spl_autoload_register( static function ( $name ) {
	$file = __DIR__ . '/classes/' . strtolower( str_replace( '_', '-', $name ) ) . '.php';
	if ( is_file( $file ) ) { require $file; }
} );
foreach ( glob( __DIR__ . '/*/*.php' ) as $file ) { require $file; }
`;

describe.skipIf(stack === undefined)('WordPress in the directory layouts that hosts use', () => {
  const usual = stack as Stack;
  const dir = join(usual?.dir ?? '', 'layouts');
  const at = (...names: string[]) => join(dir, ...names);
  let layouts: Layouts;
  const site = (host: string) => layouts.sites.get(host) as OddSite;
  /** The same site under another of its hosts. */
  const atHost = (of: OddSite, host: string): OddSite => ({ ...of, url: `http://${host}` });
  const status = async (of: OddSite, target: string, method = 'GET') =>
    [target, (await visit(of, { method, target, ...(method === 'POST' ? { body: '' } : {}) })).status] as const;
  const plugins = (wordpressDir: string) => join(wordpressDir, 'wp-content', 'mu-plugins');
  const secretIn = (wordpressDir: string) => join(plugins(wordpressDir), 'security-optimizer', 'secret.php');
  const setLogin = async (of: OddSite, type: 'custom' | 'default') => {
    const response = await call(
      of,
      await logInToSite(of, type === 'custom' ? undefined : '/my-door'),
      '/custom-login-url',
      {
        type,
        login: 'my-door',
        signup: 'join-us',
      },
    );
    expect(response.body).toMatchObject({ status: 200 });
  };
  /** Expects the same response for an anonymous client as for a missing page. */
  const expectMissing = async (of: OddSite, target: string, twin: string) => {
    const [real, missing] = [await visit(of, { target }), await visit(of, { target: twin })];
    const [name, as] = [twin, target].map((path) => path.replace(/\/$/, '').split('/').at(-1) as string);
    expect({ target, ...toComparable(real) }).toEqual({ target, ...toComparable(missing, name, as) });
    expect(real.status).toBe(404);
  };

  beforeAll(async () => {
    removeLayouts(dir);
    mkdirSync(dir);
    const trees = ['domains', 'folders', 'rewritten/wordpress', 'above/public', 'releases/1', 'inside/wp'];
    for (const tree of trees) makeTree(usual, at(tree));
    writeFileSync(at('domains', 'wp-content', 'sunrise.php'), SUNRISE);
    for (const uploads of ['rewritten/wordpress', 'releases/1', 'inside/wp'].map((tree) =>
      at(tree, 'wp-content', 'uploads'),
    )) {
      mkdirSync(uploads);
      writeFileSync(join(uploads, 'shell.php'), '<?php echo "ran";');
    }
    mkdirSync(join(plugins(at('above/public')), 'hello'), { recursive: true });
    writeFileSync(join(plugins(at('above/public')), 'autoloader.php'), AUTOLOADER);
    const hello = "<?php add_action( 'wp_head', static function () { echo '<meta name=hello>'; } );";
    writeFileSync(join(plugins(at('above/public')), 'hello', 'hello.php'), hello);
    symlinkSync('releases/1', at('current'));
    layouts = await startLayouts(usual, dir, [
      {
        host: DOMAINS.main,
        otherHosts: [DOMAINS.own, DOMAINS.alias],
        root: at('domains'),
        wordpressDir: at('domains'),
        configuration: at('domains', 'wp-config.php'),
        async prepare(network) {
          const configuration = at('domains', 'wp-config.php');
          await makeNetwork(network, configuration, DOMAINS.own);
          const text = readFileSync(configuration, 'utf8').replace('<?php\n', "<?php\ndefine( 'SUNRISE', true );\n");
          writeFileSync(configuration, text);
          await runInWordPress(
            network,
            `$id = wp_create_user( 'gardener', '${network.password}', 'gardener@example.com' );
            add_user_to_blog( 2, $id, 'author' );`,
          );
        },
      },
      {
        host: FOLDERS,
        root: at('folders'),
        wordpressDir: at('folders'),
        configuration: at('folders', 'wp-config.php'),
        nginx: NETWORK_IN_FOLDERS,
        async prepare(network) {
          await makeNetwork(network, at('folders', 'wp-config.php'));
          await runInWordPress(
            network,
            `$id = wp_create_user( 'second-author', '${network.password}', 'second@example.com' );
            add_user_to_blog( 2, $id, 'author' ); remove_user_from_blog( $id, 1 );
            $id = wp_create_user( 'second-editor', '${network.password}', 'editor@example.com' );
            add_user_to_blog( 2, $id, 'editor' ); remove_user_from_blog( $id, 1 );`,
          );
        },
      },
      {
        host: REWRITTEN,
        root: at('rewritten'),
        wordpressDir: at('rewritten', 'wordpress'),
        configuration: at('rewritten', 'wordpress', 'wp-config.php'),
        nginx: `rewrite ^/(?!wordpress/)(.*)$ /wordpress/$1;
        location / { try_files $uri $uri/ /wordpress/index.php?$args; }`,
      },
      {
        host: INSIDE,
        root: at('inside'),
        wordpressDir: at('inside', 'wp'),
        configuration: at('inside', 'wp', 'wp-config.php'),
        corePath: '/wp',
        nginx: FOLDER_ADDED_INSIDE,
        prepare() {
          const configuration = at('inside', 'wp', 'wp-config.php');
          const text = readFileSync(configuration, 'utf8');
          const named = text.replace(/(define\( 'WP_SITEURL', '[^']*)'/, "$1/wp'");
          expect(named).not.toBe(text);
          writeFileSync(configuration, named);
          writeFileSync(at('inside', 'index.php'), "<?php require __DIR__ . '/wp/wp-blog-header.php';");
        },
      },
      {
        host: ABOVE,
        root: at('above', 'public'),
        wordpressDir: at('above', 'public'),
        configuration: at('above', 'wp-config.php'),
        mode: 0o640,
      },
      {
        host: DEPLOYED,
        root: at('current'),
        wordpressDir: at('current'),
        configuration: at('current', 'wp-config.php'),
      },
    ]);
  }, 5 * MINUTES);
  afterAll(async () => {
    await layouts?.stop();
    removeLayouts(dir);
  });

  it('is connected at each site', async () => {
    const report = await until('WordPress runs the policy', async () => {
      const output = await securityOptimizer('status', '--data-dir', layouts.guard.guardDir, '--json');
      const read = JSON.parse(output.stdout) as { problems: string[]; sites: { connector: string }[] };
      return read.problems.length === 0 && read;
    });
    expect(report.sites.map(({ connector }) => connector)).toEqual(Array(6).fill('ok'));
  });

  describe('as a network with sunrise.php and mapped domains', () => {
    const everyHost = Object.values(DOMAINS);

    it('answers at each domain, and nobody can bypass guard at any of them', async () => {
      for (const host of everyHost) {
        const one = atHost(site(DOMAINS.main), host);
        const page = await visit(one, { target: '/' });
        expect([host, page.status, page.body.includes(`http://${host}/`)]).toEqual([host, 200, true]);
        expect([host, (await sendUpstream(one, { target: '/' })).status]).toEqual([host, 403]);
      }
    });

    it('enforces its rules at each domain', async () => {
      const main = site(DOMAINS.main);
      await setAll(main, await logInToSite(main), 1);
      for (const host of everyHost) {
        const one = atHost(main, host);
        expect(await status(one, '//xmlrpc.php', 'POST')).toEqual(['//xmlrpc.php', 403]);
        expect(await status(one, '/wp-includes/version.php')).toEqual(['/wp-includes/version.php', 403]);
        expect(await status(one, '/feed/')).toEqual(['/feed/', 404]);
        expect((await visit(one, { target: '/' })).body).not.toMatch(/name="generator"/);
      }
    });

    it('lets the users of a site log in at its own domain, and hides the login there when it has a custom URL', async () => {
      const main = site(DOMAINS.main);
      const work = async (loginPath: string) => {
        for (const host of [DOMAINS.own, DOMAINS.alias]) {
          const one = atHost(main, host);
          const { cookie } = await logInToSite(one, loginPath, 'gardener');
          const screen = await visit(one, { target: '/wp-admin/', headers: { cookie } });
          expect([host, screen.status]).toEqual([host, 200]);
        }
      };
      await work('/wp-login.php');
      await setLogin(main, 'custom');
      for (const host of everyHost) {
        const one = atHost(main, host);
        await expectMissing(one, '/wp-login.php', '/xq-vkwfj.php');
        await expectMissing(one, '/wp-admin/', '/xq-vkwfj/');
        const page = await visit(one, { target: '/my-door' });
        expect([host, page.status]).toEqual([host, 200]);
        expect(page.body).toContain(`action="http://${host}/my-door"`);
      }
      await work('/my-door');
      await setLogin(main, 'default');
    });
  });

  describe('as a network in folders', () => {
    it('lets the users of a site log in below its own path when the login URL is custom', async () => {
      const main = site(FOLDERS);
      await setLogin(main, 'custom');
      await expectMissing(main, '/second/wp-login.php', '/second/xq-vkwfj.php');
      const page = await visit(main, { target: '/second/my-door' });
      expect(page.status).toBe(200);
      expect(page.body).toContain(`action="${main.url}/second/my-door"`);
      expect(page.body).toContain(`${main.url}/second/my-door?action=lostpassword`);
      const user = await logInToSite(main, '/second/my-door', 'second-author');
      const screen = await visit(main, { target: '/second/wp-admin/', headers: { cookie: user.cookie } });
      expect(screen.status).toBe(200);
      expect(screen.body).toContain(`${main.url}/second/my-door?action=logout`);
      expect((await visit(main, { target: '/my-door' })).body).toContain(`action="${main.url}/my-door"`);
    });

    it('asks them for the second factor below that path, too, and then redirects to their site as usual', async () => {
      const main = site(FOLDERS);
      const owner = await logInToSite(main, '/my-door');
      const fields = new URLSearchParams({ log: 'second-editor', pwd: main.password, testcookie: '1' }).toString();
      const cookie = 'wordpress_test_cookie=WP%20Cookie%20check';
      const logIn = () => visit(main, form('/second/my-door', fields, { cookie }));
      const without = await logIn();
      expect([without.status, without.headers.location]).toEqual([302, `${main.url}/second/wp-admin/`]);
      expect((await call(main, owner, '/2fa', { sg2fa: 1 })).body).toMatchObject({ status: 200 });
      const response = await logIn();
      const target = '/second/my-door?action=second-factor';
      expect([response.status, response.headers.location]).toEqual([303, target]);
      const challenge = { cookie: getCookies(response) };
      const next = await visit(main, { target, headers: challenge });
      expect([next.status, next.body.includes('action="/second/my-door?action=')]).toEqual([200, true]);
      const send = (page: RawResponse, step: string, more: Readonly<Record<string, string>>) => {
        const token = /name="token" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
        const body = new URLSearchParams({ token, step, ...more }).toString();
        return visit(main, form(target, body, { ...challenge, origin: main.url }));
      };
      const key = /<code>([A-Z2-7 ]+)<\/code>/.exec(next.body)?.[1] ?? '';
      const codes = await send(next, 'enrol', { code: totpCode(key) });
      const done = await send(codes, 'continue', { saved: '1' });
      expect([done.status, done.headers.location]).toEqual([303, without.headers.location]);
      const screen = await visit(main, { target: '/second/wp-admin/', headers: { cookie: getCookies(done) } });
      expect([screen.status, screen.body.includes('/second/my-door?action=logout')]).toEqual([200, true]);
      expect((await call(main, owner, '/2fa', { sg2fa: 0 })).body).toMatchObject({ status: 200 });
    });

    it('has no login below a path that is not a site', async () => {
      const main = site(FOLDERS);
      await expectMissing(main, '/third/my-door', '/third/xq-vkwfj');
      await expectMissing(main, '/second/x/my-door', '/second/x/xq-vkwfj');
      await setLogin(main, 'default');
    });
  });

  it('in its own folder with the address unchanged, enforces its rules with and without the folder', async () => {
    const one = site(REWRITTEN);
    const owner = await logInToSite(one);
    await setAll(one, owner, 1);
    expect((await visit(one, { target: '/' })).status).toBe(200);
    expect((await visit(one, { target: '/wp-admin/', headers: { cookie: owner.cookie } })).status).toBe(200);
    await openPage(one, owner);
    for (const folder of ['', '/wordpress', '/WordPress/']) {
      for (const path of ['/wp-content/uploads/shell.php', '/wp-includes/version.php', '/wp-admin/includes/file.php'])
        expect(await status(one, folder + path)).toEqual([folder + path, 403]);
      expect(await status(one, `${folder}/xmlrpc.php`, 'POST')).toEqual([`${folder}/xmlrpc.php`, 403]);
      expect(await status(one, `${folder}/readme.html`)).toEqual([`${folder}/readme.html`, 404]);
      expect(await status(one, `${folder}/?feed=rss2`)).toEqual([`${folder}/?feed=rss2`, 404]);
      const editor = `${folder}/wp-admin/theme-editor.php`;
      expect((await visit(one, { target: editor, headers: { cookie: owner.cookie } })).status).toBe(403);
    }
    await setLogin(one, 'custom');
    for (const folder of ['', '/wordpress']) {
      await expectMissing(one, `${folder}/wp-login.php`, `${folder}/xq-vkwfj.php`);
      await expectMissing(one, `${folder}/wp-admin/`, `${folder}/xq-vkwfj/`);
    }
    expect((await visit(one, { target: '/my-door' })).body).toContain(`action="${one.url}/my-door"`);
    await logInToSite(one, '/my-door');
    await setLogin(one, 'default');
  });

  it('in a folder that the server adds internally, enforces its rules at every path at which files are served', async () => {
    const one = site(INSIDE);
    const owner = await logInToSite(one);
    const scripts = [
      ...['/wp-includes/version.php', '/wp-content/uploads/shell.php', '/wp-admin/includes/file.php'],
      '/wp-content/languages/x.php',
    ].flatMap((path) => ['', '/wp', '/second', '/WP'].map((folder) => folder + path));
    await setAll(one, owner, 0);
    // The server would run them, so only the rule prevents it.
    expect((await visit(one, { target: '/wp-content/uploads/shell.php' })).body).toContain('ran');
    expect((await visit(one, { target: '/second/wp-content/uploads/shell.php' })).body).toContain('ran');
    expect(await status(one, '/second/wp-includes/version.php')).toEqual(['/second/wp-includes/version.php', 200]);
    await setAll(one, owner, 1);
    for (const target of scripts) expect(await status(one, target)).toEqual([target, 403]);
    expect((await visit(one, { target: '/' })).status).toBe(200);
    expect((await visit(one, { target: '/wp/wp-admin/', headers: { cookie: owner.cookie } })).status).toBe(200);
  });

  describe('with wp-config.php one level up and an autoloader of must-use plugins', () => {
    it('gives the key file the permissions of that wp-config.php', () => {
      expect(statSync(secretIn(at('above', 'public'))).mode & 0o777).toBe(0o640);
    });

    it('runs beside the plugins that the autoloader loads', async () => {
      const one = site(ABOVE);
      const owner = await logInToSite(one);
      await setAll(one, owner, 1);
      const page = await visit(one, { target: '/' });
      expect(page.status).toBe(200);
      expect(page.body).toContain('<meta name=hello>');
      expect(page.body).not.toMatch(/name="generator"/);
      await openPage(one, owner);
    });

    it('renews the salts in that wp-config.php', async () => {
      const one = site(ABOVE);
      const salt = () =>
        /define\( 'AUTH_SALT', '([^']*)'/.exec(readFileSync(at('above', 'wp-config.php'), 'utf8'))?.[1];
      const before = salt();
      expect(before).toHaveLength(64);
      const response = await call(one, await logInToSite(one), '/logout-users', {});
      expect(response.body).toMatchObject({ status: 200, data: { job: { state: 'done', error: '' } } });
      expect(salt(), JSON.stringify(response.body)).not.toBe(before);
      expect(statSync(at('above', 'wp-config.php')).mode & 0o777).toBe(0o640);
      expect((await visit(one, { target: '/' })).status).toBe(200);
    });
  });

  it('without a wp-config.php yet, below another WordPress, the key file does not copy the permissions of the other one', async () => {
    makeTree(usual, at('above', 'public', 'shop'));
    mkdirSync(plugins(at('above', 'public', 'shop')));
    writeFileSync(at('above', 'public', 'wp-config.php'), '<?php // of the WordPress around it', { mode: 0o600 });
    const line = ['--wordpress', at('above', 'public', 'shop'), '--data-dir', at('other-guard')];
    const attached = await securityOptimizer('attach', ...line, '--upstream', 'http://127.0.0.1:1');
    rmSync(at('above', 'public', 'wp-config.php'));
    expect(attached).toMatchObject({ code: 0, stderr: '' });
    expect(statSync(secretIn(at('above', 'public', 'shop'))).mode & 0o777).toBe(
      statSync(at('above', 'public', 'shop', 'wp-load.php')).mode & 0o644,
    );
  });

  describe('deployed in releases', () => {
    const problems = async () => {
      const output = await securityOptimizer('status', '--data-dir', layouts.guard.guardDir, '--json');
      return (JSON.parse(output.stdout) as { problems: string[] }).problems.join('\n');
    };
    const deploy = (release: string) => {
      makeTree(usual, at('releases', release));
      symlinkSync(at('releases', '1', 'wp-content', 'uploads'), at('releases', release, 'wp-content', 'uploads'));
      const configuration = readFileSync(at('releases', '1', 'wp-config.php'));
      writeFileSync(at('releases', release, 'wp-config.php'), configuration);
    };
    const leadTo = (release: string) => {
      symlinkSync(`releases/${release}`, at('next'));
      renameSync(at('next'), at('current'));
    };
    const logged = (event: string) =>
      (guardLog(layouts.guard) as readonly { event?: string; site?: string; release?: string }[]).filter(
        (line) => line.event === event && line.site === 'deployed-example',
      );
    let owner: Session;
    /** Expects that guard enforces its rules, and that visitors and the owner can work. */
    const expectServed = async () => {
      const one = site(DEPLOYED);
      for (const target of ['/wp-content/uploads/shell.php', '/wp-includes/version.php', '//xmlrpc.php', '/.env']) {
        expect(await status(one, target)).toEqual([target, 403]);
      }
      expect(await status(one, '/feed/')).toEqual(['/feed/', 404]);
      expect(await status(one, '/readme.html')).toEqual(['/readme.html', 404]);
      expect(await status(one, '/')).toEqual(['/', 200]);
      const { cookie } = owner;
      expect((await visit(one, { target: '/wp-admin/', headers: { cookie } })).status).toBe(200);
      await expectMissing(one, '/wp-login.php', '/xq-vkwfj.php');
      await expectMissing(one, '/wp-admin/', '/xq-vkwfj/');
    };

    beforeAll(async () => {
      const one = site(DEPLOYED);
      owner = await logInToSite(one);
      await setAll(one, owner, 1);
      await setLogin(one, 'custom');
    });

    it('protects a release without the connector as far as possible, reports that at once, and recovers when it is installed', async () => {
      const one = site(DEPLOYED);
      deploy('2');
      leadTo('2');
      await expectServed();
      await until('guard names the release', () => logged('release-without-connector').length > 0);
      expect(logged('release-without-connector')).toMatchObject([{ release: at('releases', '2') }]);
      await until('guard misses the connector', () => logged('connector-missing').length > 0);
      expect(await problems()).toContain(`leads to ${at('releases', '2')}, a release without the connector`);
      await expectServed();
      const before = logged('connector-ok').length;
      const all = await securityOptimizer('attach', '--all', '--data-dir', layouts.guard.guardDir);
      expect(all).toMatchObject({ code: 0, stderr: '' });
      await until('guard has the connector again', () => logged('connector-ok').length > before);
      await until('WordPress runs the policy', async () => (await problems()) === '');
      await expectServed();
      expect((await sendUpstream(one, { target: '/' })).status).toBe(403);
    });

    it('serves no visitor without the connector when a release was prepared before it became the current one', async () => {
      const one = site(DEPLOYED);
      deploy('3');
      const line = ['--release', at('releases', '3'), '--site', 'deployed-example'];
      const prepared = await securityOptimizer('attach', ...line, '--data-dir', layouts.guard.guardDir);
      expect(prepared).toMatchObject({ code: 0, stderr: '' });
      leadTo('3');
      expect((await sendUpstream(one, { target: '/' })).status).toBe(403);
      await expectServed();
      await logInToSite(one, '/my-door');
      await openPage(one, owner);
      expect(await problems()).toBe('');
      expect(logged('release-without-connector')).toHaveLength(1);
    });
  });
});
