import type { TypedRequest } from '../../http/request.js';
import { ADDRESS_CLAIMS } from '../../http/spellings.js';
import { type Attack, answered, type Check, fetchResponse, frontPage, refused, SERVED } from '../attack.js';
import type { AttackedSite } from '../site.js';

const API = '/security-optimizer/v1';
const forms: Readonly<Record<string, (route: string) => string>> = {
  pretty: (route) => `/wp-json${route}`,
  'on the front page': (route) => `/?rest_route=${route}`,
  'on index.php': (route) => `/index.php?rest_route=${route}`,
};

/** Reads the settings of a page. This changes nothing for any sender. */
const read = (path: string, headers: Readonly<Record<string, string>>): TypedRequest => ({
  ...{ method: 'POST', target: path, headers: { 'content-type': 'application/json', ...headers } },
  body: '{"page":"security"}',
});
const SETTINGS = /"disable_xml_rpc"/;
const asOwner: Check = {
  name: 'the owner reads the settings',
  run: (site) =>
    site.owner === null
      ? frontPage.run(site)
      : answered('', read(`/wp-json${API}/fetch-options`, site.ownerHeaders), { content: SETTINGS }).run(site),
};

const without = (site: AttackedSite, name: string) =>
  Object.fromEntries(Object.entries(site.ownerHeaders).filter(([key]) => key !== name));

/** Callers that are not the owner, or that send from another page. */
const callers: readonly (readonly [string, (site: AttackedSite) => Record<string, string>, boolean])[] = [
  ['nobody', () => ({}), false],
  [
    'an invented session',
    () => ({ cookie: 'wordpress_logged_in_0=owner%7C1%7Cx%7Cx', 'x-wp-nonce': '0123456789' }),
    false,
  ],
  ['the owner without a nonce', (site) => without(site, 'x-wp-nonce'), true],
  ['the owner with an old nonce', (site) => ({ ...site.ownerHeaders, 'x-wp-nonce': '0123456789' }), true],
  ['the owner’s nonce without a session', (site) => without(site, 'cookie'), true],
  ['the owner from another site', (site) => ({ ...site.ownerHeaders, origin: 'https://attacker.example.com' }), true],
  ['the owner from nowhere', (site) => ({ ...site.ownerHeaders, origin: 'null' }), true],
  [
    'the owner from another site, by fetch metadata',
    (site) => ({ ...site.ownerHeaders, 'sec-fetch-site': 'cross-site' }),
    true,
  ],
];

const calls: readonly Attack[] = Object.entries(forms).flatMap(([where, form]) =>
  callers.map(([who, headers, owner]) => ({
    ...{ group: 'product' as const, name: `the API ${where}, called by ${who}`, expected: 'refused' },
    needs: owner ? ['owner session' as const] : [],
    run: refused((site) => read(form(`${API}/fetch-options`), headers(site)), SETTINGS),
    twin: asOwner,
  })),
);

const commands: readonly Attack[] = Object.entries(forms).flatMap(([where, form]) =>
  ['hello', 'session', 'policy', 'issue-session'].map((command) => ({
    ...{ group: 'product' as const, name: `the connector’s command ${command} ${where}`, expected: 'refused' },
    run: refused(
      { method: 'POST', target: form(`/security-optimizer-connector/v1/${command}`), body: '{}' },
      /"connector"|"policy"/,
    ),
    twin: answered('WordPress’s own REST API', '/wp-json/', { content: /"namespaces"/ }),
  })),
);

