import { describe, expect, it } from 'vitest';
import { PASSWORD } from '../../test/support/fake-wordpress.js';
import { type ClientResponse, form, type RequestOptions, startLoginGateway } from '../../test/support/login-gateway.js';
import { eventually } from '../../test/support/scratch.js';

const basic = (password: string): RequestOptions => ({
  headers: { authorization: `Basic ${Buffer.from(`owner:${password}`).toString('base64')}` },
});

/** One wrong guess on each route to a password. */
const routes: Record<string, { path: string; guess: (password: string) => RequestOptions }> = {
  'the login form': { path: '/wp-login.php', guess: form },
  'the login form with path info': { path: '//wp-login.php/x', guess: form },
  'XML-RPC': { path: '/xmlrpc.php', guess: (password) => ({ method: 'POST', body: password }) },
  'system.multicall': {
    path: '/xmlrpc.php',
    guess: (password) => ({ method: 'POST', body: `${password}\n${password}x` }),
  },
  'REST with Basic': { path: '/wp-json/wp/v2/users/me', guess: basic },
  'Basic in odd letters': {
    path: '/?rest_route=/wp/v2/users/me',
    guess: (password) => ({
      headers: { Authorization: `bAsIc ${Buffer.from(`owner:${password}`).toString('base64')}` },
    }),
  },
  'a form of another plugin': { path: '/shop/account', guess: form },
  'the password of a post, turned into a login': {
    path: '/wp-login.php?action=postpass',
    guess: (password) => ({ method: 'POST', body: `action=login&log=owner&pwd=${password}` }),
  },
};

describe('100 parallel wrong guesses from one address', () => {
  for (const [name, { path, guess }] of Object.entries(routes)) {
    it(`cause at most 5 password checks by ${name}`, async () => {
      const gateway = await startLoginGateway({ login_attempts: 5 });
      gateway.wordpress.checkMs = 20;
      await Promise.all(Array.from({ length: 100 }, (_, i) => gateway.send(path, guess(`wrong${i}`))));
      expect(gateway.wordpress.checks.length).toBeGreaterThan(0);
      expect(gateway.wordpress.checks.length).toBeLessThanOrEqual(5);
    });
  }

  it('cause at most 5 checks over all routes together', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    gateway.wordpress.checkMs = 20;
    const all = Object.values(routes);
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => {
        const route = all[i % all.length] as (typeof all)[number];
        return gateway.send(route.path, route.guess(`wrong${i}`));
      }),
    );
    expect(gateway.wordpress.checks).toHaveLength(5);
  });

  it('count together when they come from one IPv6 /64, and separately when they do not', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    const guesses = Array.from({ length: 40 }, (_, i) =>
      gateway.send('/wp-login.php', { ...form(`wrong${i}`), from: `2001:db8:0:1::${(i + 1).toString(16)}` }),
    );
    await Promise.all(guesses);
    expect(gateway.wordpress.checks).toHaveLength(5);
    const elsewhere = await gateway.send('/wp-login.php', { ...form(PASSWORD), from: '2001:db8:0:2::1' });
    expect(elsewhere.status).toBe(200);
  });
});

describe('without the connector', () => {
  it('guesses at the login form are counted by the responses to them', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    gateway.wordpress.bare = true;
    gateway.wordpress.checkMs = 20;
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        gateway.send('/wp-login.php', { ...form(`wrong${i}`), leaveAfter: i % 2 ? 5 : 9999 }).catch(() => null),
      ),
    );
    expect(gateway.wordpress.checks.length).toBeLessThanOrEqual(5);
    expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(429);
  });

  it('a client that gets a session, or only opens the form, is not counted', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    gateway.wordpress.bare = true;
    for (let n = 0; n < 8; n++) {
      expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(200);
      expect((await gateway.send('/wp-login.php')).status).toBe(200);
    }
  });
});

