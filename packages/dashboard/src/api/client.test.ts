import { blockIp } from '@security-optimizer/contract/activity/endpoints';
import { messages } from '@security-optimizer/contract/messages';
import { rate, updateConsent } from '@security-optimizer/contract/overview/endpoints';
import { fetchSignedXmlRpc, toggleEndpoints } from '@security-optimizer/contract/settings/endpoints';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, ok, refused, staleNonce, startApiServer } from '../../test/fake-site/server.js';
import { type ApiClient, createApiClient, restUrl, SILENT, TRACKED, toCall } from './client.js';
import { ApiError } from './envelope.js';

let server: ApiServer;
let api: ApiClient;
/** What the listener to tracked requests was told. */
let told: string[] = [];

beforeEach(async () => {
  told = [];
  server = await startApiServer(() => ok({}));
  api = createApiClient(
    { restBase: `${server.origin}/wp-json/`, address: window.location.href, fetch: globalThis.fetch },
    { first: 'oldnonce01', url: `${server.origin}/nonce` },
    {
      started: (name) => told.push(`${name} started`),
      succeeded: (name, { message }) => told.push(`${name} succeeded: ${message}`),
      failed: (name, { kind }) => told.push(`${name} failed: ${kind}`),
    },
  );
});

async function catchFailure(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error('The call did not fail as expected.');
  return error;
}

describe('an API request', () => {
  it('sends the nonce and a JSON body, and accepts JSON', async () => {
    await api.call(toCall(toggleEndpoints[5], { xss_protection: 1 }));
    const [call] = server.calls;
    expect(call?.url).toBe('/wp-json/security-optimizer/v1/xss-protection');
    expect(call?.method).toBe('POST');
    expect(call?.headers).toMatchObject({
      'x-wp-nonce': 'oldnonce01',
      accept: 'application/json',
      'content-type': 'application/json',
    });
    expect(call?.body).toBe('{"xss_protection":1}');
  });

  it('has no body if the endpoint is read with GET', async () => {
    await api.call(toCall(fetchSignedXmlRpc, {}));
    expect(server.calls[0]).toMatchObject({
      method: 'GET',
      body: '',
      url: '/wp-json/security-optimizer/v1/signed-xml-rpc',
    });
    expect(server.calls[0]?.headers['content-type']).toBeUndefined();
  });

  it('has the id in its path instead of its body', async () => {
    await api.call(toCall(blockIp, { id: 7, block: 1 }));
    expect(server.calls[0]).toMatchObject({
      url: '/wp-json/security-optimizer/v1/block-ip/7',
      body: '{"block":1}',
    });
  });

  it('goes to the namespace of the endpoint', async () => {
    await api.call(toCall(updateConsent, { siteground_settings_security: 1 }));
    expect(server.calls[0]).toMatchObject({ method: 'PUT', url: '/wp-json/provider-settings/v1/update-settings' });
  });

  it('returns data, message and the texts of the metadata notification', async () => {
    server.handler = () => ({
      body: { status: 200, data: [1], message: 'Done.', metadata: { notification: { success: 'Yes', error: 'No' } } },
    });
    await expect(api.call(toCall(rate, {}))).resolves.toEqual({
      data: [1],
      message: 'Done.',
      notification: { success: 'Yes', error: 'No' },
    });
  });

  it.each([
    ['a body without a status', { data: {} }],
    ['a status as text', { data: {}, status: '200' }],
    ['another status', { data: {}, status: 201 }],
  ])('fails for %s, even with HTTP status 200', async (_name, body) => {
    server.handler = () => ({ body });
    expect((await catchFailure(api.call(toCall(rate, {})))).kind).toBe('refused');
  });

  it('fails with status, message, code and fields of the response', async () => {
    server.handler = () => ({
      status: 400,
      body: { data: null, status: 400, code: 'invalid_input', message: 'Nothing was saved.', fields: { a: 'Use 0.' } },
    });
    expect(await catchFailure(api.call(toCall(rate, {})))).toMatchObject({
      kind: 'refused',
      status: 400,
      code: 'invalid_input',
      message: 'Nothing was saved.',
      fields: { a: 'Use 0.' },
    });
  });

  it('parses the status of an error of WordPress itself', async () => {
    server.handler = () => ({ status: 404, body: { code: 'rest_no_route', message: 'No.', data: { status: 404 } } });
    expect(await catchFailure(api.call(toCall(rate, {})))).toMatchObject({ status: 404, code: 'rest_no_route' });
  });

  it.each(['<html></html>', '', '{"status":200'])('fails with 555 for the body %j', async (body) => {
    server.handler = () => ({ body });
    expect(await catchFailure(api.call(toCall(rate, {})))).toMatchObject({
      kind: 'not_json',
      status: 555,
      message: messages.notJson,
    });
  });

  it('fails without a status if there is no response', async () => {
    server.handler = () => null;
    expect(await catchFailure(api.call(toCall(rate, {})))).toMatchObject({ kind: 'no_response', status: 0 });
  });

  it('fails after its timeout', async () => {
    server.handler = () => new Promise(() => undefined);
    expect((await catchFailure(api.call(toCall(rate, {}, { timeout: 50 })))).kind).toBe('no_response');
  });
});

