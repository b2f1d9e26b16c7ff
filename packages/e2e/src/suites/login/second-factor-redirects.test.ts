import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openChromium } from '../../browser/chromium.js';
import { sendLoginForm } from '../../browser/pages.js';
import type { RawResponse } from '../../http/raw.js';
import { form, type TypedRequest } from '../../http/request.js';
import { logIn, type Session } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { muPlugins, runInWordPress, usersByRole } from '../../stacks/wordpress.js';
import {
  change,
  createsSession,
  deleteUsers,
  EnrolledUsers,
  type FormBrowser,
  SECOND_FACTOR,
  sendCode,
  sendFrom,
} from './helpers.js';
import { ALLOWED, PLUGIN, UNLISTED } from './redirect-plugin.js';

const FROM = '127.0.86.1';
const LOGINS = Array.from({ length: 6 }, (_, at) => `ends-${at + 1}`);
/** Users who log in in Chromium with an app code. */
const [TRAVELLER, CUSTOMISER] = ['ends-1', 'ends-2'] as const;

onUnlikeStacks('a login with a second factor', (stack) => {
  const plugin = join(muPlugins(stack), 'second-factor-redirects.php');
  const users = new EnrolledUsers(stack, FROM);
  let owner: Session;

  /** Values of `redirect_to`, with their expected target. Null if the plain login decides. */
  const targets: readonly (readonly [string, string, string | null])[] = [
    ['nowhere special', '', '/wp-admin/'],
    ['a page of the site', '/sample-page/?a=1&b=two%20words#part', '/sample-page/?a=1&b=two%20words#part'],
    ['a page by its full URL', `${stack.url}/sample-page/`, '/sample-page/'],
    ['a page with letters of other scripts', '/über-uns/?q=größe', null],
    ['a list of wp-admin', '/wp-admin/edit.php?post_type=page', '/wp-admin/edit.php?post_type=page'],
    ['a host that the site allows', `http://${ALLOWED.shop}/welcome/?a=1`, `http://${ALLOWED.shop}/welcome/?a=1`],
    ['a host that the site does not allow', 'https://evil.example/', '/wp-admin/'],
    ['such a host without a scheme', '//evil.example/path', '/wp-admin/'],
    ['such a host behind a backslash', '/\\evil.example/', null],
    ['a page that a plugin replaces', '/filtered/', '/sample-page/?filtered=1'],
    [
      'a page that a plugin replaces by another host',
      '/filtered-away/',
      `http://${ALLOWED.app}/first/?then=%2Ffiltered-away%2F`,
    ],
    [
      'a plugin that leaves as soon as somebody has logged in',
      '/school/',
      `https://${UNLISTED.school}/course/1/?unit=2`,
    ],
  ];
  const links: readonly (readonly [string, string, string])[] = [
    ['to a page of the site', 'page', '/sample-page/?welcome=1'],
    ['of single sign-on, to a host on no list', 'sso', `https://${UNLISTED.sso}:8443/callback?state=a%2Fb&code=1#done`],
    ['into an app', 'app', 'com.example.shop://signed-in?state=1'],
  ];
  const wpLogin = (login: string, fields: Readonly<Record<string, string>>): TypedRequest =>
    form(
      '/wp-login.php',
      new URLSearchParams({ log: login, pwd: stack.password, testcookie: '1', ...fields }).toString(),
    );
  const toLink = (kind: string, login: string): TypedRequest => ({ target: `/?link=${kind}&who=${login}` });
  const absolute = (target: string) => new URL(target, `${stack.url}/`).href;
  const getTarget = ({ headers }: RawResponse) => absolute(headers.location ?? '/no-location-at-all');
  const isChallenged = (response: RawResponse) =>
    response.status === 303 && (response.headers.location ?? '').includes('action=second-factor');
  /** Sends a request with a right password or a login link, then the code. @returns the response with the session */
  const logInWithCode = async (request: (login: string) => TypedRequest, browser = users.browser()) => {
    const { login, code } = users.next();
    const challenge = await browser.request(request(login));
    expect([isChallenged(challenge), createsSession(challenge)]).toEqual([true, false]);
    const response = await sendCode(browser, code);
    expect([response.status, createsSession(response)]).toEqual([303, true]);
    return response;
  };
  /** The user of a browser, from the profile page. */
  const getProfile = async (browser: FormBrowser) => {
    const { body } = await browser.get('/wp-admin/profile.php');
    return /name="user_login"[^>]* value="([^"]*)"/.exec(body)?.[1];
  };
  const without = new Map<string, string>();

  beforeAll(async () => {
    writeFileSync(plugin, PLUGIN);
    await runInWordPress(
      stack,
      `foreach ( array( '${LOGINS.join("', '")}' ) as $login ) {
        wp_insert_user( array( 'user_login' => $login, 'user_pass' => '${stack.password}', 'user_email' => "$login@example.com", 'role' => 'editor' ) );
      }`,
    );
    owner = await logIn(stack);
    const plain = async (request: TypedRequest) => {
      const response = await users.browser().request(request);
      expect([response.status, createsSession(response)]).toEqual([302, true]);
      return getTarget(response);
    };
    for (const [what, requested] of targets)
      without.set(what, await plain(wpLogin(TRAVELLER, requested === '' ? {} : { redirect_to: requested })));
    for (const [what, kind] of links) without.set(what, await plain(toLink(kind, TRAVELLER)));
    await change(stack, owner, '/2fa', { sg2fa: 1 });
    for (const login of [...LOGINS, stack.user]) await users.enrol(login);
  });
  afterAll(async () => {
    await change(stack, owner, '/2fa', { sg2fa: 0 });
    // This ends the sessions of the owner, too.
    await users.reset();
    rmSync(plugin, { force: true });
    await deleteUsers(stack, LOGINS);
  });

  describe('leads to the same page as without one, for the target', () => {
    it.each(targets)('%s', async (what, requested, target) => {
      const response = await logInWithCode((login) =>
        wpLogin(login, requested === '' ? {} : { redirect_to: requested }),
      );
      expect(getTarget(response)).toBe(without.get(what));
      if (target !== null) expect(getTarget(response)).toBe(absolute(target));
      expect(getTarget(response)).not.toMatch(/^[a-z]+:\/\/evil/);
    });

    it.each([3500, 7500])('a URL of %i letters', async (length) => {
      const requested = `/sample-page/?state=${'a'.repeat(length)}`;
      expect(getTarget(await logInWithCode((login) => wpLogin(login, { redirect_to: requested })))).toBe(
        absolute(requested),
      );
    });
  });

  it('remembers that the session is to be persistent', async () => {
    const isPersistent = (response: RawResponse) =>
      /^set-cookie: wordpress_logged_in_[^\r\n]*expires=/im.test(response.head);
    expect(isPersistent(await logInWithCode((login) => wpLogin(login, { rememberme: 'forever' })))).toBe(true);
    expect(isPersistent(await logInWithCode((login) => wpLogin(login, {})))).toBe(false);
  });

  describe('by a link', () => {
    it.each(links)('%s leads there', async (what, kind, target) => {
      const response = await logInWithCode((login) => toLink(kind, login));
      expect(getTarget(response)).toBe(without.get(what));
      expect(getTarget(response)).toBe(absolute(target));
    });

    it('that shows a page leads to that page', async () => {
      const browser = users.browser();
      let target = '';
      const response = await logInWithCode((login) => {
        target = `${toLink('here', login).target}&course=2`;
        return { target };
      }, browser);
      expect(getTarget(response)).toBe(absolute(target));
      expect((await browser.get(target)).status).toBe(200);
    });
  });

  describe('by the form of a plugin', () => {
    const membersForm = (fields: Readonly<Record<string, string>>, referer: string) => (login: string) =>
      form('/', new URLSearchParams({ members_login: login, members_password: stack.password, ...fields }).toString(), {
        referer: absolute(referer),
      });

    it('leads to the target of the form', async () => {
      const response = await logInWithCode(membersForm({ redirect: '/sample-page/?from=form' }, '/join/'));
      expect(getTarget(response)).toBe(absolute('/sample-page/?from=form'));
    });

    it('leads to the target of the plugin, and not to another site that it came from', async () => {
      expect(getTarget(await logInWithCode(membersForm({ tells_target: '1' }, '/join/')))).toBe(absolute('/members/'));
      expect(getTarget(await logInWithCode(membersForm({}, 'https://evil.example/')))).toBe(absolute('/wp-admin/'));
    });

    it('leads to the page of the form otherwise', async () => {
      expect(getTarget(await logInWithCode(membersForm({}, '/sample-page/?at=form')))).toBe(
        absolute('/sample-page/?at=form'),
      );
    });
  });

  describe('in Chromium', () => {
    it('leads to another host with an app code in the digits of another script', async () => {
      const visits: string[] = [];
      const shop = createServer((request, response) => {
        visits.push(request.url ?? '');
        response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>The shop</title><h1>Welcome</h1>');
      });
      await new Promise<void>((resolve) => shop.listen(0, ALLOWED.near, resolve));
      const browser = await openChromium();
      try {
        const page = await (await browser.newContext()).newPage();
        const target = `http://${ALLOWED.near}:${(shop.address() as AddressInfo).port}/welcome/?a=1`;
        await page.goto(`${stack.url}/wp-login.php?redirect_to=${encodeURIComponent(target)}`);
        await sendLoginForm(page, TRAVELLER, stack.password);
        const field = page.getByLabel('Code', { exact: true });
        await field.fill(inScript(users.appCode(TRAVELLER), '٠'));
        await field.press('Enter');
        await page.waitForURL(target);
        expect(await page.title()).toBe('The shop');
        expect(visits).toContain('/welcome/?a=1');
      } finally {
        await browser.close();
        shop.close();
      }
    });

    it('notifies the window of the Customizer', async () => {
      const browser = await openChromium();
      try {
        const page = await (await browser.newContext()).newPage();
        await page.goto(`${stack.url}/?login_window`);
        const login = page.frameLocator('iframe');
        await sendLoginForm(login, CUSTOMISER, stack.password);
        const field = login.getByLabel('Code', { exact: true });
        await field.fill(users.appCode(CUSTOMISER));
        await field.press('Enter');
        await login.getByText('You have logged in successfully.').waitFor();
        await page.waitForFunction(() => document.title !== 'waits');
        expect(await page.title()).toBe(`${stack.url} {"id":"login","channel":"login"}`);
      } finally {
        await browser.close();
      }
    });
  });

  it('closes the login dialog of wp-admin', async () => {
    const { login, code } = users.next();
    const browser = users.browser();
    const challenge = await browser.request(wpLogin(login, { 'interim-login': '1' }));
    expect(challenge.headers.location).toBe(`${SECOND_FACTOR}&interim-login=1`);
    const done = await sendCode(browser, code, `${SECOND_FACTOR}&interim-login=1`);
    expect([done.status, createsSession(done)]).toEqual([200, true]);
    expect(done.body).toMatch(/<body class="[^"]*\binterim-login-success\b/);
    expect(done.headers.location).toBeUndefined();
  });

  it('continues in the same browser with another user agent, and in no other browser', async () => {
    const { login, code } = users.next();
    const browser = users.browser('A phone');
    await browser.logIn(login);
    const desktop = users.browser('A phone that asks for the desktop page');
    const cookies = { cookie: browser.cookie };
    const page = await desktop.request({ target: SECOND_FACTOR, headers: cookies });
    expect([page.status, page.body.includes('name="code"')]).toEqual([200, true]);
    const ended = await users.browser('A phone').get(SECOND_FACTOR);
    expect([ended.status, ended.body.includes('This login has ended')]).toEqual([403, true]);
    const token = /name="token" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
    const fields = new URLSearchParams({ token, step: 'backup', code }).toString();
    const response = await desktop.request(form(SECOND_FACTOR, fields, { ...cookies, origin: stack.url }));
    expect([response.status, createsSession(response)]).toEqual([303, true]);
  });

  describe('accepts a code', () => {
    const [START, MARK] = ['\u200e', '\u200b'];
    const spellings: readonly (readonly [string, (code: string) => string])[] = [
      ['in full-width digits', (code) => inScript(code, '０')],
      ['in Arabic digits', (code) => inScript(code, '٠')],
      ['in Persian digits', (code) => inScript(code, '۰')],
      ['in Devanagari digits', (code) => inScript(code, '०')],
      ['with marks that nobody sees', (code) => `${START}${code.replace(' ', MARK)}${MARK}`],
      ['with a dash', (code) => code.replace(' ', '–')],
      ['with a dot', (code) => code.replace(' ', '.')],
      ['with words around it', (code) => `Your code: ${code}.`],
    ];
    it.each(spellings)('%s', async (_how, spell) => {
      const { login, code } = users.next();
      const browser = users.browser();
      await browser.logIn(login);
      const response = await sendCode(browser, spell(code));
      expect([response.status, createsSession(response)]).toEqual([303, true]);
    });

    it('after any number of inputs without a code, which do not count as tries', async () => {
      const { login, code } = users.next();
      const browser = users.browser();
      await browser.logIn(login);
      const unreadable = ['½234 5678', '1234 567²', '⑫34 5678', `${code} ${code}`, `\u202e${code}`, '123 456', 'code'];
      for (const text of [...unreadable, ...unreadable]) {
        const response = await sendCode(browser, text);
        expect([text, response.status]).toEqual([text, 400]);
      }
      expect(createsSession(await sendCode(browser, code))).toBe(true);
    });
  });

  describe('started by switching accounts', () => {
    const actAs = (login: string): TypedRequest => ({ target: `/?act_as=${login}` });

    it('needs no code from a user who gave one and may edit the other account, there and back', async () => {
      const browser = users.browser();
      await browser.logIn(stack.user);
      expect(createsSession(await sendCode(browser, users.next(stack.user).code))).toBe(true);
      const there = await browser.request(actAs(TRAVELLER));
      expect([there.status, createsSession(there)]).toEqual([302, true]);
      expect(await getProfile(browser)).toBe(TRAVELLER);
      const back = await browser.request(actAs(stack.user));
      expect([back.status, createsSession(back)]).toEqual([302, true]);
      expect(await getProfile(browser)).toBe(stack.user);
    });

    it('asks for one otherwise, with a message and a way back, and logs nobody out', async () => {
      const browser = users.browser();
      expect(createsSession(await browser.logIn(usersByRole.author))).toBe(true);
      const challenge = await browser.request(actAs(TRAVELLER));
      expect([isChallenged(challenge), createsSession(challenge)]).toEqual([true, false]);
      const { body } = await browser.get(SECOND_FACTOR);
      expect(body).toContain(`<strong>${TRAVELLER}</strong>`);
      expect(body).toMatch(new RegExp(`<a [^>]*href="/wp-admin/"[^>]*>Stay logged in as ${usersByRole.author}</a>`));
      expect(await getProfile(browser)).toBe(usersByRole.author);
    });

    it('asks an editor who would become the owner', async () => {
      const { login, code } = users.next();
      const browser = users.browser();
      await browser.logIn(login);
      expect(createsSession(await sendCode(browser, code))).toBe(true);
      const challenge = await browser.request(actAs(stack.user));
      expect([isChallenged(challenge), createsSession(challenge)]).toEqual([true, false]);
      expect(await getProfile(browser)).toBe(login);
    });
  });

  it('works on a request without a session, and creates none before the code', async () => {
    const browser = users.browser();
    await browser.request(toLink('page', TRAVELLER));
    const response = await sendFrom(stack, FROM, {
      target: '/wp-admin/profile.php',
      headers: { cookie: browser.cookie },
    });
    expect([response.status, getTarget(response).includes('/wp-login.php')]).toEqual([302, true]);
  });
});

/** Replaces the digits by those of another script, given by its zero. */
function inScript(text: string, zero: string): string {
  return text.replace(/\d/g, (digit) => String.fromCodePoint((zero.codePointAt(0) ?? 0) + Number(digit)));
}