describe('a locked address', () => {
  const locked = async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    for (let i = 0; i < 3; i++) await gateway.send('/wp-login.php', form(`wrong${i}`));
    return gateway;
  };
  const html = { headers: { accept: 'text/html' } };

  it('gets the same response for the correct password as for a wrong one, and PHP receives neither', async () => {
    const gateway = await locked();
    const before = gateway.wordpress.reached.length;
    const same = ({ status, headers, body }: ClientResponse) => ({ status, headers, body });
    const right = await gateway.send('/wp-login.php', { ...form(PASSWORD), ...html });
    const wrong = await gateway.send('/wp-login.php', { ...form('wrong'), ...html });
    expect(same(right)).toEqual(same(wrong));
    expect(right.status).toBe(429);
    expect(right.body).toContain('Too many login attempts');
    expect(Number(right.header('retry-after'))).toBeGreaterThan(3590);
    expect(gateway.wordpress.reached).toHaveLength(before);
  });

  it('is refused on every route', async () => {
    const gateway = await locked();
    const checks = gateway.wordpress.checks.length;
    for (const { path, guess } of Object.values(routes)) await gateway.send(path, guess(PASSWORD));
    expect(gateway.wordpress.checks).toHaveLength(checks);
  });

  it('can still open the site, and WordPress must refuse every password', async () => {
    const gateway = await locked();
    expect((await gateway.send('/')).body).toBe('a page');
    expect(gateway.wordpress.reached.at(-1)?.context).toMatchObject({ login: 'refuse', why: 'locked' });
  });

  it('waits 1 hour, then 24 hours, then 7 days, and after that 7 days again', async () => {
    const gateway = await locked();
    const hour = 3600_000;
    for (const wait of [1, 24, 7 * 24, 7 * 24]) {
      gateway.advance(wait * hour - 60_000);
      expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(429);
      gateway.advance(120_000);
      for (let i = 0; i < 3; i++) expect((await gateway.send('/wp-login.php', form(`again${i}`))).status).toBe(200);
    }
  });

  it('stays locked when the limit is changed', async () => {
    const gateway = await locked();
    gateway.settings({ login_attempts: 5 });
    expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(429);
  });

  it('may log out and open the link of a reset mail', async () => {
    const gateway = await locked();
    expect((await gateway.send('/wp-login.php?action=logout')).status).toBe(200);
    expect((await gateway.send('/wp-login.php?action=rp&key=k&login=owner')).status).toBe(200);
    expect((await gateway.send('/wp-login.php')).status).toBe(429);
  });
});

describe('counting', () => {
  it('starts again after a success', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    for (let i = 0; i < 4; i++) {
      await gateway.send('/wp-login.php', form('wrong1'));
      await gateway.send('/wp-login.php', form('wrong2'));
      expect((await gateway.send('/wp-login.php', form(PASSWORD))).body).toContain('login page');
    }
    expect(gateway.wordpress.checks).toHaveLength(12);
    expect(gateway.attempts.size).toBe(0);
  });

  it('includes a guess whose client disconnects before the response', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    gateway.wordpress.checkMs = 150;
    for (let i = 0; i < 3; i++) {
      await gateway.send('/wp-login.php', { ...form(`wrong${i}`), leaveAfter: 60 }).catch(() => undefined);
    }
    await eventually(() => gateway.attempts.getEntry('site', '192.0.2.1').failures === 3);
    expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(429);
  });

  it('includes such a guess in a form of another plugin, and no correct password', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    gateway.wordpress.checkMs = 150;
    await gateway.send('/shop/account', { ...form('wrong'), leaveAfter: 60 }).catch(() => undefined);
    await eventually(() => gateway.attempts.getEntry('site', '192.0.2.1').failures === 1);
    await gateway.send('/wp-login.php', { ...form(PASSWORD), leaveAfter: 60 }).catch(() => undefined);
    await eventually(() => gateway.attempts.getEntry('site', '192.0.2.1').failures === 0);
    expect(gateway.attempts.limiter.size).toBe(0);
  });

  it('includes a guess to which WordPress never responds, but not a page view', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    gateway.wordpress.mangle = (response) => void response.destroy();
    expect((await gateway.send('/wp-login.php', form('wrong'))).status).toBe(502);
    expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(1);
    expect((await gateway.send('/shop/account', form('wrong'))).status).toBe(502);
    expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(2);
    gateway.wordpress.lostResponse = { status: 'cut off', when: 'always' };
    expect((await gateway.send('/shop/account')).status).toBe(502);
    expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(2);
    expect(gateway.attempts.limiter.size).toBe(0);
  });

  it('releases the permit of a client that disconnects while waiting', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    gateway.wordpress.checkMs = 200;
    const open = Array.from({ length: 3 }, (_, i) => gateway.send('/wp-login.php', form(`wrong${i}`)));
    const disconnected = gateway.send('/wp-login.php', { ...form(PASSWORD), leaveAfter: 50 }).catch(() => 'left');
    expect(await disconnected).toBe('left');
    await Promise.all(open);
    await eventually(() => gateway.attempts.limiter.size === 0);
    expect(gateway.wordpress.checks).toHaveLength(3);
  });

  it('admits a correct password that waited for other correct ones', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    gateway.wordpress.checkMs = 50;
    const responses = await Promise.all(
      Array.from({ length: 12 }, () => gateway.send('/wp-login.php', form(PASSWORD))),
    );
    expect(responses.every(({ status }) => status === 200)).toBe(true);
    expect(gateway.wordpress.checks).toHaveLength(12);
  });

  it('treats a report that is forged, broken or sent twice as a failure', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    const name = 'X-Security-Optimizer-Login';
    const variants: ((value: string) => string | string[])[] = [
      (value) => [value, value],
      (value) => `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`,
      () => 'nonsense',
    ];
    for (const way of variants) {
      gateway.wordpress.mangle = (response) => void response.setHeader(name, way(String(response.getHeader(name))));
      const response = await gateway.send('/wp-login.php', form(PASSWORD));
      expect(response.headers.join('\n')).not.toContain('security-optimizer');
    }
    expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(429);
  });

  it('strips guard’s internal headers from a client’s request', async () => {
    const gateway = await startLoginGateway();
    const header = { 'x-security-optimizer-context': '1 x e30 00', 'x-security-optimizer-login': '1 x e30 00' };
    expect((await gateway.send('/', { headers: header })).status).toBe(200);
    expect(gateway.wordpress.reached.at(-1)?.context).toBeNull();
  });

  it('is off when the limit is off', async () => {
    const gateway = await startLoginGateway({ login_attempts: 0 });
    for (let i = 0; i < 12; i++) await gateway.send('/wp-login.php', form(`wrong${i}`));
    expect(gateway.wordpress.checks).toHaveLength(12);
    expect(gateway.attempts.size).toBe(0);
  });
});

