import { describe, expect, it } from 'vitest';
import {
  appCode,
  enrol,
  getShownCodes,
  getShownSecret,
  PlainBrowser,
  secondFactorSite,
} from '../../test/support/two-factor-site.js';
import { cataloguesFolder, createLanguages } from '../i18n/languages.js';
import { silentLogger } from '../lib/logger.js';
import { toFormToken } from './challenges.js';
import { hotp } from './totp.js';

describe('a user without a second factor, in a browser without JavaScript', () => {
  it('sets it up, saves the codes and only then gets a session', async () => {
    const site = await secondFactorSite();
    const browser = new PlainBrowser(site);
    const page = await browser.logIn();
    expect(page.html).toContain('Set up two-factor authentication');
    expect(page.html).toContain('Logging in as <strong>owner</strong>');
    const codesPage = await browser.send(page, 'enrol', { code: appCode(getShownSecret(page), site.now) });
    expect(getShownCodes(codesPage)).toHaveLength(10);
    expect(codesPage.headers.getSetCookie()).toEqual([]);
    expect(site.issued).toEqual([]);
    const done = await browser.send(codesPage, 'continue', { saved: '1' });
    expect(done.status).toBe(303);
    expect(done.headers.get('location')).toBe(`${site.url}/wp-admin/edit.php`);
    expect(done.headers.getSetCookie().slice(0, 2)).toEqual([
      'wp=user-1; path=/; HttpOnly',
      'wp_sec=1; path=/wp-admin',
    ]);
    expect(browser.cookies.get('known_device')).toMatch(/^[0-9a-f]{16}-\d+-1\./);
    const target = { redirect: '/wp-admin/edit.php', decided: false, sitePath: '' };
    const request = { user: 1, remember: true, ...target, interim: false };
    expect(site.issued).toEqual([{ ...request, stamp: 'old', newFactor: true }]);
    expect(site.log.events()).toEqual(expect.arrayContaining(['second-factor-key-made', 'second-factor-set-up']));
  });

  it('sets it up in the language of the site', async () => {
    const site = await secondFactorSite();
    site.language = createLanguages({ folder: cataloguesFolder, logger: silentLogger() })('de_DE');
    const browser = new PlainBrowser(site);
    const page = await browser.logIn();
    expect(page.html).toContain('<h1>Zwei-Faktor-Authentifizierung einrichten</h1>');
    expect(page.html).toContain('Anmeldung als <strong>owner</strong>.');
    const wrong = await browser.send(page, 'enrol', { code: 'x' });
    expect(wrong.html).toContain('Ein Code hat 6 Ziffern.');
    // Only then: at first, the steps above the field are read.
    expect(wrong.html).toMatch(/<input [^>]*id="code"[^>]* autofocus/i);
    expect(page.html).not.toMatch(/autofocus/i);
    const codesPage = await browser.send(wrong, 'enrol', { code: appCode(getShownSecret(page), site.now) });
    expect(codesPage.html).toContain('download="ersatzcodes-127.0.0.1.txt"');
    expect((await browser.send(codesPage, 'continue', {})).html).toContain('Setzen Sie hier ein Häkchen');
  });

  it('needs the checkbox, which the server checks', async () => {
    const site = await secondFactorSite();
    const browser = new PlainBrowser(site);
    const page = await browser.logIn();
    const codesPage = await browser.send(page, 'enrol', { code: appCode(getShownSecret(page), site.now) });
    const refused = await browser.send(codesPage, 'continue', {});
    expect(refused.status).toBe(400);
    expect(refused.html).toContain('Tick this to go on.');
    expect(refused.html).toMatch(/<input [^>]*type="checkbox"[^>]* autofocus/i);
    expect(site.issued).toEqual([]);
    expect(await site.factors.listEnabled('site')).toEqual([]);
  });

  it('continues with the same key after an interruption, and has no factor until the setup ends', async () => {
    const site = await secondFactorSite();
    const browser = new PlainBrowser(site);
    const first = getShownSecret(await browser.logIn());
    site.now += 3600_000;
    const again = await browser.logIn();
    expect(getShownSecret(again)).toEqual(first);
    const codesPage = await browser.send(again, 'enrol', { code: appCode(first, site.now) });
    expect(getShownCodes(codesPage)).toHaveLength(10);
    site.now += 3600_000;
    expect(getShownSecret(await browser.logIn())).toEqual(first);
  });

  it('never gets the key that another browser was shown', async () => {
    const site = await secondFactorSite();
    const [attacker, owner] = [new PlainBrowser(site), new PlainBrowser(site)];
    const challenge = await attacker.logIn();
    const { secret } = await enrol(site, owner);
    expect(secret).not.toEqual(getShownSecret(challenge));
    const late = await attacker.send(challenge, 'enrol', { code: appCode(getShownSecret(challenge), site.now) });
    expect(late.status).toBe(303);
    expect(site.issued).toHaveLength(1);
  });

  it('gets new codes after leaving the page, and the old ones are not accepted', async () => {
    const site = await secondFactorSite();
    const browser = new PlainBrowser(site);
    const page = await browser.logIn();
    const first = getShownCodes(await browser.send(page, 'enrol', { code: appCode(getShownSecret(page), site.now) }));
    const back = await browser.open('/wp-login.php?action=second-factor');
    expect(getShownCodes(back)).toEqual([]);
    const renewed = await browser.send(back, 'renew', {});
    const second = getShownCodes(renewed);
    expect(second.filter((code) => first.includes(code))).toEqual([]);
    await browser.send(renewed, 'continue', { saved: '1' });
    const next = new PlainBrowser(site);
    await next.logIn();
    const backup = await next.open('/wp-login.php?action=second-factor&method=backup');
    expect((await next.send(backup, 'backup', { code: first[0] as string })).status).toBe(403);
    expect((await next.send(backup, 'backup', { code: second[0] as string })).status).toBe(303);
  });

  it('cannot skip a step: forms for other steps redirect to the next required page', async () => {
    const site = await secondFactorSite();
    const browser = new PlainBrowser(site);
    const page = await browser.logIn();
    const token = /name="token" value="([^"]+)"/.exec(page.html)?.[1] as string;
    for (const step of ['continue', 'renew', 'code', 'backup', '', 'finish']) {
      const response = await browser.open('/wp-login.php?action=second-factor', {
        ...{ token, step, saved: '1', code: '00000000', user: '2', trust: '1' },
      });
      expect([step, response.status, response.headers.get('location')]).toEqual([
        ...[step, 303, '/wp-login.php?action=second-factor'],
      ]);
    }
    expect(site.issued).toEqual([]);
  });
});