/** Holds if no redirect leads to another host. */
const noForeignRedirect = (request: TypedRequest) => async (site: AttackedSite) => {
  const response = await fetchResponse(site, request);
  const { location, refresh } = response?.headers ?? {};
  const to = location ?? /url=['"]?([^'"]+)/i.exec(refresh ?? '')?.[1];
  const host = to === undefined ? site.host : new URL(to, site.url).host;
  const ok = host === site.host && !/^location:[^\r]*\r\nlocation:/im.test(response?.head ?? '');
  return { ok, got: `${response?.status ?? 'no answer'}${to === undefined ? '' : ` to ${host}`}` };
};

const redirectAttacks: readonly Attack[] = (
  [
    ['after the login', (site) => ({ target: `${site.loginPath}?redirect_to=https://attacker.example/&reauth=1` })],
    [
      'after the second factor',
      (site) => ({ target: `${site.loginPath}?action=second-factor&redirect_to=https://attacker.example/` }),
    ],
    ['by a path of two slashes', () => ({ target: '//attacker.example/%2e%2e' })],
    ['by a path with a backslash', () => ({ target: '/\\attacker.example' })],
    ['by a path with an encoded line end', () => ({ target: '/%0d%0aLocation:%20https://attacker.example' })],
    ['by X-Forwarded-Host', () => ({ target: '/wp-admin', headers: { 'x-forwarded-host': 'attacker.example' } })],
    ['by Forwarded', () => ({ target: '/wp-admin', headers: { forwarded: 'host=attacker.example' } })],
    ['by X-Original-URL', () => ({ target: '/wp-admin', headers: { 'x-original-url': '//attacker.example/' } })],
  ] as readonly (readonly [string, (site: AttackedSite) => TypedRequest])[]
).map(([name, request]) => ({
  ...{ group: 'product', name: `led to another site ${name}`, expected: 'not led away' },
  run: (site) => noForeignRedirect(request(site))(site),
  twin: answered('a redirect within the site', '/?p=1', { statuses: [200, 301] }),
}));

/** Headers of the protocol between guard and the connector. */
const ours: readonly Attack[] = [
  { 'x-security-optimizer-guard': `1 00000000 1 0000000000000000 http 127.0.0.1 ${'0'.repeat(64)}` },
  { 'x-security-optimizer-command': `1 1 ${'0'.repeat(32)} ${'0'.repeat(64)}` },
  { 'x-security-optimizer-signal': '1 00000000' },
  { X_Security_Optimizer_Guard: '1' },
].map((headers) => ({
  ...{
    group: 'product',
    name: `${Object.keys(headers)[0]}, sent by an anonymous visitor`,
    expected: 'no effect, and not repeated',
  },
  async run(site) {
    const response = await fetchResponse(site, { target: '/', headers: headers as Record<string, string> });
    const found = /x.security.optimizer/i.exec(response?.head ?? '')?.[0];
    const ok = found === undefined && [...SERVED, 400].includes(response?.status ?? 0);
    return { ok, got: `${response?.status ?? 'no answer'}${found === undefined ? '' : ` with ${found}`}` };
  },
  twin: answered('a header of somebody else', { target: '/', headers: { 'x-something-else': '1' } }),
}));

const echoes: Attack = {
  ...{ group: 'product', name: 'what the server behind says of itself', expected: 'nothing' },
  async run(site) {
    const response = await fetchResponse(site, { target: '/', version: '1.0' });
    const found = /^(?:x-security-optimizer-[a-z]+|x-powered-by|host):.*/im.exec(response?.head ?? '')?.[0];
    return { ok: found === undefined, got: found ?? 'nothing' };
  },
  twin: frontPage,
};

/** The attack surface of the product itself. */
export const productAttacks: readonly Attack[] = [...calls, ...commands, ...redirectAttacks, ...ours, echoes];

/** Forged addresses, and requests that bypass guard. */
export const addressAttacks: readonly Attack[] = [
  {
    ...{ group: 'address', name: 'straight to the web server, past guard', expected: 'refused', needs: ['origin'] },
    async run(site) {
      const response = await site.requestOrigin({ target: '/' }).catch(() => null);
      return { ok: response === null || response.status === 403, got: String(response?.status ?? 'no answer') };
    },
    twin: answered('the same page through guard', '/'),
  },
  {
    ...{ group: 'address', name: 'past guard with a forged word of guard', expected: 'refused', needs: ['origin'] },
    async run(site) {
      const word = `1 00000000 ${Math.floor(Date.now() / 1000)} 0123456789abcdef http 127.0.0.1 ${'0'.repeat(64)}`;
      const request = { target: '/', headers: { 'x-security-optimizer-guard': word, 'x-forwarded-for': '127.0.0.1' } };
      const response = await site.requestOrigin(request).catch(() => null);
      return { ok: response === null || response.status === 403, got: String(response?.status ?? 'no answer') };
    },
    twin: answered('the same page through guard', '/'),
  },
  ...ADDRESS_CLAIMS.map((header) => ({
    ...{ group: 'address' as const, name: `the owner’s machine claimed by ${header}`, expected: 'refused' },
    run: refused(read(`/wp-json${API}/fetch-options`, { [header]: '127.0.0.1' }), SETTINGS),
    twin: answered('a page with the same header', { target: '/', headers: { [header]: '203.0.113.7' } }),
  })),
];