describe('an expired nonce', () => {
  function acceptOnly(nonce: string, fresh: { status?: number; body: string } | null): void {
    server.handler = (call) => {
      if (call.url === '/nonce') return fresh;
      return call.headers['x-wp-nonce'] === nonce ? ok('saved') : staleNonce;
    };
  }
  const urls = (): string[] => server.calls.map((call) => call.url.replace('/wp-json/security-optimizer/v1', ''));

  it('is renewed once, and the request is repeated once', async () => {
    acceptOnly('newnonce01', { body: 'newnonce01\n' });
    await expect(api.call(toCall(rate, {}))).resolves.toMatchObject({ data: 'saved' });
    expect(urls()).toEqual(['/rate', '/nonce', '/rate']);
  });

  it('is renewed once for several requests that fail at the same time', async () => {
    acceptOnly('newnonce01', { body: 'newnonce01' });
    await Promise.all(Array.from({ length: 5 }, () => api.call(toCall(rate, {}))));
    expect(urls().filter((url) => url === '/nonce')).toHaveLength(1);
  });

  it('is not renewed a second time if the new one is refused too', async () => {
    acceptOnly('othernonce', { body: 'newnonce01' });
    expect(await catchFailure(api.call(toCall(rate, {})))).toMatchObject({ kind: 'refused', status: 403 });
    expect(urls()).toEqual(['/rate', '/nonce', '/rate']);
  });

  it.each([
    ['0 with status 400', { status: 400, body: '0' }],
    ['0', { body: '0' }],
    ['-1', { body: '-1' }],
    ['a login page', { body: '<!DOCTYPE html><form name="loginform">' }],
  ])('means that the session has ended if the response to the renewal is %s', async (_name, fresh) => {
    acceptOnly('newnonce01', fresh);
    expect((await catchFailure(api.call(toCall(rate, {})))).kind).toBe('session_gone');
    expect(urls()).toEqual(['/rate', '/nonce']);
  });

  it.each([
    ['missing', null],
    ['a server error', { status: 502, body: 'Bad gateway' }],
  ])('does not end the session if the response to the renewal is %s', async (_name, fresh) => {
    acceptOnly('newnonce01', fresh);
    expect((await catchFailure(api.call(toCall(rate, {})))).kind).toBe('no_response');
  });

  it('is not renewed if the owner lacks the capability', async () => {
    server.handler = () => refused(403, 'rest_forbidden', 'Sorry, you are not allowed to do that.');
    expect(await catchFailure(api.call(toCall(rate, {})))).toMatchObject({
      kind: 'refused',
      code: 'rest_forbidden',
    });
    expect(urls()).toEqual(['/rate']);
  });
});

const base = 'https://example.com/blog/wp-admin/admin.php?page=site-security';
const route = 'security-optimizer/v1/fetch-options';

describe('restUrl', () => {
  it.each([
    ['https://example.com/wp-json/', 'https://example.com/wp-json/security-optimizer/v1/fetch-options'],
    ['https://example.com/wp-json', 'https://example.com/wp-json/security-optimizer/v1/fetch-options'],
    ['/blog/wp-json/', 'https://example.com/blog/wp-json/security-optimizer/v1/fetch-options'],
    [
      'https://example.com/index.php?rest_route=/',
      'https://example.com/index.php?rest_route=/security-optimizer/v1/fetch-options',
    ],
    ['https://example.com/?rest_route=%2F', 'https://example.com/?rest_route=/security-optimizer/v1/fetch-options'],
    [
      'https://example.com/?rest_route=/&lang=de',
      'https://example.com/?rest_route=/security-optimizer/v1/fetch-options&lang=de',
    ],
    ['https://example.com/wp-json/?lang=de', 'https://example.com/wp-json/security-optimizer/v1/fetch-options?lang=de'],
  ])('appends the route to %s', (root, expected) => {
    expect(restUrl(root, route, {}, base)).toBe(expected);
  });

  it('starts a query after a path, and extends an existing query', () => {
    const query = { page: 2, q: 'a b&c', none: undefined };
    expect(restUrl('https://example.com/wp-json/', 'x/v1/y', query, base)).toBe(
      'https://example.com/wp-json/x/v1/y?page=2&q=a%20b%26c',
    );
    expect(restUrl('https://example.com/index.php?rest_route=/', 'x/v1/y', query, base)).toBe(
      'https://example.com/index.php?rest_route=/x/v1/y&page=2&q=a%20b%26c',
    );
  });
});

describe('a tracked request', () => {
  const call = toCall(rate, { show: 0 });

  it('is told from start to success, before its caller gets the response', async () => {
    server.handler = () => ok({}, 'Done.');
    await api.call(call, TRACKED);
    expect(told).toEqual(['rate started', 'rate succeeded: Done.']);
  });

  it('is told once although its nonce is renewed', async () => {
    server.handler = ({ url, headers }) => {
      if (url === '/nonce') return { body: 'newnonce01' };
      return headers['x-wp-nonce'] === 'oldnonce01' ? staleNonce : ok({}, 'Done.');
    };
    await api.call(call, { name: 'own' });
    expect(told).toEqual(['own started', 'own succeeded: Done.']);
  });

  it('is told as failed with the kind of its error', async () => {
    server.handler = () => refused(500, 'internal', 'No.');
    await catchFailure(api.call(call, SILENT));
    expect(told).toEqual(['rate started', 'rate failed: refused']);
  });

  it('is told to nobody without tracking', async () => {
    await api.call(call);
    expect(told).toEqual([]);
  });
});
