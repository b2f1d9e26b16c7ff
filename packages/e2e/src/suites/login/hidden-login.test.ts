import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRaw } from '../../http/raw.js';
import { form, sendRequest, type TypedRequest } from '../../http/request.js';
import { getCookies, logIn, type Session } from '../../http/session.js';
import { listSpellings, toSpelledRequest } from '../../http/spellings.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { change, createsSession, loginForm, mailbox, recover, sendFrom, toComparable } from './helpers.js';

const LOGIN_SLUG = 'quiet-door';
/** Names of the same length that do not exist on the site. */
const siblings: Readonly<Record<string, string>> = {
  'wp-login.php': 'wp-logix.php',
  'wp-register.php': 'wp-registex.php',
  'wp-signup.php': 'wp-signux.php',
  'wp-activate.php': 'wp-activatx.php',
  'wp-admin': 'wp-admix',
  'wp-login': 'wp-logix',
  login: 'logix',
  admin: 'admix',
  dashboard: 'dashboarx',
};
const hidden = [
  '/wp-login.php',
  '/wp-login.php?action=lostpassword',
  '/wp-login.php?action=register',
  '/wp-login.php?action=logout',
  '/wp-login.php?redirect_to=/wp-admin/',
  '/wp-admin',
  '/wp-admin/',
  '/wp-admin/index.php',
  '/wp-admin/profile.php',
  '/wp-admin/install.php',
  '/wp-admin/upgrade.php',
  '/wp-admin/setup-config.php',
  '/wp-admin/css/login.min.css',
  '/wp-register.php',
  '/wp-signup.php',
  '/wp-activate.php',
  '/login',
  '/login/',
  '/admin',
  '/dashboard',
];

/** The same request for a missing page, and the name in it. */
function missing(target: string): { readonly target: string; readonly name: string; readonly sibling: string } {
  const name = /^\/([^/?]+)/.exec(target)?.[1] ?? '';
  const sibling = siblings[name];
  if (sibling === undefined) throw new Error(`${target} has no sibling.`);
  return { target: target.replace(name, sibling), name, sibling };
}

