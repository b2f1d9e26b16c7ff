import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { allOff, noFault, parseFacts } from '../../test/support/evaluate.js';
import { toAddress } from '../lib/address.js';
import { AddressSet } from '../lib/address-set.js';
import { checksPassword, defaultLoginSettings } from '../rules/login-policy.js';
import { compileSnapshot } from '../rules/snapshot.js';
import { defaultSitePaths, type SessionCookieNames, type SignedXmlRpc } from '../site.js';
import { readSignedXmlRpc } from '../wordpress/connector-responses.js';
import { toCanonicalPath } from './canonical-path.js';
import { type Credentials, isStaticFile, NO_CREDENTIALS, readCredentials, toRequestFacts } from './request-facts.js';
import { toSessionCookieNames, USUAL_SESSION_COOKIES } from './session-cookies.js';

/** Sends a request with these header lines over a real socket, and returns the credentials that guard reads. */
async function read(...lines: string[]): Promise<Credentials> {
  return readWith(USUAL_SESSION_COOKIES, ...lines);
}

/** @param names names of the site's own cookies */
async function readWith(names: SessionCookieNames, ...lines: string[]): Promise<Credentials> {
  let found: Credentials | undefined;
  const server = createServer((request, response) => {
    found = readCredentials(request, names);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(['GET / HTTP/1.1', 'Host: example.com', 'Connection: close', ...lines, '', ''].join('\r\n'));
  await new Promise((resolve) => socket.on('close', resolve).resume());
  return found as Credentials;
}

describe('the credentials of a request', () => {
  it('include a login cookie under any name that PHP reads as one', async () => {
    for (const cookie of [
      'wordpress_logged_in_0a=x',
      'a=b; wordpress_sec_0a=x',
      'wordpress_0a=x',
      'wordpress.logged.in_0a=x',
      'wordpress%5flogged_in_0a=x',
      'wordpress[logged_in=x',
    ]) {
      expect((await read(`Cookie: ${cookie}`)).hasLoginCookie, cookie).toBe(true);
    }
    for (const cookie of ['wordpress_test_cookie=1', 'wp-settings-1=x', 'a=wordpress_logged_in_x', 'xwordpress_a=1']) {
      expect((await read(`Cookie: ${cookie}`)).hasLoginCookie, cookie).toBe(false);
    }
  });

  it('include a login cookie under the site’s own names, and under WordPress’s usual ones', async () => {
    const chosen = toSessionCookieNames({ session: 'member_pass', others: ['staff', 'staff_sec'] });
    for (const cookie of ['member_pass=x', 'a=b; staff=x', 'staff.sec=x', 'member%5fpass=x', 'wordpress_sec_0a=x']) {
      expect((await readWith(chosen, `Cookie: ${cookie}`)).hasLoginCookie, cookie).toBe(true);
    }
    for (const cookie of ['member=1', 'member_pass_x=1', 'wordpress_test_cookie=1', 'a=member_pass']) {
      expect((await readWith(chosen, `Cookie: ${cookie}`)).hasLoginCookie, cookie).toBe(false);
    }
  });

  it('include Basic in any letter case and in any of several headers', async () => {
    for (const lines of [
      ['Authorization: Basic eA=='],
      ['authorization: bAsIc eA=='],
      ['Authorization: Bearer x', 'Authorization: Basic eA=='],
      ['Authorization: Bearer x, Basic eA=='],
    ]) {
      expect(await read(...lines)).toMatchObject({ hasBasic: true, hasAuthorization: true });
    }
    expect(await read('Authorization: Bearer basic-token')).toMatchObject({ hasBasic: false, hasAuthorization: true });
    expect(await read()).toMatchObject({ hasBasic: false, hasAuthorization: false });
  });
});

const jetpack = {
  id: 'jetpack',
  name: 'Jetpack',
  query: { for: 'jetpack' },
  parameters: { token: 'text', timestamp: 'digits', nonce: 'text', 'body-hash': 'base64', signature: 'base64' },
  methods: ['jetpack.'],
} as const satisfies SignedXmlRpc;
const HASH = 'dGhlIGhhc2ggb2YgdGhlIGJvZHk%3D';
const SHAPE = `for=jetpack&token=%24abc%24key%3A1%3A0&timestamp=1795392000&nonce=Zx81kQ&body-hash=${HASH}&signature=${HASH}`;

function decide(
  target: string,
  {
    method = 'POST',
    plugins = [jetpack],
    credentials = NO_CREDENTIALS,
    login = {},
    on = 1,
  }: {
    method?: string;
    plugins?: readonly SignedXmlRpc[];
    credentials?: Credentials;
    login?: Partial<typeof defaultLoginSettings>;
    on?: 0 | 1;
  } = {},
) {
  const snapshot = compileSnapshot({
    options: { ...allOff, disable_xml_rpc: on },
    paths: defaultSitePaths,
    blocked: AddressSet.empty,
    login: { ...defaultLoginSettings, ...login },
    timeZone: 'UTC',
    signedXmlRpc: plugins,
  });
  const path = toCanonicalPath(target);
  if (!path.ok) return { rule: `ambiguous:${path.reason}`, signed: null, certain: false };
  const facts = toRequestFacts({
    method,
    address: toAddress([0, 0, 0xffff, 0xc0000201]),
    path: path.path,
    query: path.query,
    paths: snapshot.paths,
    signedXmlRpc: snapshot.signedXmlRpc,
    credentials,
    now: Date.UTC(2026, 10, 23),
  });
  return {
    rule: snapshot.evaluate(facts, noFault)?.rule ?? 'passes',
    signed: facts.signedXmlRpc,
    certain: checksPassword(facts, 'other'),
  };
}

describe('a plugin’s signed request, while XML-RPC is off', () => {
  it('passes under its plugin’s name, and is not queued with requests that check passwords', () => {
    expect(decide(`/xmlrpc.php?${SHAPE}`)).toEqual({ rule: 'passes', signed: 'jetpack', certain: false });
  });

  it.each([
    '//xmlrpc.php',
    '/index.php/xmlrpc.php',
    '/XMLRPC.php',
    '/xmlrpc.php/x',
    '/x/../xmlrpc.php',
    '/%78mlrpc.php',
    '/xmlrpc.php;x',
    '/sub/xmlrpc.php',
  ])('gets the same response with the spelling %s', (path) => {
    expect(decide(`${path}?${SHAPE}`)).toMatchObject({ rule: 'passes', signed: 'jetpack' });
    expect(decide(`${path}?${SHAPE}`, { plugins: [] })).toMatchObject({ rule: 'xml-rpc', signed: null });
    expect(decide(`${path}?${SHAPE.replace('&signature', '&signatur')}`)).toMatchObject({ rule: 'xml-rpc' });
  });

  it.each([
    ['nothing', ''],
    ['only the plugin’s namespace', 'for=jetpack'],
    ['no signature', SHAPE.replace(/&signature=.*/, '')],
    ['an empty signature', SHAPE.replace(/&signature=.*/, '&signature=')],
    ['a short signature', SHAPE.replace(/&signature=.*/, '&signature=abc')],
    ['a signature that is too long', SHAPE.replace(/&signature=.*/, `&signature=${'a'.repeat(257)}`)],
    ['a signature with invalid characters', SHAPE.replace(/&signature=.*/, `&signature=${'%20'.repeat(20)}`)],
    ['two signatures', `${SHAPE}&signature=${HASH}`],
    ['a signature in an array', SHAPE.replace('&signature=', '&signature[]=')],
    ['an encoded name', SHAPE.replace('&signature=', '&%73ignature=')],
    ['an invalid time', SHAPE.replace('1795392000', 'now')],
    ['another plugin', SHAPE.replace('for=jetpack', 'for=jetpac')],
    ['two plugins', `${SHAPE}&for=jetpack`],
    ['the route index', `${SHAPE}&rsd`],
    ['a REST route', `${SHAPE}&rest_route=/wp/v2/users`],
    ['too many parameters', `${SHAPE}${'&x=1'.repeat(15)}`],
    ['no token', SHAPE.replace(/&token=[^&]*/, '')],
    ['no nonce', SHAPE.replace(/&nonce=[^&]*/, '')],
    ['no hash of the body', SHAPE.replace(/&body-hash=[^&]*/, '')],
  ])('is refused with %s', (_what, query) => {
    expect(decide(`/xmlrpc.php?${query}`)).toMatchObject({ rule: 'xml-rpc', signed: null });
  });

  it.each(['GET', 'HEAD', 'PUT', 'OPTIONS', 'post'])('is refused with the method %s', (method) => {
    expect(decide(`/xmlrpc.php?${SHAPE}`, { method }).rule).toBe('xml-rpc');
  });

  it('also passes with the signature in a header, as Jetpack’s servers send it', () => {
    const credentials = { ...NO_CREDENTIALS, hasAuthorization: true };
    expect(decide(`/xmlrpc.php?${SHAPE}`, { credentials })).toEqual({
      rule: 'passes',
      signed: 'jetpack',
      certain: false,
    });
  });

  it('is refused with an additional name and password of HTTP', () => {
    const credentials = { ...NO_CREDENTIALS, hasAuthorization: true, hasBasic: true };
    expect(decide(`/xmlrpc.php?${SHAPE}`, { credentials })).toMatchObject({ rule: 'xml-rpc', signed: null });
  });

  it('is not recognized for another script', () => {
    expect(decide(`/?${SHAPE}`)).toMatchObject({ rule: 'passes', signed: null });
    expect(decide(`/wp-login.php?${SHAPE}`)).toMatchObject({ signed: null, certain: false });
  });

  it('is no login: the Login Access list does not refuse it, Away Mode does', () => {
    const target = `/xmlrpc.php?${SHAPE}`;
    expect(decide(target, { login: { login_access: ['198.51.100.1'] } }).rule).toBe('passes');
    const away_mode = { type: 'weekly', weekly: ['monday'] } as const;
    expect(decide(target, { login: { away_mode } }).rule).toBe('away-mode');
  });

  it('is not treated specially while XML-RPC is on', () => {
    expect(decide(`/xmlrpc.php?${SHAPE}`, { on: 0 })).toMatchObject({ rule: 'passes', signed: null });
  });
});

describe('a plugin’s description of its signed requests', () => {
  it('is accepted with a signature and methods of its own', () => {
    const shop = {
      id: 'shop',
      name: 'A shop',
      query: [],
      parameters: { 'shop-hmac': 'hex' },
      methods: ['shop.'],
    };
    expect(readSignedXmlRpc([jetpack, shop])).toEqual({ plugins: [jetpack, { ...shop, query: {} }], dropped: 0 });
  });

  it.each([
    ['no signature', { parameters: { token: 'text', timestamp: 'digits' } }],
    ['a signature of arbitrary text', { parameters: { signature: 'text' } }],
    ['no parameters', { parameters: {} }],
    ['an unknown format', { parameters: { signature: 'any' } }],
    ['WordPress’s methods', { methods: ['wp.'] }],
    ['WordPress’s methods in upper case', { methods: ['METAWEBLOG.'] }],
    ['the server’s methods', { methods: ['system.'] }],
    ['all methods', { methods: [''] }],
    ['no methods', { methods: [] }],
    ['a fixed value for its signature', { query: { signature: 'x' } }],
    ['the route index', { query: { rsd: '1' } }],
    ['a REST route', { query: { rest_route: '/' } }],
    ['an invalid id', { id: 'Jet Pack' }],
    ['a long name', { name: 'x'.repeat(81) }],
    [
      'too many parameters',
      { parameters: { ...Object.fromEntries([...'abcdefghijk'].map((name) => [name, 'text'])), sig: 'hex' } },
    ],
  ])('is ignored with %s', (_what, change) => {
    expect(readSignedXmlRpc([{ ...jetpack, ...change }])).toEqual({ plugins: [], dropped: 1 });
  });

  it('is accepted once per plugin, for at most ten plugins', () => {
    expect(readSignedXmlRpc([jetpack, jetpack])).toEqual({ plugins: [jetpack], dropped: 1 });
    const many = Array.from({ length: 12 }, (_, i) => ({ ...jetpack, id: `plugin-${i}` }));
    expect(readSignedXmlRpc(many)).toMatchObject({ dropped: 2 });
    expect(readSignedXmlRpc([null, 7, 'jetpack', []])).toEqual({ plugins: [], dropped: 4 });
  });
});

it.each([
  '/style.css',
  '/wp-content/uploads/2026/11/photo.JPG',
  '/wp-admin/load-styles.php?c=0&load=common',
  '/blog/wp-admin/load-scripts.php',
])('treats %s as a page asset', (path) => {
  expect(isStaticFile(parseFacts(path))).toBe(true);
});

it.each([
  '/',
  '/hello-world/',
  '/wp-login.php',
  '/x.php/style.css',
  '/load-styles.php',
  '/wp-admin/index.php',
  '/robots.txt',
])('treats %s as a visit', (path) => {
  expect(isStaticFile(parseFacts(path))).toBe(false);
});
