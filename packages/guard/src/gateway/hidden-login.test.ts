import { describe, expect, it } from 'vitest';
import { PASSWORD } from '../../test/support/fake-wordpress.js';
import { type ClientResponse, type RequestOptions, startLoginGateway } from '../../test/support/login-gateway.js';

const SLUG = 'my-door';
const SIGNUP = 'join/us';

const hiddenGate = async (more = {}, site = {}) => {
  const gateway = await startLoginGateway(
    { login_url: { type: 'custom', login: SLUG, signup: SIGNUP }, ...more },
    site,
  );
  gateway.wordpress.custom = true;
  return gateway;
};

/** Everything that a visitor can compare, except the address itself, which the fake's missing page shows. */
function toComparable(response: ClientResponse, path: string): object {
  const { status, headers } = response;
  return {
    status,
    headers: headers.map((line) => line.replace(/^(content-length: |set-cookie: known_device=)[^;]*/, '$1')),
    body: response.body.replaceAll(path, '<path>'),
  };
}

/** Hidden addresses, each with a missing one of the same form. `%s` is the part that differs. */
const pages: [path: string, name: string, missing: string][] = [
  ['/%s', 'wp-login.php', 'xy-abcde.php'],
  ['/%s?action=lostpassword', 'wp-login.php', 'xy-abcde.php'],
  ['/%s?redirect_to=%2Fwp-admin%2F&reauth=1', 'wp-login.php', 'xy-abcde.php'],
  ['//%s', 'wp-login.php', 'xy-abcde.php'],
  ['/./%s', 'wp-login.php', 'xy-abcde.php'],
  ['/a/../%s', 'wp-login.php', 'xy-abcde.php'],
  ['/%s/', 'wp-login.php', 'xy-abcde.php'],
  ['/%s/x', 'wp-login.php', 'xy-abcde.php'],
  ['/%s;x', 'wp-login.php', 'xy-abcde.php'],
  ['/%s.', 'wp-login.php', 'xy-abcde.php'],
  ['/%s%20', 'wp-login.php', 'xy-abcde.php'],
  ['/x%2f..%2f%s', 'wp-login.php', 'xy-abcde.php'],
  ['/%s', 'WP-Login.PHP', 'XY-Abcde.PHP'],
  ['/%s', '%77p-login.php', '%78y-abcde.php'],
  ['/%s', 'wp-login%2ephp', 'xy-abcde%2ephp'],
  ['/index.php/%s', 'wp-login.php', 'xy-abcde.php'],
  ['/blog/%s', 'wp-login.php', 'xy-abcde.php'],
  ['/%s', 'wp-signup.php', 'xy-abcdef.php'],
  ['/%s?key=x', 'wp-activate.php', 'xy-abcdefgh.php'],
  ['/%s', 'wp-admin', 'xy-abcde'],
  ['/%s/', 'wp-admin', 'xy-abcde'],
  ['/%s/', 'WP-ADMIN', 'XY-ABCDE'],
  ['/%s/index.php', 'wp-admin', 'xy-abcde'],
  ['/%s/install.php', 'wp-admin', 'xy-abcde'],
  ['/%s/setup-config.php?step=1', 'wp-admin', 'xy-abcde'],
  ['/%s/upgrade.php', 'wp-admin', 'xy-abcde'],
  ['/%s/load-styles.php?c=0', 'wp-admin', 'xy-abcde'],
  ['/%s/css/login.min.css', 'wp-admin', 'xy-abcde'],
  ['/%s/css/../css/login.min.css', 'wp-admin', 'xy-abcde'],
  ['/%s/network/', 'wp-admin', 'xy-abcde'],
  ['/%s/menu.php', 'wp-admin', 'xy-abcde'],
  ['/%s/admin-ajax.php.bak/admin.php', 'wp-admin', 'xy-abcde'],
];

/**
 * Hidden only because another program may read the path differently. A decoy that shows another path takes more bytes.
 */
