import { describe, expect, it } from 'vitest';
import { type FakeWordPress, PASSWORD } from '../../test/support/fake-wordpress.js';
import { form, type RequestOptions, startLoginGateway } from '../../test/support/login-gateway.js';

describe('a correct password that needs a second factor', () => {
  it('is followed by the pages of the second factor, and WordPress’s response is withheld', async () => {
    const gateway = await startLoginGateway();
    gateway.wordpress.factor = true;
    const response = await gateway.send('/wp-login.php', form(PASSWORD));
    expect(gateway.twoFactorCalls).toEqual(['begin /wp-login.php 1']);
    expect(response.header('location')).toBe('/wp-login.php?action=second-factor');
    expect(response.headers.join('\n')).not.toContain('must-not-leave');
  });

  it('neither clears the count nor makes the browser known', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    await gateway.send('/wp-login.php', form('wrong'));
    gateway.wordpress.factor = true;
    const response = await gateway.send('/wp-login.php', form(PASSWORD));
    expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(1);
    expect(response.header('set-cookie')).toBeUndefined();
  });

  it('leads to pages that guard serves itself, and reports trusted devices to WordPress', async () => {
    const gateway = await startLoginGateway();
    const before = gateway.wordpress.reached.length;
    expect((await gateway.send('/wp-login.php?action=second-factor')).body).toBe('second factor');
    expect((await gateway.send('/wp-login.php?action=second-factor-setup')).body).toBe('second factor');
    expect(gateway.wordpress.reached).toHaveLength(before);
    await gateway.send('/wp-login.php', { ...form(PASSWORD), headers: { cookie: 'trusted=1' } });
    expect(gateway.wordpress.reached.at(-1)?.context).toEqual({ trusted: [1] });
  });
});

/** A gateway whose owner needs a second factor, and the arguments with which the second factor began. */
async function withFactor(report: FakeWordPress['factorReport'] = {}, own: FakeWordPress['ownResponse'] = null) {
  const gateway = await startLoginGateway();
  gateway.wordpress.factor = true;
  gateway.wordpress.factorReport = report;
  gateway.wordpress.ownResponse = own;
  return { gateway, begun: () => gateway.started.at(-1) };
}

/** A login that a plugin offers at its own address. */
const link = (options: RequestOptions = {}): [string, RequestOptions] => [
  '/shop/account?token=1',
  { ...options, headers: { authorization: `Basic ${btoa(`owner:${PASSWORD}`)}`, ...options.headers } },
];

describe('the redirect after a login that needs a second factor', () => {
  it('is the target that the visitor requested, which WordPress validates when it creates the session', async () => {
    const { gateway, begun } = await withFactor({ redirect: '/wp-admin/edit.php' });
    await gateway.send('/wp-login.php', form(PASSWORD));
    expect(begun()).toMatchObject({ redirect: '/wp-admin/edit.php', decided: false, sitePath: '' });
  });

  it('is stored with the site of the network that checked the password', async () => {
    const { gateway, begun } = await withFactor({ redirect: '', site: '/two/' });
    await gateway.send('/wp-login.php', form(PASSWORD));
    expect(begun()).toMatchObject({ sitePath: '/two/', redirect: '', decided: false });
    expect(begun()).not.toHaveProperty('site');
  });

  it('is not read from WordPress’s response when that is not the response to a login', async () => {
    const own = { status: 302, headers: { Location: 'https://shop.example/' } };
    const { gateway, begun } = await withFactor({ redirect: '/kept', withheld: false }, own);
    await gateway.send('/wp-login.php', form(PASSWORD));
    expect(begun()).toMatchObject({ redirect: '/kept', decided: false });
  });

  it.each([
    ['/my-account/', 'http://example.com/my-account/'],
    ['https://shop.example/basket?a=1', 'https://shop.example/basket?a=1'],
    ['com.example.shop://signed-in', 'com.example.shop://signed-in'],
  ])('is the Location %s of a response whose session was withheld', async (location, redirect) => {
    const own = { status: 302, headers: { Location: location } };
    const { gateway, begun } = await withFactor({ redirect: '/other', withheld: true }, own);
    const response = await gateway.send(...link());
    expect(begun()).toMatchObject({ redirect, decided: true });
    expect([response.header('location'), response.body]).toEqual(['/wp-login.php?action=second-factor', '']);
  });

  it('is the page that a link opened, unless the visitor requested another one', async () => {
    const own = { status: 200, headers: { 'Content-Type': 'text/html; charset=UTF-8' } };
    const { gateway, begun } = await withFactor({ redirect: '', withheld: true }, own);
    await gateway.send(...link());
    expect(begun()).toMatchObject({ redirect: 'http://example.com/shop/account?token=1', decided: true });
    gateway.wordpress.factorReport = { redirect: '/chosen', withheld: true };
    await gateway.send(...link());
    expect(begun()).toMatchObject({ redirect: '/chosen', decided: false });
  });

  it('is the default page after a form to which WordPress responded with a page', async () => {
    const own = { status: 200, headers: { 'Content-Type': 'text/html' } };
    const { gateway, begun } = await withFactor({ redirect: '', withheld: true }, own);
    await gateway.send('/shop/account', form(PASSWORD));
    expect(begun()).toMatchObject({ redirect: '', decided: false });
  });

  it('is stored with whether the browser sent a session of another account', async () => {
    const { gateway, begun } = await withFactor();
    await gateway.send('/wp-login.php', form(PASSWORD));
    expect(begun()?.mayBeSignedIn).toBe(false);
    await gateway.send('/wp-login.php', { ...form(PASSWORD), headers: { cookie: 'wordpress_logged_in_x=1' } });
    expect(begun()?.mayBeSignedIn).toBe(true);
  });
});

