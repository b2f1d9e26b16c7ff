import { describe, expect, it } from 'vitest';
import {
  appCode,
  enrol,
  getShownSecret,
  type Page,
  PlainBrowser,
  type SecondFactorSite,
  secondFactorSite,
  wrongCode,
} from '../../test/support/two-factor-site.js';

/** A site whose user has a factor, and a new browser in which the password was correct. */
async function atChallenge(): Promise<{ site: SecondFactorSite; browser: PlainBrowser; page: Page; secret: Buffer }> {
  const site = await secondFactorSite();
  const { secret } = await enrol(site, new PlainBrowser(site));
  const browser = new PlainBrowser(site);
  return { site, browser, page: await browser.logIn(), secret };
}

describe('wrong codes', () => {
  it('end the challenge after ten, and pause the account', async () => {
    const { site, browser, page, secret } = await atChallenge();
    for (let i = 1; i <= 9; i++) {
      expect((await browser.send(page, 'code', { code: wrongCode(secret, site.now) })).status).toBe(403);
    }
    const tenth = await browser.send(page, 'code', { code: wrongCode(secret, site.now) });
    expect([tenth.status, tenth.headers.get('retry-after')]).toEqual([429, '60']);
    expect(tenth.html).toContain('Codes are accepted again in 60 seconds.');
    const after = await browser.send(page, 'code', { code: appCode(secret, site.now) });
    expect(after.status).toBe(403);
    const next = new PlainBrowser(site);
    const paused = await next.send(await next.logIn(), 'code', { code: appCode(secret, site.now) });
    expect([paused.status, paused.headers.get('retry-after')]).toEqual([429, '60']);
    expect(site.issued).toHaveLength(1);
    site.now += 60_000;
    expect((await next.send(paused, 'code', { code: appCode(secret, site.now) })).status).toBe(303);
  });

  it('are limited across concurrent logins', async () => {
    const { site, secret } = await atChallenge();
    const browsers = Array.from({ length: 4 }, () => new PlainBrowser(site));
    const pages = await Promise.all(browsers.map((browser) => browser.logIn()));
    const responses = await Promise.all(
      browsers.flatMap((browser, i) =>
        Array.from({ length: 10 }, () => browser.send(pages[i] as Page, 'code', { code: wrongCode(secret, site.now) })),
      ),
    );
    const checked = responses.filter(({ html }) => html.includes('This code isn’t right')).length;
    expect(checked).toBeLessThanOrEqual(10);
    // A new login, since the challenge of another one has ended if all ten checked codes were its own.
    const late = new PlainBrowser(site);
    const right = await late.send(await late.logIn(), 'code', { code: appCode(secret, site.now) });
    expect(right.status).toBe(429);
    expect(site.issued).toHaveLength(1);
  });

  it('pause the account longer each time, and the count survives a restart', async () => {
    const { site, browser, page, secret } = await atChallenge();
    for (let i = 0; i < 10; i++) await browser.send(page, 'code', { code: wrongCode(secret, site.now) });
    await site.db.destroy();
    const restarted = await secondFactorSite(site.dataDir);
    restarted.now = site.now + 30_000;
    const again = new PlainBrowser(restarted);
    const paused = await again.send(await again.logIn(), 'code', { code: appCode(secret, restarted.now) });
    expect(paused.headers.get('retry-after')).toBe('30');
    restarted.now += 30_000;
    let last = paused;
    for (let i = 0; i < 10; i++) last = await again.send(paused, 'code', { code: wrongCode(secret, restarted.now) });
    expect(last.headers.get('retry-after')).toBe('300');
    expect(restarted.issued).toEqual([]);
  });

  it('count for back-up codes as well', async () => {
    const { site, browser, secret } = await atChallenge();
    const page = await browser.open('/wp-login.php?action=second-factor&method=backup');
    for (let i = 0; i < 9; i++) await browser.send(page, 'backup', { code: `0000 000${i}` });
    const app = await browser.open('/wp-login.php?action=second-factor');
    expect((await browser.send(app, 'code', { code: wrongCode(secret, site.now) })).status).toBe(429);
  });
});