const ambiguousPages: typeof pages = [
  ['/%s%E9', 'wp-login.php', 'xy-abcde.php'],
  ['/%s%09', 'wp-login.php', 'xy-abcde.php'],
  ['/%s%5C', 'wp-login.php', 'xy-abcde.php'],
  ['/x%5C..%5C%s?action=register', 'wp-login.php', 'xy-abcde.php'],
  ['/%s', 'wp-login%252ephp', 'xy-abcde%252ephp'],
  ['/%s%252f', 'wp-admin', 'xy-abcde'],
  ['/%s%5Cinstall.php', 'wp-admin', 'xy-abcde'],
];

const visitors: Record<string, RequestOptions> = {
  'an anonymous client': {},
  'an anonymous client with an invented session cookie': { headers: { cookie: 'wordpress_logged_in_abc=forged' } },
  'an anonymous client with invented marks': { headers: { cookie: 'visit_mark=99999999999.x; known_device=00-1-1.x' } },
  'an anonymous client who posts': { method: 'POST', body: `log=owner&pwd=${PASSWORD}` },
  'an anonymous client who asks by HEAD': { method: 'HEAD' },
};

describe('with a custom login address', () => {
  for (const [who, options] of Object.entries(visitors)) {
    it(`${who} gets, for every spelling of every hidden page, the response of a missing path`, async () => {
      const gateway = await hiddenGate({ login_attempts: 0 });
      for (const [path, name, missing] of [...pages, ...ambiguousPages]) {
        const page = path.replace('%s', name);
        const missingPath = path.replace('%s', missing);
        const atPage = await gateway.send(page, options);
        expect(toComparable(atPage, page), page).toEqual(
          toComparable(await gateway.send(missingPath, options), missingPath),
        );
        expect(atPage.headers.join('\n') + atPage.body, page).not.toMatch(/my-door|join\/us/);
      }
    });
  }

  for (const [who, options] of Object.entries(visitors)) {
    it(`${who} causes WordPress's web server not one byte more at a hidden page than at a missing path`, async () => {
      const gateway = await hiddenGate({ login_attempts: 0 });
      const query = `z=${'"'.repeat(3000)}`;
      for (const [path, name, missing] of pages) {
        if (path.includes('?')) continue;
        const reached = async (target: string) => {
          gateway.wordpress.reached.length = 0;
          await gateway.send(`${target}?${query}`, options);
          return gateway.wordpress.reached.map(({ bytes }) => bytes);
        };
        const [atPage, again] = await reached(path.replace('%s', name));
        const [expected] = await reached(path.replace('%s', missing));
        expect(atPage, path).toEqual(expected);
        const sum = (lines: readonly number[] = []) => lines.reduce((total, line) => total + line + 2, 0);
        expect(sum(again), path).toBeLessThanOrEqual(sum(expected));
      }
    });
  }

  it('a request that is too long for the web server gets the same response at a hidden page and at a missing path', async () => {
    const gateway = await hiddenGate({ login_attempts: 0 });
    const options = { headers: { cookie: 'wordpress_logged_in_x=invented' } };
    for (const status of [400, 413, 414, 431]) {
      gateway.wordpress.lostResponse = { status, when: 'always' };
      const [at, expected] = [await gateway.send('/wp-admin/', options), await gateway.send('/xy-abcde/', options)];
      expect(at.status).toBe(status);
      expect(toComparable(at, '/wp-admin/')).toEqual(toComparable(expected, '/xy-abcde/'));
    }
  });

  it('the instruction to refuse passwords accompanies a request of any length, and takes few bytes', async () => {
    const gateway = await hiddenGate({ login_attempts: 3 });
    for (let i = 0; i < 3; i++) await gateway.send(`/${SLUG}`, { method: 'POST', body: `log=owner&pwd=wrong${i}` });
    const right = { method: 'POST', body: `log=owner&pwd=${PASSWORD}` };
    for (const target of [`/wp-admin/?z=${'"'.repeat(6500)}`, `/${'./'.repeat(3000)}wp-admin/?field`]) {
      const checks = gateway.wordpress.checks.length;
      await gateway.send(target, right);
      const reached = gateway.wordpress.reached.at(-1);
      expect(reached?.context).toMatchObject({ login: 'refuse', why: 'locked' });
      expect(reached?.note).toBe('decoy context');
      expect(Math.max(...(reached?.bytes.slice(1) ?? []))).toBeLessThan(400);
      expect(gateway.wordpress.checks).toHaveLength(checks);
    }
  });

  it('the instruction of the Login Access list accompanies such a request as well', async () => {
    const gateway = await hiddenGate({ login_access: ['198.51.100.1'] });
    await gateway.send(`/wp-admin/?field&z=${'"'.repeat(6500)}`, { method: 'POST', body: `log=owner&pwd=${PASSWORD}` });
    expect(gateway.wordpress.reached.at(-1)?.context).toEqual({ login: 'refuse', why: 'access' });
    expect(gateway.wordpress.checks).toEqual([]);
  });

  it('the old registration page looks missing, although WordPress redirects it', async () => {
    const gateway = await hiddenGate();
    for (const page of ['/wp-register.php', '/blog/wp-register.php?x=1', '/WP-register.php/']) {
      const response = await gateway.send(page);
      expect(response.status, page).toBe(404);
      expect(response.header('location'), page).toBeUndefined();
    }
  });

  it('no password is checked at a hidden page', async () => {
    const gateway = await hiddenGate();
    await gateway.send('/wp-login.php', { method: 'POST', body: `log=owner&pwd=${PASSWORD}` });
    expect(gateway.wordpress.checks).toEqual(['other']);
    expect(gateway.wordpress.reached[0]?.url).not.toContain('login');
  });

  it('a locked address sees the same at a hidden page and at a missing path', async () => {
    const gateway = await hiddenGate({ login_attempts: 3 });
    for (let i = 0; i < 3; i++) await gateway.send(`/${SLUG}`, { method: 'POST', body: `log=owner&pwd=wrong${i}` });
    expect((await gateway.send(`/${SLUG}`)).status).toBe(429);
    for (const options of [{}, { method: 'POST', body: 'log=owner&pwd=x' }]) {
      const [at, expected] = [
        await gateway.send('/wp-login.php', options),
        await gateway.send('/xy-abcde.php', options),
      ];
      expect(toComparable(at, '/wp-login.php')).toEqual(toComparable(expected, '/xy-abcde.php'));
    }
  });

  it('an address that may not log in sees a missing page at wp-admin, too', async () => {
    const gateway = await hiddenGate({ login_access: ['198.51.100.1'] });
    const options = { headers: { cookie: 'wordpress_logged_in_x=1' } };
    const at = await gateway.send('/wp-admin/', options);
    expect(toComparable(at, '/wp-admin/')).toEqual(
      toComparable(await gateway.send('/xy-abcde/', options), '/xy-abcde/'),
    );
  });

  it('an address that may not log in can’t distinguish the slug from any other missing path', async () => {
    const gateway = await hiddenGate({ login_access: ['198.51.100.1'] });
    const password = { method: 'POST', body: `log=owner&pwd=${PASSWORD}` };
    for (const [slug, missingPath] of [
      ['/my-door', '/xy-abcd'],
      ['/my-door?action=second-factor', '/xy-abcd?action=second-factor'],
      ['/join/us', '/join/xy'],
    ] as const) {
      for (const options of [{}, password, { method: 'HEAD' }, { headers: { cookie: 'wordpress_logged_in_x=1' } }]) {
        const at = await gateway.send(slug, options);
        expect(toComparable(at, slug), slug).toEqual(
          toComparable(await gateway.send(missingPath, options), missingPath),
        );
        expect(at.status).toBe(404);
      }
    }
    expect(gateway.wordpress.checks).toEqual([]);
    expect(gateway.twoFactorCalls).toEqual([]);
    // Routes that every WordPress has are refused without mentioning the login.
    const program = await gateway.send('/xmlrpc.php', {
      method: 'POST',
      body: PASSWORD,
      headers: { accept: 'text/html' },
    });
    expect(program.status).toBe(403);
    expect(program.body).not.toMatch(/log.?in/i);
    expect((await gateway.send('/my-door', { from: '198.51.100.1' })).body).toContain('login page');
  });

  for (const spelling of ['/my-door', '/my-door/', '//my-door', '/My-DOOR', '/my%2ddoor', '/./my-door', '/my-door;x']) {
    it(`the login is served at ${spelling}`, async () => {
      const gateway = await hiddenGate();
      const response = await gateway.send(`${spelling}?action=lostpassword`);
      expect(response.body).toBe(`login page, action lostpassword, seen as ${spelling}?action=lostpassword`);
      const reached = gateway.wordpress.reached[0];
      expect(reached?.url).toBe('/wp-login.php?action=lostpassword');
      expect(reached?.context).toMatchObject({ page: 'login' });
    });
  }

  it('the registration is served at its own address, whatever the query says', async () => {
    const gateway = await hiddenGate();
    expect((await gateway.send('/join/us?action=login')).body).toContain('action register');
    expect(gateway.wordpress.reached[0]?.context).toMatchObject({ page: 'signup' });
  });

  it('the address of the registration is a missing page while registration is closed', async () => {
    const gateway = await hiddenGate();
    gateway.wordpress.registration = false;
    for (const options of [{}, { method: 'POST', body: 'user_login=x' }, { method: 'HEAD' }]) {
      const at = await gateway.send('/join/us', options);
      expect(toComparable(at, '/join/us')).toEqual(toComparable(await gateway.send('/join/xy', options), '/join/xy'));
      expect(at.status).toBe(404);
    }
    // Without the custom page, WordPress itself responds at the address.
    expect(gateway.wordpress.reached.filter(({ url }) => url === '/join/us')).toHaveLength(3);
  });

  it('the sign-up of a network is another script; activation needs a key, and nothing is shown without one', async () => {
    const gateway = await hiddenGate({}, { multisite: true });
    expect((await gateway.send('/join/us?new=x')).body).toBe('sign-up of a network, seen as /join/us?new=x');
    expect(gateway.wordpress.reached.at(-1)?.url).toBe('/wp-signup.php?new=x');
    expect((await gateway.send('/wp-activate.php?key=right')).body).toBe('account activated');
    for (const [path, missingPath] of [
      ['/wp-activate.php', '/xy-abcdefgh.php'],
      ['/wp-activate.php?key=wrong', '/xy-abcdefgh.php?key=wrong'],
      ['/wp-signup.php', '/xy-abcdef.php'],
    ] as const) {
      expect(toComparable(await gateway.send(path), path)).toEqual(
        toComparable(await gateway.send(missingPath), missingPath),
      );
    }
  });

  it('a login through the slug works, and its failures are counted', async () => {
    const gateway = await hiddenGate({ login_attempts: 3 });
    const login = (password: string) => gateway.send('/my-door', { method: 'POST', body: `log=owner&pwd=${password}` });
    expect((await login(PASSWORD)).headers.join()).toContain('wordpress_logged_in_x');
    for (let i = 0; i < 3; i++) await login(`wrong${i}`);
    expect((await login(PASSWORD)).status).toBe(429);
    expect(gateway.wordpress.checks).toHaveLength(4);
  });

  it('a client that has opened the slug gets the login page’s styles, and still no admin page', async () => {
    const gateway = await hiddenGate();
    const mark = (await gateway.send('/my-door')).header('set-cookie')?.split(';')[0] as string;
    expect(mark).toMatch(/^visit_mark=/);
    const headers = { cookie: mark };
    expect((await gateway.send('/wp-admin/css/login.min.css', { headers })).body).toBe('body{}');
    expect((await gateway.send('/wp-admin/', { headers })).status).toBe(404);
    gateway.advance(25 * 3600_000);
    expect((await gateway.send('/wp-admin/css/login.min.css', { headers })).status).toBe(404);
  });

  it('a member with an existing session passes, and gets the login-page cookie for the styles', async () => {
    const gateway = await hiddenGate();
    const response = await gateway.send('/wp-admin/', { headers: { cookie: 'wordpress_logged_in_x=1' } });
    expect(response.body).toBe('admin page');
    const cookie = `wordpress_logged_in_x=1; ${response.header('set-cookie')?.split(';')[0]}`;
    expect((await gateway.send('/wp-admin/css/common.css', { headers: { cookie } })).body).toBe('body{}');
  });

  it('an invented session cookie earns no login-page cookie at a page whose name only resembles the admin folder', async () => {
    const gateway = await hiddenGate();
    for (const cookie of ['wordpress_logged_in_x=forged', 'wordpress_sec_x=forged']) {
      const response = await gateway.send('/news/wp-admin/', { headers: { cookie } });
      expect(response.header('set-cookie')).toBeUndefined();
      expect(toComparable(response, '/news/wp-admin/')).toEqual(
        toComparable(await gateway.send('/news/xy-abcde/', { headers: { cookie } }), '/news/xy-abcde/'),
      );
    }
  });

  it('the custom address leads to nothing else, however another program reads the path', async () => {
    const gateway = await hiddenGate();
    for (const path of [`/${SLUG};%5C..%5Cwp-login.php`, `/${SLUG}%3F%5C..%5Cwp-admin`]) {
      const response = await gateway.send(path);
      expect([path, [400, 404].includes(response.status), response.body.includes('action')]).toEqual([
        path,
        true,
        false,
      ]);
    }
  });

  it('an author, a term or a search with the name of a hidden page is served', async () => {
    const gateway = await hiddenGate();
    expect((await gateway.send('/author/wp-admin/')).body).toBe('what a writer wrote');
    for (const path of ['/tag/wp-login.php/', '/category/wp-admin/', '/search/wp-admin/', '/de/search/wp-login.php/']) {
      await gateway.send(path);
      expect(gateway.wordpress.reached.at(-1)?.url).toBe(path);
    }
  });

  it('a page that would redirect anonymous clients to the login looks missing to them', async () => {
    const gateway = await hiddenGate();
    const response = await gateway.send('/members');
    expect(response.status).toBe(404);
    expect(response.headers.join('\n') + response.body).not.toContain('my-door');
    expect((await gateway.send('/members', { headers: { cookie: 'wordpress_logged_in_x=1' } })).body).toBe('members');
  });

  it('what visitors need from WordPress keeps working', async () => {
    const gateway = await hiddenGate();
    const post = await gateway.send('/wp-login.php?action=postpass', { method: 'POST', body: 'post_password=x' });
    expect(post.body).toContain('action postpass');
    const confirm = await gateway.send('/wp-login.php?action=confirmaction&request_id=1&confirm_key=k');
    expect(confirm.body).toContain('action confirmaction');
    expect((await gateway.send('/wp-admin/admin-ajax.php?action=x', { method: 'POST', body: 'a=b' })).body).toBe('0');
    expect((await gateway.send('/wp-admin/admin-post.php', { method: 'POST', body: 'a=b' })).body).toBe('0');
    expect((await gateway.send('/wp-cron.php?doing_wp_cron=1')).body).toBe('ok');
    expect((await gateway.send('/wp-json/wp/v2/posts')).body).toBe('ok');
    expect((await gateway.send('/')).body).toBe('a page');
  });

  it('actions of wp-login.php that visitors may use do not lead to the login', async () => {
    const gateway = await hiddenGate();
    const body = `action=login&log=owner&pwd=${PASSWORD}`;
    const expected = await gateway.send('/xy-abcde.php?action=postpass', { method: 'POST', body: 'post_password=x' });
    gateway.wordpress.reached.length = 0;
    const response = await gateway.send('/wp-login.php?action=postpass', { method: 'POST', body });
    expect(response.status).toBe(404);
    expect(response.body).toContain('nothing at /wp-login.php?action=postpass');
    expect(response.headers.filter((line) => !/^(?:content-length|set-cookie)/.test(line))).toEqual(
      expected.headers.filter((line) => !/^content-length/.test(line)),
    );
    const half = await gateway.send('/wp-login.php?action=confirmaction&request_id=1');
    expect(half.status).toBe(404);
  });

  it('two visits to a hidden page use two different decoy names', async () => {
    const gateway = await hiddenGate();
    await gateway.send('/wp-login.php');
    await gateway.send('/wp-login.php');
    const [first, second] = gateway.wordpress.reached;
    expect(first?.url).toMatch(/^\/[a-z]{2}-[a-z]{5}\.php$/);
    expect(second?.url).not.toBe(first?.url);
  });
});
