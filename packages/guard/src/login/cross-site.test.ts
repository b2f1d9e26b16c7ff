import { describe, expect, it } from 'vitest';
import { PASSWORD } from '../../test/support/fake-wordpress.js';
import { form, type LoginGateway, type RequestOptions, startLoginGateway } from '../../test/support/login-gateway.js';

const FOREIGN = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

const basic = (password: string): RequestOptions => ({
  headers: { authorization: `Basic ${Buffer.from(`owner:${password}`).toString('base64')}` },
});
const from = (headers: Record<string, string>, options: RequestOptions): RequestOptions => ({
  ...options,
  headers: { ...options.headers, ...headers },
});

/** Whether the owner can log in from the address of all these tests. */
async function canOwnerLogIn(gateway: LoginGateway): Promise<boolean> {
  const response = await gateway.send('/wp-login.php', form(PASSWORD));
  return response.headers.some((line) => line.startsWith('set-cookie: wordpress_logged_in'));
}

const forms: [string, string, (password: string) => RequestOptions][] = [
  ['the login form', '/wp-login.php', form],
  ['the login form by another path', '//wp-login.php/x?action=nonsense', form],
  ['XML-RPC', '/xmlrpc.php', (body) => ({ method: 'POST', body })],
];
const others: [string, string, (password: string) => RequestOptions][] = [
  ['REST with Basic', '/wp-json/wp/v2/users/me', basic],
  ["a plugin's own form", '/shop/account', form],
];

describe('passwords that a page of another site makes a browser send', () => {
  it.each([...forms, ...others])('lock out no other client: %s', async (_name, path, guess) => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    for (let i = 0; i < 12; i++) await gateway.send(path, from(FOREIGN, guess(`wrong${i}`)));
    expect(await canOwnerLogIn(gateway)).toBe(true);
  });

  it.each(forms)('are not checked at all: %s', async (_name, path, guess) => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    const right = await gateway.send(path, from(FOREIGN, guess(PASSWORD)));
    const wrong = await gateway.send(path, from(FOREIGN, guess('wrong')));
    expect(gateway.wordpress.checks).toEqual([]);
    expect(gateway.wordpress.refused).toBe(2);
    expect(gateway.wordpress.reached.map(({ context }) => context)).toEqual(
      Array(2).fill({ login: 'refuse', why: 'other-site' }),
    );
    expect([right.status, right.headers, right.body]).toEqual([wrong.status, wrong.headers, wrong.body]);
  });

  it.each(others)('are checked within the usual limit: %s', async (_name, path, guess) => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    gateway.wordpress.checkMs = 20;
    await Promise.all(Array.from({ length: 100 }, (_, i) => gateway.send(path, from(FOREIGN, guess(`wrong${i}`)))));
    expect(gateway.wordpress.checks).toHaveLength(5);
    await gateway.send(path, from(FOREIGN, guess(PASSWORD)));
    expect(gateway.wordpress.checks).toHaveLength(5);
  });

  it('are not checked while the address itself is locked', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    for (let i = 0; i < 3; i++) await gateway.send('/wp-login.php', form(`wrong${i}`));
    await gateway.send('/wp-json/wp/v2/users/me', from(FOREIGN, basic(PASSWORD)));
    expect(gateway.wordpress.reached.at(-1)?.context).toMatchObject({ login: 'refuse', why: 'locked' });
    expect(gateway.wordpress.checks).toHaveLength(3);
  });

  it('count no failure for a known browser', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    const cookie = (await gateway.send('/wp-login.php', form(PASSWORD))).headers
      .find((line) => line.startsWith('set-cookie: known_device='))
      ?.slice('set-cookie: '.length)
      .split(';')[0];
    for (let i = 0; i < 8; i++) {
      await gateway.send('/shop/account', from({ ...FOREIGN, cookie: String(cookie) }, form(`wrong${i}`)));
    }
    expect(gateway.attempts.listLocked('site', Date.now()).map(({ key }) => key)).toEqual(['other-sites:192.0.2.1']);
  });

  it('are limited when no connector refuses them', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    gateway.wordpress.bare = true;
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++)
      statuses.push((await gateway.send('/wp-login.php', from(FOREIGN, form(`w${i}`)))).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  });
});