describe('a user with a second factor', () => {
  it('logs in with a code of the app', async () => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    const browser = new PlainBrowser(site);
    const page = await browser.logIn();
    expect(page.html).toContain('Confirm it’s you');
    const code = appCode(secret, site.now);
    const done = await browser.send(page, 'code', { code: `${code.slice(0, 3)} ${code.slice(3)}` });
    expect(done.status).toBe(303);
    // WordPress compares the stamp: the password must not have changed.
    expect(site.issued.map(({ stamp, newFactor }) => [stamp, newFactor])).toEqual([
      ['old', true],
      ['old', false],
    ]);
    expect(site.log.text()).not.toContain(code);
  });

  it('cannot use a code twice, or an older one after a newer one', async () => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    const step = Math.floor(site.now / 30_000);
    const first = new PlainBrowser(site);
    expect((await first.send(await first.logIn(), 'code', { code: hotp(secret, step) })).status).toBe(303);
    const second = new PlainBrowser(site);
    const page = await second.logIn();
    expect((await second.send(page, 'code', { code: hotp(secret, step) })).status).toBe(403);
    expect((await second.send(page, 'code', { code: hotp(secret, step - 1) })).status).toBe(403);
    expect(site.issued).toHaveLength(2);
  });

  it('gets one session when many requests send the same code of the app at the same time', async () => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    const browsers = Array.from({ length: 5 }, () => new PlainBrowser(site));
    const pages = await Promise.all(browsers.map((browser) => browser.logIn()));
    const code = appCode(secret, site.now);
    const responses = await Promise.all(
      browsers.flatMap((browser, i) => [0, 1].map(() => browser.send(pages[i] as never, 'code', { code }))),
    );
    expect(
      responses.filter(({ headers }) => headers.getSetCookie().some((line) => line.startsWith('wp='))),
    ).toHaveLength(1);
    expect(site.issued).toHaveLength(2);
  });

  it('gets one session when many requests send the same back-up code at the same time', async () => {
    const site = await secondFactorSite();
    const { codes } = await enrol(site, new PlainBrowser(site));
    const browsers = Array.from({ length: 5 }, () => new PlainBrowser(site));
    await Promise.all(browsers.map((browser) => browser.logIn()));
    const pages = await Promise.all(
      browsers.map((browser) => browser.open('/wp-login.php?action=second-factor&method=backup')),
    );
    await Promise.all(
      browsers.map((browser, i) => browser.send(pages[i] as never, 'backup', { code: codes[3] as string })),
    );
    expect(site.issued).toHaveLength(2);
    const rows = await site.db.selectFrom('audit').select(['name', 'actor_login', 'address']).execute();
    const written = (name: string) => rows.filter((row) => row.name === name).length;
    expect([written('factor_set_up'), written('factor_backup_code'), written('factor_failed')]).toEqual([1, 1, 4]);
    expect(rows.every(({ actor_login, address }) => actor_login === 'owner' && address === '192.0.2.7')).toBe(true);
  });

  it('gets an error when WordPress creates no session, and no session from the same challenge later', async () => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    const browser = new PlainBrowser(site);
    const page = await browser.logIn();
    site.wordpressResponds = false;
    const failed = await browser.send(page, 'code', { code: appCode(secret, site.now) });
    expect(failed.status).toBe(502);
    expect(failed.html).toContain('You are not logged in.');
    site.wordpressResponds = true;
    site.now += 60_000;
    expect((await browser.send(page, 'code', { code: appCode(secret, site.now) })).status).toBe(403);
    expect(site.issued).toHaveLength(1);
  });

  it.each([
    ['https://shop.example/basket?a=1#b', 'https://shop.example/basket?a=1#b'],
    ['//shop.example', 'http://shop.example/'],
    ['com.example.shop://signed-in?a=1', 'com.example.shop://signed-in?a=1'],
    ['/\\evil.example', '/wp-admin/'],
    ['\t//evil.example', '/wp-admin/'],
    ['https://owner@shop.example/', '/wp-admin/'],
    ['javascript:1', '/wp-admin/'],
  ])('is redirected where WordPress decides, to another host only by a complete URL: %j', async (target, location) => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    site.redirect = target;
    const browser = new PlainBrowser(site);
    const done = await browser.send(await browser.logIn(), 'code', { code: appCode(secret, site.now) });
    expect([done.status, done.headers.get('location')]).toEqual([303, location]);
  });

  it('closes the login dialog of wp-admin with its last page', async () => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    site.needed = { ...site.needed, interim: true };
    const browser = new PlainBrowser(site);
    const page = await browser.logIn();
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'self'");
    const done = await browser.send(page, 'code', { code: appCode(secret, site.now) });
    expect(done.status).toBe(200);
    expect(done.html).toMatch(/<body class="[^"]*\binterim-login-success\b/);
    expect(done.headers.getSetCookie()[0]).toBe('wp=user-1; path=/; HttpOnly');
  });
});

