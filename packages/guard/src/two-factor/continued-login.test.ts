import { describe, expect, it } from 'vitest';
import {
  appCode,
  enrol,
  PlainBrowser,
  type SecondFactorSite,
  secondFactorSite,
} from '../../test/support/two-factor-site.js';
import { cataloguesFolder, createLanguages } from '../i18n/languages.js';
import { silentLogger } from '../lib/logger.js';
import { REDIRECT_MAX } from './redirect-target.js';

/** Logs the current user in, up to the session. */
async function logIn(site: SecondFactorSite, secret: Buffer) {
  const browser = new PlainBrowser(site);
  const done = await browser.send(await browser.logIn(), 'code', { code: appCode(secret, site.now) });
  site.now += 60_000;
  return { location: done.headers.get('location'), request: site.issued.at(-1) };
}

async function enrolled() {
  const site = await secondFactorSite();
  return { site, ...(await enrol(site, new PlainBrowser(site))) };
}

describe('the redirect and the site that a challenge stores', () => {
  it.each([
    ['/wp-admin/edit.php?post_type=page', false, ''],
    ['https://shop.example/basket?a=1#b', true, ''],
    ['com.example.shop://signed-in', true, '/two/'],
    ['', false, '/two/'],
  ])(
    'are sent to WordPress when it creates the session: %j, decided %j, site %j',
    async (redirect, decided, sitePath) => {
      const { site, secret } = await enrolled();
      site.needed = { ...site.needed, redirect, decided, sitePath };
      const { request } = await logIn(site, secret);
      expect(request).toMatchObject({ redirect, decided, sitePath });
    },
  );

  it('survive a restart of guard', async () => {
    const { site, secret } = await enrolled();
    const target = { redirect: 'https://shop.example/a', decided: true, sitePath: '/two/' };
    site.needed = { ...site.needed, ...target };
    const before = new PlainBrowser(site);
    const page = await before.logIn();
    await site.db.destroy();
    const restarted = await secondFactorSite(site.dataDir);
    restarted.now = site.now;
    const browser = new PlainBrowser(restarted);
    for (const [name, value] of before.cookies) browser.cookies.set(name, value);
    expect((await browser.send(page, 'code', { code: appCode(secret, site.now) })).status).toBe(303);
    expect(restarted.issued).toEqual([expect.objectContaining(target)]);
  });

  it('are limited to the length that web servers accept, with the default page for a longer URL', async () => {
    const { site, secret } = await enrolled();
    const longest = `/?${'a'.repeat(REDIRECT_MAX - 2)}`;
    site.needed = { ...site.needed, redirect: longest };
    expect((await logIn(site, secret)).request?.redirect).toBe(longest);
    site.needed = { ...site.needed, redirect: `${longest}a` };
    expect((await logIn(site, secret)).request?.redirect).toBe('');
  });

  it('use the visitor’s host where WordPress names that of the web server', async () => {
    const { site, secret } = await enrolled();
    site.redirect = `${site.upstream}/my-account/?a=1`;
    expect((await logIn(site, secret)).location).toBe(`${site.url}/my-account/?a=1`);
  });
});

describe('a program that logs in', () => {
  const begin = (site: SecondFactorSite, browser = new PlainBrowser(site)) =>
    browser.open('/wp-login.php', { log: 'owner', pwd: 'right' });

  it('gets the URL of the next step in JSON, with the cookie of the challenge', async () => {
    const { site, secret } = await enrolled();
    site.program = true;
    const browser = new PlainBrowser(site);
    const reply = await begin(site, browser);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([401, 'application/json; charset=utf-8']);
    const url = `${site.url}/wp-login.php?action=second-factor`;
    const message = `This account needs a second factor. Go on with the login at ${url}`;
    expect(JSON.parse(reply.html)).toEqual({
      ...{ success: false, code: 'two_factor_required', message, status: 401, url },
      data: { status: 401, message, url },
    });
    expect(reply.headers.get('location')).toBeNull();
    expect(reply.headers.get('cache-control')).toContain('no-store');
    expect(reply.headers.getSetCookie().join()).toMatch(/^sf_challenge=[^;]{43};.*HttpOnly/);
    const page = await browser.open(new URL(url).pathname + new URL(url).search);
    expect((await browser.send(page, 'code', { code: appCode(secret, site.now) })).status).toBe(303);
    expect(site.issued).toHaveLength(2);
  });

  it('gets the message in the language of the site', async () => {
    const { site } = await enrolled();
    site.program = true;
    site.language = createLanguages({ folder: cataloguesFolder, logger: silentLogger() })('de_DE');
    const { message } = JSON.parse((await begin(site)).html);
    expect(message).not.toContain('second factor');
    expect(message).toContain(`${site.url}/wp-login.php?action=second-factor`);
  });

  it('gets an error in JSON and no session when the storage fails', async () => {
    const { site } = await enrolled();
    site.program = true;
    await site.db.destroy();
    const reply = await begin(site);
    const message = 'The second factor can’t be checked right now. Try again later.';
    expect([reply.status, reply.headers.getSetCookie()]).toEqual([503, []]);
    expect(JSON.parse(reply.html)).toEqual({
      ...{ success: false, code: 'two_factor_unavailable', message, status: 503 },
      data: { status: 503, message },
    });
    site.program = false;
    const page = await begin(site);
    expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(site.issued).toHaveLength(1);
  });
});

