import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { fetchOptions, toggleEndpoints } from '@security-optimizer/contract/settings/endpoints';
import { defaultSecurityOptions, siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { describe, expect, it } from 'vitest';
import { type FakeConnector, fakeConnector } from '../../test/support/fake-connector.js';
import { recordedLog } from '../../test/support/logs.js';
import { callApi, dataFolderFor, runningGuard } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';

async function start() {
  const connector = await fakeConnector();
  const log = recordedLog();
  const guard = await runningGuard(await dataFolderFor(connector), log.logger);
  const call = (suffix: string, options?: Parameters<typeof callApi>[2]) => callApi(guard.url, suffix, options);
  const stored = async () => (await call('/fetch-options', { body: '{"page":"security"}' })).body.data as unknown;
  return { connector, guard, call, stored, log };
}

describe('an API request', () => {
  it.each([fetchOptions, ...toggleEndpoints].map((endpoint) => [endpoint.suffix, endpoint] as const))(
    '%s responds as the contract defines',
    async (suffix, endpoint) => {
      const { call } = await start();
      const field = siteSecurityToggles.find((toggle) => toggle.suffix === suffix)?.field;
      const response = await call(suffix, { body: JSON.stringify(field ? { [field]: 1 } : { page: 'security' }) });
      expect(Object.keys(response.body).sort()).toEqual(['data', 'message', 'status']);
      expect(response.body.status).toBe(200);
      expect(response.http).toBe(200);
      expect(endpoint.response.safeParse(response.body.data).error).toBeUndefined();
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  it.each([
    ['text/plain', '{"disable_feed":1}'],
    ['application/json', '{"disable_feed":"1"}'],
    ['', '{"disable_feed":true}'],
    ['no media type at all', '{"disable_feed":1}'],
    ['multipart/form-data; boundary=x', ' {"disable_feed": 1} '],
  ])('has a JSON body under the Content-Type %j', async (type, body) => {
    const { call } = await start();
    const response = await call('/disable-feeds', { body: new Blob([body]), headers: { 'content-type': type } });
    expect(response.body).toEqual({ data: { disable_feed: 1 }, message: 'Feeds are turned off.', status: 200 });
  });

  it('may have a trailing slash, use rest_route, or be a GET when it only reads', async () => {
    const { guard, call } = await start();
    expect((await call('/fetch-options/', { body: '{"page":"security"}' })).http).toBe(200);
    expect((await call('/fetch-options?page=security', { method: 'GET' })).body.data).toEqual(defaultSecurityOptions);
    const plain = await fetch(`${guard.url}/?rest_route=/security-optimizer/v1/fetch-options&page=security`, {
      headers: { cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce' },
    });
    expect(((await plain.json()) as { data: unknown }).data).toEqual(defaultSecurityOptions);
  });

  it.each([
    ['a number that is not 0 or 1', '{"disable_feed":2}', { disable_feed: 'Use 0 or 1.' }],
    ['nothing', null, { disable_feed: 'Use 0 or 1.' }],
    ['null', '{"disable_feed":null}', { disable_feed: 'Use 0 or 1.' }],
    ['a list instead of the value', '{"disable_feed":[1]}', { disable_feed: 'Use 0 or 1.' }],
    ['a value hidden in __proto__', '{"__proto__":{"disable_feed":1}}', { disable_feed: 'Use 0 or 1.' }],
    ['a list', '[1]', { body: 'Send a JSON object.' }],
    ['a text', '"1"', { body: 'Send a JSON object.' }],
    ['null as the body', 'null', { body: 'Send a JSON object.' }],
  ])('is refused with the field named for %s, and nothing is stored', async (_name, body, fields) => {
    const { call, stored } = await start();
    const response = await call('/disable-feeds', { body });
    expect(response.http).toBe(400);
    expect(response.body).toMatchObject({ data: null, code: 'invalid_input', status: 400, fields });
    expect(await stored()).toEqual(defaultSecurityOptions);
  });

  it.each(['{', '{"disable_feed":1', "{'disable_feed':1}", '{"disable_feed":1}x'])(
    'is refused for the invalid JSON %j',
    async (body) => {
      const { call } = await start();
      expect((await call('/disable-feeds', { body })).body).toMatchObject({ code: 'invalid_json', status: 400 });
    },
  );

  it('is refused for bytes that are not UTF-8', async () => {
    const { call } = await start();
    const response = await call('/disable-feeds', { body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]) });
    expect(response.body.code).toBe('invalid_json');
  });

  it('is refused with 413 above 64 KB, also without a Content-Length', async () => {
    const { call } = await start();
    const big = `{"disable_feed":1,"x":"${'x'.repeat(10_000_000)}"}`;
    expect((await call('/disable-feeds', { body: big })).body).toMatchObject({ code: 'body_too_large', status: 413 });
    const chunked = await call('/disable-feeds', { body: new Blob([big]).stream() });
    expect(chunked.body).toMatchObject({ code: 'body_too_large', status: 413 });
  });

  it('gets that response even if its connection is closed, once the whole body was sent', async () => {
    const { guard } = await start();
    const owner = { cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce' };
    const headers = { ...owner, connection: 'close', 'content-length': 10_000_000 };
    for (let round = 0; round < 10; round++) {
      const sent = request(`${guard.url}/wp-json/security-optimizer/v1/disable-feeds`, { method: 'POST', headers });
      sent.end(Buffer.alloc(10_000_000, 'x'));
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      expect(response.statusCode).toBe(413);
      response.resume();
    }
  });

  it('is unknown under any other path or method, as in WordPress', async () => {
    const { call } = await start();
    for (const [suffix, method] of [
      ['/nope', 'POST'],
      ['/disable-feeds/x', 'POST'],
      ['/disable-feeds', 'GET'],
      ['/disable-feeds', 'DELETE'],
      ['/fetch-options', 'PUT'],
    ] as const) {
      const { http, body } = await call(suffix, { method });
      expect([suffix, method, http, body.code]).toEqual([suffix, method, 404, 'rest_no_route']);
    }
  });

  it('returns its methods to OPTIONS, and no body to HEAD', async () => {
    const { call } = await start();
    const options = await call('/fetch-options', { method: 'OPTIONS' });
    expect(options.headers.get('allow')).toBe('POST, GET, HEAD, OPTIONS');
    expect(options.headers.get('access-control-allow-origin')).toBeNull();
    const head = await call('/fetch-options?page=security', { method: 'HEAD' });
    expect([head.http, head.body]).toEqual([200, null]);
  });
});

describe('API requests', () => {
  const on = '{"disable_feed":1}';
  it.each([
    ['no nonce', { 'x-wp-nonce': null }, 'rest_cookie_invalid_nonce'],
    ['an old nonce', { 'x-wp-nonce': 'older' }, 'rest_cookie_invalid_nonce'],
    ['no cookie', { cookie: null }, 'rest_cookie_invalid_nonce'],
    ['the cookie of an anonymous client', { cookie: 'session=nobody' }, 'rest_cookie_invalid_nonce'],
    ['an editor', { cookie: 'session=editor', 'x-wp-nonce': 'editor-nonce' }, 'rest_forbidden'],
    ['another site, by Origin', { origin: 'https://evil.example' }, 'cross_site'],
    ['a page without an origin', { origin: 'null' }, 'cross_site'],
    ['another site, by Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }, 'cross_site'],
    ['a sibling site', { 'sec-fetch-site': 'same-site' }, 'cross_site'],
  ])('are refused for %s with 403, and nothing is stored', async (_who, headers, code) => {
    const { call, stored } = await start();
    const response = await call('/disable-feeds', { body: on, headers });
    expect([response.http, response.body.status, response.body.code]).toEqual([403, 403, code]);
    expect(await stored()).toEqual(defaultSecurityOptions);
  });

  it('are authenticated before the body is read', async () => {
    const { call } = await start();
    const response = await call('/disable-feeds', { body: '{', headers: { 'x-wp-nonce': null } });
    expect(response.body.code).toBe('rest_cookie_invalid_nonce');
  });

  it('are allowed for the owner from a page of the site, and with the nonce in the query', async () => {
    const { guard, call } = await start();
    expect((await call('/disable-feeds', { body: on, headers: { origin: guard.url } })).http).toBe(200);
    const inQuery = await call('/disable-feeds?_wpnonce=owner-nonce', { body: on, headers: { 'x-wp-nonce': null } });
    expect(inQuery.http).toBe(200);
  });

  it.each([
    ['logged out', null, 'rest_cookie_invalid_nonce'],
    [
      'lost the administrator role',
      { nonce: 'owner-nonce', can_manage: false, id: 1, login: 'owner' },
      'rest_forbidden',
    ],
  ])(
    'that change something are refused for a user who %s a moment ago, whatever is cached',
    async (_who, user, code) => {
      const { connector, call } = await start();
      expect((await call('/fetch-options', { body: '{"page":"security"}' })).http).toBe(200);
      if (user === null) connector.users.delete('session=owner');
      else connector.users.set('session=owner', user);
      for (const suffix of ['/disable-feeds', '/block-addresses', '/logout-users']) {
        const { http, body } = await call(suffix, { body: on });
        expect([suffix, http, body.code]).toEqual([suffix, 403, code]);
      }
      connector.users.set('session=second', { nonce: 'second-nonce', can_manage: true, id: 3, login: 'second' });
      const headers = { cookie: 'session=second', 'x-wp-nonce': 'second-nonce' };
      const { body } = await call('/fetch-options', { body: '{"page":"security"}', headers });
      expect(body.data).toEqual(defaultSecurityOptions);
    },
  );

  it('in quick succession make one request to WordPress', async () => {
    const { connector, call } = await start();
    const many = () => call('/fetch-options', { body: '{"page":"security"}' });
    await Promise.all([many(), many(), many()]);
    await many();
    expect(connector.commands.filter((name) => name === 'session')).toHaveLength(1);
  });
});

describe('with a connector of an older version', () => {
  it('unknown commands are reported, and everything else works', async () => {
    const { connector, call } = await start();
    connector.version = '0.0.9';
    for (const name of ['login-data', 'overview', 'log-out-users', 'users-info']) connector.unknown.add(name);
    expect((await call('/disable-feeds', { body: '{"disable_feed":1}' })).http).toBe(200);
    expect((await call('/fetch-options', { body: '{"page":"security"}' })).http).toBe(200);
    for (const [suffix, body] of [
      ['/fetch-options', '{"page":"login"}'],
      ['/logout-users', '{}'],
    ] as const) {
      const response = await call(suffix, { body });
      expect([suffix, response.http, response.body.code]).toEqual([suffix, 503, 'connector_outdated']);
    }
    const { body } = await call('/notifications', { body: '{}' });
    const ids = (body.data as unknown as { id: string }[]).map(({ id }) => id);
    expect(ids).toContain('connector-version');
    expect(ids).not.toContain('wordpress-unreachable');
  });
});

describe('while WordPress has a fault', () => {
  const breakIt: readonly [string, (connector: FakeConnector) => void | Promise<void>, string][] = [
    ['is down', (connector) => connector.close(), 'wordpress_unreachable'],
    ['has no PHP', (connector) => void Object.assign(connector, { mode: 'broken' }), 'wordpress_unreachable'],
    ['lost the connector', (connector) => void Object.assign(connector, { mode: 'gone' }), 'connector_missing'],
    [
      'has another secret',
      (connector) => void Object.assign(connector, { secret: 'a1'.repeat(32) }),
      'connector_other_secret',
    ],
  ];

  it.each(breakIt)(
    'a change is refused with a clear text when it %s, and the log has the reason without secrets',
    async (_name, fault, code) => {
      const { connector, call, log } = await start();
      await call('/fetch-options', { body: '{"page":"security"}' });
      await fault(connector);
      const response = await call('/disable-feeds', { body: '{"disable_feed":1}' });
      expect([response.http, response.body.status, response.body.code]).toEqual([503, 503, code]);
      expect(log.events()).toContain('api-failed');
      await eventually(() => log.events().includes(code.replaceAll('_', '-')));
      for (const secret of ['owner-nonce', 'session=owner', '0f0f0f0f', 'disable_feed']) {
        expect(log.text()).not.toContain(secret);
      }
    },
  );
});