describe('a challenge', () => {
  it('is refused in another browser, which does not have its cookie', async () => {
    const { site, browser, page, secret } = await atChallenge();
    const other = new PlainBrowser(site);
    expect((await other.open('/wp-login.php?action=second-factor')).status).toBe(403);
    expect((await other.send(page, 'code', { code: appCode(secret, site.now) })).status).toBe(403);
    expect(site.issued).toHaveLength(1);
    expect((await browser.send(page, 'code', { code: appCode(secret, site.now) })).status).toBe(303);
  });

  it('gives an attacker with its cookie no session without a code', async () => {
    const { site, browser, page, secret } = await atChallenge();
    const attacker = new PlainBrowser(site, { 'user-agent': 'Other/1.0' });
    attacker.cookies.set('sf_challenge', browser.cookies.get('sf_challenge') as string);
    expect((await attacker.open('/wp-login.php?action=second-factor')).html).toContain('Confirm it’s you');
    for (const step of ['continue', 'enrol', 'renew', 'finish']) {
      const token = /name="token" value="([^"]+)"/.exec(page.html)?.[1] as string;
      await attacker.open('/wp-login.php?action=second-factor', { token, step, code: '000000', saved: '1' });
    }
    expect((await attacker.send(page, 'code', { code: wrongCode(secret, site.now) })).status).toBe(403);
    expect(site.issued).toHaveLength(1);
  });

  it('ends after 10 minutes', async () => {
    const { site, browser, page, secret } = await atChallenge();
    site.now += 10 * 60_000;
    const late = await browser.send(page, 'code', { code: appCode(secret, site.now) });
    expect([late.status, late.html.includes('This login has ended')]).toEqual([403, true]);
    expect(site.issued).toHaveLength(1);
  });

  it('belongs to one user: another user’s code or a user named in the form changes nothing', async () => {
    const { site, secret } = await atChallenge();
    site.needed = { ...site.needed, userId: 2, login: 'editor' };
    await enrol(site, new PlainBrowser(site));
    const browser = new PlainBrowser(site);
    const page = await browser.logIn();
    const ownersCode = appCode(secret, site.now);
    const response = await browser.send(page, 'code', { code: ownersCode, user: '1', user_id: '1', login: 'owner' });
    expect(response.status).toBe(403);
    expect(site.issued.map(({ user }) => user)).toEqual([1, 2]);
  });

  it('does not accept a form from another site, or without the page’s token', async () => {
    const { site, browser, page, secret } = await atChallenge();
    const code = appCode(secret, site.now);
    const token = /name="token" value="([^"]+)"/.exec(page.html)?.[1] as string;
    const form = { token, step: 'code', code };
    const path = '/wp-login.php?action=second-factor';
    expect((await browser.open(path, form, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await browser.open(path, form, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await browser.open(path, { step: 'code', code })).headers.get('location')).toBe(path);
    expect((await browser.open(path, { ...form, token: `${token}x` })).headers.get('location')).toBe(path);
    expect(site.issued).toHaveLength(1);
    expect((await browser.open(path, form, { origin: site.url })).status).toBe(303);
    expect(site.issued).toHaveLength(2);
  });

  it('does not exist without its cookie, or with an invented one', async () => {
    const { site } = await atChallenge();
    for (const cookie of [null, 'x', 'A'.repeat(43), "' or 1=1--"]) {
      const browser = new PlainBrowser(site);
      if (cookie) browser.cookies.set('sf_challenge', cookie);
      expect((await browser.open('/wp-login.php?action=second-factor')).status).toBe(403);
    }
  });

  it('responds with an error to anything but a form, and to a huge form', async () => {
    const { site, browser, page, secret } = await atChallenge();
    const path = `${site.url}/wp-login.php?action=second-factor`;
    for (const [type, body] of [
      ['application/json', '{}'],
      ['application/x-www-form-urlencoded', 'a='.padEnd(100_000, 'a')],
    ] as const) {
      const headers = { 'content-type': type, 'user-agent': 'Plain/1.0' };
      expect((await fetch(path, { method: 'POST', headers, body })).status).toBe(400);
    }
    expect((await fetch(path, { method: 'PUT' })).status).toBe(405);
    expect((await browser.send(page, 'code', { code: appCode(secret, site.now) })).status).toBe(303);
  });
});

describe('pages', () => {
  it('are not stored or indexed, run only their own script, and are framed by the same site only', async () => {
    const { page } = await atChallenge();
    const policy = page.headers.get('content-security-policy') ?? '';
    const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1];
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(page.html.match(/<script/g)).toHaveLength(1);
    expect(page.html).toContain(`<script nonce="${nonce}">`);
    expect(page.html).not.toMatch(/ style="| on[a-z]+="/);
    expect(page.headers.get('cache-control')).toContain('no-store');
    expect(page.headers.get('x-robots-tag')).toContain('noindex');
  });

  it('contain no product name and no address of another user', async () => {
    const site = await secondFactorSite();
    const browser = new PlainBrowser(site);
    const enrolment = await browser.logIn();
    const codes = await browser.send(enrolment, 'enrol', { code: appCode(getShownSecret(enrolment), site.now) });
    const ended = await new PlainBrowser(site).open('/wp-login.php?action=second-factor');
    for (const { html, headers } of [enrolment, codes, ended]) {
      expect(html + JSON.stringify([...headers])).not.toMatch(/security.?optimizer|guard|siteground/i);
      expect(html.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:\/\//);
    }
  });

  it('show a login name as text, whatever it contains', async () => {
    const site = await secondFactorSite();
    site.needed = { ...site.needed, login: '<img src=x onerror=alert(1)>"\'&' };
    const browser = new PlainBrowser(site);
    const page = await browser.logIn();
    expect(page.html).not.toContain('<img');
    const codes = await browser.send(page, 'enrol', { code: appCode(getShownSecret(page), site.now) });
    expect(codes.html).not.toContain('<img');
    expect(codes.html).toContain('data:text/plain');
  });
});

describe('a challenge whose user changes', () => {
  it.each(['new password', 'deleted'])('ends: %s', async (stamp) => {
    const { site, browser, page, secret } = await atChallenge();
    site.needed = { ...site.needed, stamp };
    const late = await browser.send(page, 'code', { code: appCode(secret, site.now) });
    expect(late.status).toBe(403);
    expect(late.html).toContain('Log in again');
    expect(site.issued).toHaveLength(1);
    // It has ended permanently, even if the old password is restored.
    site.needed = { ...site.needed, stamp: 'old' };
    expect((await browser.send(page, 'code', { code: appCode(secret, site.now) })).status).toBe(403);
    expect(site.issued).toHaveLength(1);
    expect(site.log.events().filter((event) => event === 'second-factor-outdated')).toHaveLength(1);
  });

  it('does not let a user set up a factor after the password has changed', async () => {
    const site = await secondFactorSite();
    const attacker = new PlainBrowser(site);
    const page = await attacker.logIn();
    site.needed = { ...site.needed, stamp: 'new password' };
    await attacker.send(page, 'enrol', { code: appCode(getShownSecret(page), site.now) });
    expect(await site.factors.read({ site: 'site', userId: 1 })).not.toMatchObject({ enabled: true });
    const owner = new PlainBrowser(site);
    expect((await owner.logIn()).html).toContain('<code>');
  });
});
