import { chmod, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  appCode,
  enrol,
  getShownSecret,
  PlainBrowser,
  type SecondFactorSite,
  secondFactorSite,
  wrongCode,
} from '../../test/support/two-factor-site.js';
import { resetTwoFactor } from './two-factor-settings.js';

const actor = { id: 1, login: 'owner', address: '192.0.2.7' };

function reset(site: SecondFactorSite, user: number, endSessions = async () => {}) {
  const { factors, twoFactor, log } = site;
  const deps = { store: factors, endSessions, forgetDevices: twoFactor.forgetDevices, publish: () => {} };
  return resetTwoFactor({ ...deps, clock: () => site.now, logger: log.logger }, { site: 'site', user, actor });
}

async function trustedUsers(browser: PlainBrowser): Promise<number[]> {
  return JSON.parse((await browser.open('/trusted')).html);
}

/** Logs the site's current user in and ticks "don't ask again". */
async function trust(site: SecondFactorSite, browser: PlainBrowser, secret: Buffer): Promise<void> {
  site.now += 60_000;
  await browser.send(await browser.logIn(), 'code', { code: appCode(secret, site.now), trust: '1' });
}

describe('the key file', () => {
  it('is created once, readable by its owner only, and encrypts all stored secrets', async () => {
    const site = await secondFactorSite();
    const { secret, codes } = await enrol(site, new PlainBrowser(site));
    expect((await stat(site.keyFile)).mode & 0o777).toBe(0o600);
    const rows = JSON.stringify([
      await site.db.selectFrom('second_factors').selectAll().execute(),
      await site.db.selectFrom('second_factor_codes').selectAll().execute(),
      await site.db.selectFrom('second_factor_challenges').selectAll().execute(),
    ]);
    expect(rows).not.toContain(secret.toString('base64url'));
    expect(rows).not.toContain(secret.toString('hex'));
    for (const code of codes) expect(rows).not.toContain(code.replace(' ', ''));
    const before = await readFile(site.keyFile, 'utf8');
    site.needed = { ...site.needed, userId: 2, login: 'editor' };
    await enrol(site, new PlainBrowser(site));
    expect(await readFile(site.keyFile, 'utf8')).toBe(before);
  });

  it('is created once by concurrent setups', async () => {
    const site = await secondFactorSite();
    const pages = [];
    for (const userId of [1, 2, 3, 4]) {
      site.needed = { ...site.needed, userId };
      const browser = new PlainBrowser(site);
      const response = await browser.open('/wp-login.php', {});
      pages.push(() => browser.open(response.headers.get('location') as string));
    }
    const shown = await Promise.all(pages.map((open) => open()));
    expect(shown.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(site.log.events().filter((event) => event === 'second-factor-key-made')).toHaveLength(1);
  });

  it.each([
    ['missing', (file: string) => rm(file)],
    ['wrong', (file: string) => writeFile(file, `${'ab'.repeat(32)}\n`, { mode: 0o600 })],
    ['unusable', (file: string) => chmod(file, 0o644)],
    ['unusable', (file: string) => writeFile(file, 'nonsense')],
  ] as const)('that is %s allows no login and no new setup until it is restored', async (problem, damage) => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    const browser = new PlainBrowser(site);
    const page = await browser.logIn();
    const kept = await readFile(site.keyFile, 'utf8');
    await damage(site.keyFile);
    const code = appCode(secret, site.now);
    const responses = [
      await browser.send(page, 'code', { code }),
      await browser.open('/wp-login.php?action=second-factor'),
    ];
    site.needed = { ...site.needed, userId: 2, login: 'editor' };
    responses.push(await new PlainBrowser(site).logIn());
    for (const { status, html } of responses) {
      expect(status).toBe(503);
      expect(html).toContain('Codes can’t be checked');
    }
    expect(site.log.events()).toContain(`second-factor-key-${problem}`);
    expect(site.issued).toHaveLength(1);
    await rename(site.keyFile, `${site.keyFile}.bad`).catch(() => undefined);
    await writeFile(site.keyFile, kept, { mode: 0o600 });
    expect((await browser.send(page, 'code', { code })).status).toBe(303);
  });
});

describe('a trusted browser', () => {
  it('is recognised at once and after a restart, for its user only, for 30 days', async () => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    const browser = new PlainBrowser(site);
    await trust(site, browser, secret);
    expect(await trustedUsers(browser)).toEqual([1]);
    expect(await trustedUsers(new PlainBrowser(site))).toEqual([]);
    const restarted = await secondFactorSite(site.dataDir);
    const same = new PlainBrowser(restarted);
    for (const [name, value] of browser.cookies) same.cookies.set(name, value);
    restarted.now = site.now + 30 * 86_400_000 - 1;
    expect(await trustedUsers(same)).toEqual([1]);
    restarted.now += 1;
    expect(await trustedUsers(same)).toEqual([]);
  });

  it('is one of at most 20 of its user: one more removes the oldest at once', async () => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    const [oldest, newest] = [new PlainBrowser(site), new PlainBrowser(site)];
    await trust(site, oldest, secret);
    const others = Array.from({ length: 19 }, (_, at) => ({
      ...{ site: 'site', token_hash: `${at}`, user_id: 1, created_at: site.now + 1, expires_at: site.now + 86_400_000 },
    }));
    await site.db.insertInto('second_factor_devices').values(others).execute();
    expect(await trustedUsers(oldest)).toEqual([1]);
    await trust(site, newest, secret);
    expect([await trustedUsers(oldest), await trustedUsers(newest)]).toEqual([[], [1]]);
  });

  it('has a cookie that scripts cannot read and that the database does not contain', async () => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    const browser = new PlainBrowser(site);
    const done = await browser.send(await browser.logIn(), 'code', { code: appCode(secret, site.now), trust: '1' });
    const line = done.headers.getSetCookie().find((text) => text.startsWith('sf_device_')) as string;
    expect(line).toMatch(/; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
    const token = /=([^;]+)/.exec(line)?.[1] as string;
    const rows = JSON.stringify(await site.db.selectFrom('second_factor_devices').selectAll().execute());
    expect(rows).not.toContain(token);
  });

  it('may be trusted by two users, and a reset of one keeps the other', async () => {
    const site = await secondFactorSite();
    const first = await enrol(site, new PlainBrowser(site));
    const browser = new PlainBrowser(site);
    await trust(site, browser, first.secret);
    site.needed = { ...site.needed, userId: 2, login: 'editor' };
    const second = await enrol(site, new PlainBrowser(site));
    await trust(site, browser, second.secret);
    expect((await trustedUsers(browser)).sort()).toEqual([1, 2]);
    await reset(site, 2);
    expect(await trustedUsers(browser)).toEqual([1]);
    await site.twoFactor.reload('site');
    expect(await trustedUsers(browser)).toEqual([1]);
  });
});