describe('a code with unusual input', () => {
  const arabic = (code: string) => code.replace(/\d/g, (digit) => '٠١٢٣٤٥٦٧٨٩'[Number(digit)] as string);
  const wide = (code: string) => code.replace(/\d/g, (digit) => '０１２３４５６７８９'[Number(digit)] as string);

  it.each([
    ['in Arabic digits', arabic],
    ['in full-width digits, with a space', (code: string) => `${wide(code.slice(0, 3))}\u3000${wide(code.slice(3))}`],
    ['with invisible characters', (code: string) => `\u200e${code.slice(0, 3)}\u2060${code.slice(3)}\ufeff`],
    ['inside a message', (code: string) => `Your code: ${code.slice(0, 3)}-${code.slice(3)}.`],
  ])('is accepted %s: as the first code, later, and as a back-up code', async (_how, typed) => {
    const site = await secondFactorSite();
    const browser = new PlainBrowser(site);
    const { secret, codes } = await enrol(site, browser, typed);
    const next = new PlainBrowser(site);
    const app = await next.send(await next.logIn(), 'code', { code: typed(appCode(secret, site.now)) });
    const third = new PlainBrowser(site);
    await third.logIn();
    const page = await third.open('/wp-login.php?action=second-factor&method=backup');
    const backup = await third.send(page, 'backup', { code: typed((codes[0] as string).replace(' ', '')) });
    expect([app.status, backup.status, site.issued.length]).toEqual([303, 303, 3]);
  });

  it('is not counted as a try when it can’t be read', async () => {
    const { site, secret } = await enrolled();
    const browser = new PlainBrowser(site);
    const page = await browser.logIn();
    const code = appCode(secret, site.now);
    for (const typed of [`${code.slice(0, 5)}²`, `\u202e${code}`, `${code} or ${code}`, `${code}0`, 'no', '', '½']) {
      const refused = await browser.send(page, 'code', { code: typed });
      expect([typed, refused.status, refused.html.includes('A code has 6 digits.')]).toEqual([typed, 400, true]);
    }
    for (let round = 0; round < 10; round++) await browser.send(page, 'code', { code: 'x' });
    expect((await browser.send(page, 'code', { code })).status).toBe(303);
  });
});

describe('the field for a code', () => {
  it('has room for a line of a message, and has no pattern, since the server reads the digits', async () => {
    const site = await secondFactorSite();
    const first = new PlainBrowser(site);
    const setUp = await first.logIn();
    await enrol(site, new PlainBrowser(site));
    const page = await new PlainBrowser(site).logIn();
    for (const { html } of [setUp, page]) {
      const field = /<input[^>]*name="code"[^>]*>/.exec(html)?.[0] ?? '';
      expect(Number(/maxLength="(\d+)"/i.exec(field)?.[1])).toBeGreaterThanOrEqual(100);
      expect(field).not.toMatch(/ pattern=/);
    }
  });

  it('is on a page whose form may redirect anywhere, and which runs no foreign script', async () => {
    const { site } = await enrolled();
    const policy = (await new PlainBrowser(site).logIn()).headers.get('content-security-policy') ?? '';
    expect(policy).not.toContain('form-action');
    expect(policy).toMatch(/script-src 'nonce-[^']+'/);
    expect(policy).not.toContain('unsafe-inline');
  });
});