describe('a program whose login needs a second factor', () => {
  const cors = {
    'Access-Control-Allow-Origin': 'https://app.example',
    'Access-Control-Allow-Credentials': 'true',
    Vary: ['Origin', 'Accept-Encoding'],
    'X-WP-Nonce': 'must-not-leave',
  };

  it.each([
    ['the REST API', '/wp-json/shop/v1/login', {}],
    ['the REST API by its query', '/?rest_route=/shop/v1/login', {}],
    ['admin-ajax.php', '/wp-admin/admin-ajax.php', {}],
    ['its Accept header', '/shop/account', { accept: 'application/json' }],
    ['its X-Requested-With header', '/shop/account', { 'x-requested-with': 'XMLHttpRequest', accept: '*/*' }],
    ['its Sec-Fetch headers', '/shop/account', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
  ])('is recognised by %s, and may read the response where WordPress allows it', async (_how, path, headers) => {
    const { gateway, begun } = await withFactor({}, { status: 200, headers: cors });
    const response = await gateway.send(path, { ...form(PASSWORD), headers });
    expect(begun()).toMatchObject({ userId: 1, json: true });
    expect(response.header('access-control-allow-origin')).toBe('https://app.example');
    expect(response.header('access-control-allow-credentials')).toBe('true');
    expect(response.headers.filter((line) => line.startsWith('vary: ')).join()).toMatch(/Origin.*Accept-Encoding/);
    expect(response.headers.join('\n') + response.body).not.toContain('must-not-leave');
  });

  it('is not a navigation: a navigation is redirected, without those headers', async () => {
    const { gateway, begun } = await withFactor({}, { status: 200, headers: cors });
    const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };
    for (const path of ['/wp-login.php', '/wp-admin/admin-ajax.php']) {
      const response = await gateway.send(path, { ...form(PASSWORD), headers });
      expect(begun()?.json).toBe(false);
      expect(response.header('access-control-allow-origin')).toBeUndefined();
      expect(response.header('location')).toBe('/wp-login.php?action=second-factor');
    }
  });

  it('makes no guess with a correct password, however often it tries', async () => {
    const gateway = await startLoginGateway({ login_attempts: 3 });
    gateway.wordpress.factor = true;
    for (let round = 0; round < 5; round++) {
      await gateway.send('/wp-admin/admin-ajax.php', { ...form(PASSWORD), headers: { accept: 'application/json' } });
    }
    expect(gateway.started).toHaveLength(5);
    expect(gateway.attempts.getEntry('site', '192.0.2.1').failures).toBe(0);
  });
});