describe('failures before a login with the second factor', () => {
  const ADDRESS = '192.0.2.7';
  const fail = (site: SecondFactorSite, key: string, times: number) => {
    for (let i = 0; i < times; i++) site.attempts.recordFailure('site', key, 5, site.now);
  };

  it('are cleared at its end, and not before', async () => {
    const site = await secondFactorSite();
    const browser = new PlainBrowser(site);
    const { secret } = await enrol(site, browser);
    const device = `device:${browser.cookies.get('known_device')?.slice(0, 16)}`;
    fail(site, ADDRESS, 4);
    fail(site, device, 2);
    const page = await browser.logIn();
    await browser.send(page, 'code', { code: wrongCode(secret, site.now) });
    expect(site.attempts.getEntry('site', ADDRESS).failures).toBe(4);
    expect((await browser.send(page, 'code', { code: appCode(secret, site.now) })).status).toBe(303);
    expect(site.attempts.size).toBe(0);
  });

  it('are kept while the address is locked, and when WordPress creates no session', async () => {
    const site = await secondFactorSite();
    const browser = new PlainBrowser(site);
    const { secret } = await enrol(site, browser);
    fail(site, ADDRESS, 4);
    const page = await browser.logIn();
    site.wordpressResponds = false;
    expect((await browser.send(page, 'code', { code: appCode(secret, site.now) })).status).toBe(502);
    expect(site.attempts.getEntry('site', ADDRESS).failures).toBe(4);
    site.wordpressResponds = true;
    fail(site, ADDRESS, 1);
    site.now += 60_000;
    await browser.send(await browser.logIn(), 'code', { code: appCode(secret, site.now) });
    expect(site.attempts.isLocked('site', ADDRESS, 5, site.now)).toBe(true);
  });
});

describe('a reset', () => {
  it('deletes factor, codes, devices and logins under way, ends the sessions and writes an audit row', async () => {
    const site = await secondFactorSite();
    const { secret } = await enrol(site, new PlainBrowser(site));
    const trusted = new PlainBrowser(site);
    await trust(site, trusted, secret);
    const waiting = new PlainBrowser(site);
    const page = await waiting.logIn();
    const ended: number[] = [];
    const done = await reset(site, 1, async () => void ended.push(1));
    expect([done, ended]).toEqual([{ login: 'owner' }, [1]]);
    expect(await trustedUsers(trusted)).toEqual([]);
    expect((await waiting.send(page, 'code', { code: appCode(secret, site.now) })).status).toBe(403);
    for (const table of ['second_factors', 'second_factor_codes', 'second_factor_devices'] as const) {
      expect([table, await site.db.selectFrom(table).selectAll().execute()]).toEqual([table, []]);
    }
    const [setUp, row] = await site.db.selectFrom('audit').selectAll().execute();
    expect(setUp).toMatchObject({ name: 'factor_set_up', actor_login: 'owner' });
    expect(row).toMatchObject({ name: 'reset_2fa', actor_login: 'owner', address: '192.0.2.7', after: 'null' });
    expect(row?.before).toBe('{"user":1,"login":"owner","on":true}');
    const fresh = await new PlainBrowser(site).logIn();
    expect(getShownSecret(fresh)).not.toEqual(secret);
  });

  it('resets nothing when the sessions cannot be ended', async () => {
    const site = await secondFactorSite();
    await enrol(site, new PlainBrowser(site));
    const down = reset(site, 1, async () => {
      throw new Error('connection refused');
    });
    await expect(down).rejects.toThrow('connection refused');
    expect(await site.factors.listEnabled('site')).toHaveLength(1);
  });

  it('returns null for a user without a factor, and keeps the sessions of that user', async () => {
    const site = await secondFactorSite();
    const ended: number[] = [];
    expect(await reset(site, 7, async () => void ended.push(7))).toBeNull();
    expect(ended).toEqual([]);
  });

  it('allows a new key once no user has a factor', async () => {
    const site = await secondFactorSite();
    await enrol(site, new PlainBrowser(site));
    await rm(site.keyFile);
    expect((await new PlainBrowser(site).logIn()).status).toBe(503);
    await reset(site, 1);
    await enrol(site, new PlainBrowser(site));
    expect(await site.factors.listEnabled('site')).toHaveLength(1);
  });
});
