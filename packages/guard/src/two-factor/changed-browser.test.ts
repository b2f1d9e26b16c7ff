import { describe, expect, it } from 'vitest';
import {
  appCode,
  enrol,
  getShownCodes,
  getShownSecret,
  type Page,
  PlainBrowser,
  type SecondFactorSite,
  secondFactorSite,
} from '../../test/support/two-factor-site.js';

const PAGE = '/wp-login.php?action=second-factor';

/** Headers that may change between two requests of one browser with the same cookies. */
const CHANGES: readonly (readonly [what: string, headers: Record<string, string>])[] = [
  ['a newer version of the browser', { 'user-agent': 'Plain/1.1' }],
  ['the desktop user agent', { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }],
  ['no user agent', { 'user-agent': '' }],
  ['other languages', { 'accept-language': 'de,en;q=0.5' }],
  ['other client hints', { 'sec-ch-ua': '"Plain";v="2"', 'sec-ch-ua-mobile': '?1' }],
  ['other encodings', { 'accept-encoding': 'gzip' }],
  ['another path through proxies', { 'x-forwarded-for': '198.51.100.9', via: '1.1 proxy.example' }],
  ['all of these at once', { 'user-agent': 'Other/2.0', 'accept-language': 'it', dnt: '1', 'save-data': 'on' }],
];

/** The same browser, with the same cookies, and other headers from now on. */
function changed(browser: PlainBrowser, headers: Record<string, string>): PlainBrowser {
  const next = new PlainBrowser(browser.site, headers);
  for (const [name, value] of browser.cookies) next.cookies.set(name, value);
  return next;
}

describe.each(CHANGES)('one browser that changes to %s', (_what, headers) => {
  it('can open the page, and its code is accepted', async () => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    const before = new PlainBrowser(site);
    await before.logIn();
    const browser = changed(before, headers);
    const page = await browser.open(PAGE);
    expect([page.status, page.html.includes('Confirm it’s you')]).toEqual([200, true]);
    expect((await browser.send(page, 'code', { code: appCode(secret, site.now) })).status).toBe(303);
    expect(site.issued).toHaveLength(2);
  });

  it('can send the page that was open, with a code or a back-up code', async () => {
    const site = await secondFactorSite();
    const { secret, codes } = await enrol(site, new PlainBrowser(site));
    const first = new PlainBrowser(site);
    const page = await first.logIn();
    const sent = await changed(first, headers).send(page, 'code', { code: appCode(secret, site.now) });
    const second = new PlainBrowser(site);
    await second.logIn();
    const backup = await second.open(`${PAGE}&method=backup`);
    const spare = await changed(second, headers).send(backup, 'backup', { code: codes[0] as string });
    expect([sent.status, spare.status, site.issued.length]).toEqual([303, 303, 3]);
  });

  it('can continue the setup, and save its codes', async () => {
    const site = await secondFactorSite();
    const first = new PlainBrowser(site);
    const page = await first.logIn();
    const second = changed(first, headers);
    const codesPage = await second.send(page, 'enrol', { code: appCode(getShownSecret(page), site.now) });
    expect(getShownCodes(codesPage)).toHaveLength(10);
    const done = await changed(second, {}).send(codesPage, 'continue', { saved: '1' });
    expect([done.status, site.issued.length]).toEqual([303, 1]);
  });

  it('is trusted from then on', async () => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    const browser = new PlainBrowser(site);
    await browser.send(await browser.logIn(), 'code', { code: appCode(secret, site.now), trust: '1' });
    expect(JSON.parse((await changed(browser, headers).open('/trusted')).html)).toEqual([1]);
  });
});

describe('a user who logs in while the browser is signed in to another account', () => {
  /** A browser that is logged in as `editor`, at the challenge of `owner`. */
  async function switching(): Promise<{ site: SecondFactorSite; browser: PlainBrowser; page: Page; secret: Buffer }> {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    site.signedIn.set('wp=editor', { id: 2, login: 'editor', administrator: false });
    site.signedIn.set('wp=owner', { id: 1, login: 'owner', administrator: true });
    const browser = new PlainBrowser(site);
    browser.cookies.set('wp', 'editor');
    return { site, browser, page: await browser.logIn(), secret };
  }

  it('sees both accounts, and may stay with the signed-in one', async () => {
    const { browser, page, site } = await switching();
    expect(page.html).toContain('Logging in as <strong>owner</strong>');
    expect(page.html).toMatch(/<a class="so-link" href="\/wp-admin\/">Stay logged in as editor<\/a>/);
    expect(page.html).not.toContain('Not you?');
    const backup = await browser.open(`${PAGE}&method=backup`);
    expect(backup.html).toContain('Stay logged in as editor');
    expect([browser.cookies.get('wp'), site.issued.length]).toEqual(['editor', 1]);
  });

  it('sees both accounts again after a wrong code, and switches accounts after a correct one', async () => {
    const { site, browser, page, secret } = await switching();
    const wrong = await browser.send(page, 'code', { code: 'x' });
    expect([wrong.status, wrong.html.includes('Stay logged in as editor')]).toEqual([400, true]);
    expect((await browser.send(wrong, 'code', { code: appCode(secret, site.now) })).status).toBe(303);
    expect(browser.cookies.get('wp')).toBe('user-1');
  });

  it('sees “Not you?” when the browser is signed in to the same account, or to none', async () => {
    const { site } = await switching();
    for (const cookie of ['owner', 'nobody', null]) {
      const browser = new PlainBrowser(site);
      if (cookie !== null) browser.cookies.set('wp', cookie);
      const page = await browser.logIn();
      expect([cookie, page.html.includes('Not you?'), page.html.includes('Stay logged in')]).toEqual([
        ...[cookie, true, false],
      ]);
    }
  });

  it('causes a query to WordPress only when the browser has a session', async () => {
    const { site } = await switching();
    site.identifyResponds = false;
    expect((await new PlainBrowser(site).logIn()).status).toBe(200);
    // WordPress was not queried.
    expect(site.log.events()).not.toContain('signed-in-account-unknown');
  });

  it('gets the page without that link when WordPress can’t identify the session', async () => {
    const { site, browser } = await switching();
    site.identifyResponds = false;
    const page = await browser.open(PAGE);
    expect([page.status, page.html.includes('Not you?')]).toEqual([200, true]);
    expect(site.log.events()).toContain('signed-in-account-unknown');
  });
});