onUnlikeStacks('a custom login URL', (stack) => {
  let owner: Session;

  beforeAll(async () => {
    owner = await logIn(stack);
    await change(stack, owner, '/custom-login-url', { type: 'custom', login: LOGIN_SLUG, signup: 'quiet-entry' });
  });
  afterAll(async () => {
    await recover(stack, 'unblock', '--all');
    await recover(stack, 'login-url', 'reset');
    // WordPress gets the setting a moment after guard, and hides the form until then.
    await until('the form', async () =>
      (await sendRequest(stack, { target: '/wp-login.php' })).body.includes('loginform'),
    );
  });

  describe('to an anonymous client', () => {
    it.each(hidden)('%s responds like a missing page', async (target) => {
      const other = missing(target);
      const response = await sendRequest(stack, { target });
      const nothing = await sendRequest(stack, { target: other.target });
      const expected = JSON.stringify(toComparable(nothing)).replaceAll(other.sibling, other.name);
      expect(toComparable(response)).toEqual(JSON.parse(expected));
      expect([404, 301]).toContain(response.status);
      expect(response.head + response.body).not.toContain(LOGIN_SLUG);
    });

    it.each(['/wp-login.php', '/wp-admin/install.php'])('%s shows no login in any spelling', async (path) => {
      const { host } = new URL(stack.url);
      for (const spelling of listSpellings(path)) {
        for (const method of spelling.how === 'as it is' ? ['GET', 'POST'] : ['GET']) {
          const response = await sendFrom(stack, '127.0.32.1', toSpelledRequest(spelling, host, { method }));
          const text = response.head + response.body;
          const what = `${method} ${spelling.how}: ${response.status}`;
          expect(text, what).not.toMatch(/user_login|user_pass|loginform|wp-submit|setup-config|Already Installed/i);
          expect(text, what).not.toContain(LOGIN_SLUG);
          expect(response.headers.location ?? '', what).not.toMatch(/reauth|redirect_to/);
        }
      }
    });

    it.each(['/wp-login.php', '/wp-register.php', '/wp-signup.php'])(
      '%s is answered over HTTP/1.0 like any missing page, and without a host by guard alone',
      async (target) => {
        const answer = (path: string) => sendRequest(stack, { target: path, version: '1.0' });
        const { target: other, name, sibling } = missing(target);
        const there = await answer(other);
        // nginx does not pass missing scripts to WordPress, which alone knows the host.
        expect([301, 404]).toContain(there.status);
        if (there.status === 301) expect(there.headers.location).toContain(other);
        const here = await answer(target);
        expect([here.status, here.headers.location]).toEqual([
          there.status,
          there.headers.location?.replace(sibling, name),
        ]);
        const nameless = await sendRaw(stack.port, `GET ${target} HTTP/1.0\r\n\r\n`);
        expect([nameless.status, nameless.body]).toEqual([200, 'ok\n']);
      },
    );

    it('the admin folder after index.php answers as a missing page, with any method', async () => {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT']) {
        const response = await sendRequest(stack, { method, target: '/index.php/wp-admin/' });
        const nothing = await sendRequest(stack, { method, target: '/index.php/wp-admix/' });
        const expected = JSON.stringify(toComparable(nothing)).replaceAll('wp-admix', 'wp-admin');
        expect(toComparable(response), method).toEqual(JSON.parse(expected));
      }
    });

    it('a forged session cookie gets no login-page cookie at a page named like the admin folder', async () => {
      for (const target of ['/author/wp-admin/', '/index.php/wp-admin/', '/wp-admin/?p=1', '/category/wp-admin/']) {
        const response = await sendRequest(stack, { target, headers: { cookie: 'wordpress_logged_in_x=1' } });
        expect(response.headers['set-cookie'] ?? '', target).not.toContain('visit_mark');
      }
    });

    it('no response of the site contains the login URL', async () => {
      const targets = [
        '/',
        '/hello-world/',
        '/?p=1',
        '/feed/',
        '/comments/feed/',
        '/wp-sitemap.xml',
        '/wp-sitemap-posts-page-1.xml',
        '/wp-sitemap-users-1.xml',
        '/robots.txt',
        '/wp-json/',
        '/wp-json/wp/v2/posts',
        '/wp-json/wp/v2/pages',
        '/wp-json/wp/v2/settings',
        '/nothing-here/',
        '/xmlrpc.php?rsd',
      ];
      for (const target of targets) {
        const response = await sendRequest(stack, { target });
        expect(response.head + response.body, target).not.toMatch(/quiet-(?:door|entry)/);
      }
    });

    it('a forged session cookie opens nothing', async () => {
      const cookie = `${owner.cookie.split('=')[0]}=x; wordpress_logged_in_${'0'.repeat(32)}=owner%7C1%7Cx%7Cx`;
      for (const target of ['/wp-admin/', '/wp-admin/profile.php', '/wp-admin/css/login.min.css']) {
        const response = await sendRequest(stack, { target, headers: { cookie } });
        expect(response.status, target).toBe(404);
        expect(response.head + response.body).not.toMatch(/quiet-door|reauth/);
      }
    });
  });

  it('serves the login, and lets the owner log in', async () => {
    const page = await sendRequest(stack, { target: `/${LOGIN_SLUG}` });
    expect(page.status).toBe(200);
    expect(page.body).toMatch(new RegExp(`<form[^>]+action="[^"]*/${LOGIN_SLUG}/?"`));
    const response = await sendRequest(stack, loginForm(stack.user, stack.password, { path: `/${LOGIN_SLUG}` }));
    expect(createsSession(response)).toBe(true);
    const admin = await sendRequest(stack, { target: '/wp-admin/', headers: { cookie: getCookies(response) } });
    expect(admin.status).toBe(200);
    // The user's own logout uses the custom URL.
    expect(admin.body).toMatch(new RegExp(`/${LOGIN_SLUG}/?\\?action=logout`));
  });

  it('is in the mail with the link for a new password', async () => {
    const mails = mailbox(stack);
    const response = await sendRequest(stack, form(`/${LOGIN_SLUG}?action=lostpassword`, `user_login=${stack.user}`));
    expect(response.status).toBe(302);
    const mail = await mails.to('');
    expect(mail).toContain(`/${LOGIN_SLUG}`);
    expect(mail).not.toContain('wp-login.php');
    mails.empty();
  });

  it('keeps everything that visitors need', async () => {
    const id = (
      await runInWordPress(
        stack,
        `echo wp_insert_post( array( 'post_title' => 'Behind a word', 'post_content' => 'The garden', 'post_status' => 'publish', 'post_password' => 'sesame' ) );`,
      )
    ).trim();
    const opened = await sendRequest(
      stack,
      form('/wp-login.php?action=postpass', 'post_password=sesame', { referer: `${stack.url}/?p=${id}` }),
    );
    expect(opened.status).toBe(302);
    expect(opened.head).not.toContain(LOGIN_SLUG);
    const post = await sendRequest(stack, { target: '/behind-a-word/', headers: { cookie: getCookies(opened) } });
    expect(post.body).toContain('The garden');
    await runInWordPress(stack, `wp_delete_post( ${Number(id)}, true );`);
    const requests: [TypedRequest, number, RegExp][] = [
      [{ target: '/wp-admin/admin-ajax.php?action=nothing' }, 400, /^0$/],
      [{ target: '/wp-admin/admin-post.php' }, 200, /^$/],
      [{ target: '/wp-cron.php' }, 200, /^$/],
      [{ target: '/wp-json/wp/v2/posts' }, 200, /^\[/],
    ];
    for (const [request, status, body] of requests) {
      const response = await sendRequest(stack, request);
      expect([request.target, response.status]).toEqual([request.target, status]);
      expect(response.body.trim()).toMatch(body);
    }
  });

  it('lets a user log out', async () => {
    const user = await logInAt(`/${LOGIN_SLUG}`);
    const admin = await sendRequest(stack, { target: '/wp-admin/', headers: { cookie: user } });
    const link = /href=["'][^"']*(\/quiet-door\/?\?action=logout[^"']*)["']/
      .exec(admin.body)?.[1]
      ?.replace(/&(?:amp|#0?38);/g, '&');
    const response = await sendRequest(stack, { target: link ?? '/no-link', headers: { cookie: user } });
    expect(response.status).toBe(302);
    expect((await sendRequest(stack, { target: '/wp-admin/', headers: { cookie: user } })).status).toBe(404);
  });

  it('can be reset to WordPress’s own', async () => {
    await recover(stack, 'login-url', 'reset');
    // WordPress gets the setting a moment after guard, and hides the form until then.
    await until('the form', async () =>
      (await sendRequest(stack, { target: '/wp-login.php' })).body.includes('loginform'),
    );
    expect((await sendRequest(stack, { target: `/${LOGIN_SLUG}` })).status).toBe(404);
    await logIn(stack);
  });

  async function logInAt(path: string): Promise<string> {
    return getCookies(await sendRequest(stack, loginForm(stack.user, stack.password, { path })));
  }
});