describe('passwords from a page with an opaque origin, in a browser that does not send Sec-Fetch-Site', () => {
  const HIDDEN = { origin: 'null' };
  const pages = forms.slice(0, 2);

  it.each(pages)('are checked, since the form may be the site’s own: %s', async (_name, path, guess) => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    await gateway.send(path, from(HIDDEN, guess(PASSWORD)));
    expect(gateway.wordpress.checks).toHaveLength(1);
    expect(gateway.wordpress.refused).toBe(0);
  });

  it.each(pages)('lock out no other client: %s', async (_name, path, guess) => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    for (let i = 0; i < 12; i++) await gateway.send(path, from(HIDDEN, guess(`wrong${i}`)));
    expect(gateway.wordpress.checks).toHaveLength(5);
    expect(await canOwnerLogIn(gateway)).toBe(true);
  });

  it('share one count with those that name another site', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    gateway.wordpress.checkMs = 20;
    const routes = [...forms, ...others];
    const guesses = Array.from({ length: 100 }, (_, i) => {
      const [, path, guess] = routes[i % routes.length] as (typeof routes)[0];
      return gateway.send(path, from(i % 2 === 0 ? HIDDEN : FOREIGN, guess(`wrong${i}`)));
    });
    await Promise.all(guesses);
    expect(gateway.wordpress.checks).toHaveLength(5);
  });

  it('are not checked in XML-RPC, since no form of the site posts to it', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    await gateway.send('/xmlrpc.php', from(HIDDEN, { method: 'POST', body: PASSWORD }));
    expect([gateway.wordpress.checks, gateway.wordpress.refused]).toEqual([[], 1]);
  });

  it('are not checked when the browser reports another site', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    await gateway.send('/wp-login.php', from({ ...HIDDEN, 'sec-fetch-site': 'cross-site' }, form(PASSWORD)));
    expect(gateway.wordpress.checks).toEqual([]);
  });
});

describe('legitimate cross-site requests', () => {
  it('a link to the login shows the form, whatever other pages have sent', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    for (let i = 0; i < 5; i++) await gateway.send('/shop/account', from(FOREIGN, form(`wrong${i}`)));
    const response = await gateway.send('/wp-login.php', { headers: { 'sec-fetch-site': 'cross-site' } });
    expect(response.status).toBe(200);
  });

  it('a locked address gets the lock page by a link as well', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    for (let i = 0; i < 3; i++) await gateway.send('/wp-login.php', form(`wrong${i}`));
    expect((await gateway.send('/wp-login.php', { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(429);
  });

  it('the POST of an identity provider reaches WordPress complete', async () => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    const body = 'SAMLResponse=PHNhbWw%2B&RelayState=%2Fwp-admin%2F';
    const sso = { origin: 'https://login.identity.example', 'sec-fetch-site': 'cross-site' };
    for (let i = 0; i < 9; i++) {
      expect((await gateway.send('/wp-login.php?saml_acs', { method: 'POST', body, headers: sso })).status).toBe(200);
    }
    expect(gateway.wordpress.reached.map((request) => request.body)).toEqual(Array(9).fill(body));
  });

  it.each([
    [{ origin: 'https://www.example.com', 'sec-fetch-site': 'same-site' }],
    [{ origin: 'http://www.example.com' }],
    [{ origin: 'null', 'sec-fetch-site': 'same-origin' }],
  ])('a form on the same site logs in: %j', async (headers) => {
    const gateway = await startLoginGateway({ login_attempts: 5 });
    await gateway.send('/wp-login.php', from(headers, form(PASSWORD)));
    expect(gateway.wordpress.checks).toEqual(['form']);
  });

  it('with the limit off, a form on another site logs in', async () => {
    const gateway = await startLoginGateway({ login_attempts: 0 });
    await gateway.send('/wp-login.php', from(FOREIGN, form(PASSWORD)));
    expect(gateway.wordpress.checks).toEqual(['form']);
  });
});