describe('an administrator who is signed in', () => {
  const owner = { id: 1, login: 'owner', administrator: true };

  it('sets up a factor at once and gets no new session', async () => {
    const site = await secondFactorSite();
    site.signedIn.set('wp=owner', owner);
    const browser = new PlainBrowser(site);
    browser.cookies.set('wp', 'owner');
    const start = await browser.open('/wp-login.php?action=second-factor-setup');
    const page = await browser.open(start.headers.get('location') as string);
    expect(page.html).toContain('Setting up for <strong>owner</strong>');
    const codesPage = await browser.send(page, 'enrol', { code: appCode(getShownSecret(page), site.now) });
    const done = await browser.send(codesPage, 'continue', { saved: '1' });
    expect(done.headers.get('location')).toBe('/wp-admin/admin.php?page=login-settings');
    expect(site.issued).toEqual([]);
    expect(await site.factors.listEnabled('site')).toEqual([{ userId: 1, login: 'owner' }]);
    const again = await browser.open('/wp-login.php?action=second-factor-setup');
    const already = await browser.open(again.headers.get('location') as string);
    expect(already.html).toContain('already set up');
  });

  it('may set up a factor, unlike anonymous clients and other users, who must log in', async () => {
    const site = await secondFactorSite();
    site.signedIn.set('wp=editor', { id: 2, login: 'editor', administrator: false });
    const browser = new PlainBrowser(site);
    for (const cookie of [null, 'nobody', 'editor']) {
      if (cookie) browser.cookies.set('wp', cookie);
      const response = await browser.open('/wp-login.php?action=second-factor-setup');
      expect([cookie, response.status, browser.cookies.has('sf_challenge')]).toEqual([cookie, 403, false]);
    }
  });

  it('gets no session from a challenge for a setup, whatever code is sent with it', async () => {
    const site = await secondFactorSite();
    const { secret, codes } = await enrol(site, new PlainBrowser(site));
    site.signedIn.set('wp=owner', owner);
    const browser = new PlainBrowser(site);
    browser.cookies.set('wp', 'owner');
    await browser.open('/wp-login.php?action=second-factor-setup');
    // The page has no form, since there is nothing to set up. A client with the cookie can compute its token.
    const token = toFormToken(browser.cookies.get('sf_challenge') as string);
    for (const [step, code] of [
      ['code', appCode(secret, site.now)],
      ['backup', codes[0] as string],
      ['enrol', appCode(secret, site.now)],
      ['continue', ''],
    ] as const) {
      const response = await browser.open('/wp-login.php?action=second-factor', { token, step, code, saved: '1' });
      expect([step, response.status, response.headers.getSetCookie()]).toEqual([step, 303, []]);
    }
    expect(site.issued).toHaveLength(1);
  });
});