describe('a known browser', () => {
  const getCookie = (response: ClientResponse): string =>
    response.headers.find((line) => line.startsWith('set-cookie: known_device='))?.slice('set-cookie: '.length) ?? '';

  it('gets a cookie that no script can read and that names no product', async () => {
    const gateway = await startLoginGateway();
    const cookie = getCookie(await gateway.send('/wp-login.php', form(PASSWORD)));
    expect(cookie).toMatch(/^known_device=[\w.-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
    const https = await gateway.send('/wp-login.php', { ...form(PASSWORD), headers: { 'x-forwarded-proto': 'https' } });
    expect(getCookie(https)).toMatch(/; Secure$/);
    expect(getCookie(await gateway.send('/wp-login.php', form('wrong')))).toBe('');
  });

  it('is reported to WordPress, unless the cookie was changed or has failed too often itself', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    const cookie = getCookie(await gateway.send('/wp-login.php', form(PASSWORD))).split(';')[0] as string;
    const getReportedDevices = async (value: string, from: string, password = 'wrong') => {
      await gateway.send('/wp-login.php', { ...form(password), from, headers: { cookie: value } });
      return gateway.wordpress.reached.at(-1)?.context?.devices;
    };
    expect(await getReportedDevices(cookie, '192.0.2.10')).toEqual([1]);
    expect(await getReportedDevices(cookie.replace(/-1\./, '-2.'), '192.0.2.11')).toBeUndefined();
    // Next to a cookie of the same name that belongs to another site or is forged.
    expect(await getReportedDevices(`known_device=x.y; ${cookie}`, '192.0.2.12')).toEqual([1]);
    expect(await getReportedDevices(cookie, '192.0.2.13')).toEqual([1]);
    expect(await getReportedDevices(cookie, '192.0.2.14')).toBeUndefined();
  });

  it('does not cause throttling of its own account, but 21 anonymous clients do', async () => {
    const gateway = await startLoginGateway();
    const cookie = getCookie(await gateway.send('/wp-login.php', form(PASSWORD))).split(';')[0] as string;
    for (let i = 0; i < 25; i++) {
      const headers = { cookie };
      await gateway.send('/wp-login.php', { ...form(i % 2 ? 'wrong' : PASSWORD), from: `192.0.2.${i + 20}`, headers });
    }
    expect(gateway.throttledUsers).toEqual([]);
    for (let i = 0; i < 20; i++) await gateway.send('/wp-login.php', { ...form('wrong'), from: `198.51.100.${i}` });
    expect(gateway.throttledUsers).toEqual([]);
    await gateway.send('/wp-login.php', { ...form('wrong'), from: '198.51.100.77' });
    expect(gateway.throttledUsers).toEqual([[1]]);
  });
});
