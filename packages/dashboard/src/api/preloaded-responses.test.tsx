import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchOptions } from '@security-optimizer/contract/settings/endpoints';
import { act, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { CONTAINER_ID, mount } from '../app/mount.js';
import { toCall } from './client.js';
import { createPreloadedResponses, type Preloaded } from './preloaded-responses.js';

const preloadedRequests: Record<string, [string, object][]> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../app/preloaded-requests.json'), 'utf8'),
);
const NONCE = 'aaaaaaaaaa';
const ROOT = 'http://localhost/wp-json/';
const OPTIONS = {
  disable_file_edit: 1,
  wp_remove_version: 1,
  disable_xml_rpc: 1,
  disable_feed: 0,
  xss_protection: 1,
  lock_system_folders: 1,
  delete_readme: 0,
};
const ok = (data: unknown) => ({ status: 200, body: JSON.stringify({ data, message: '', status: 200 }) });
const STALE = {
  status: 403,
  body: JSON.stringify({ code: 'rest_cookie_invalid_nonce', message: 'Cookie check failed', data: { status: 403 } }),
};

type RawResponse = { readonly status: number; readonly body: string };
let requested: string[];
let unmount: (() => void) | undefined;

/** A request of the loader whose response has arrived, is pending, or has failed. */
function preloaded(page: string, responses: Record<string, RawResponse | Promise<RawResponse>>): Preloaded {
  const requests = Object.entries(responses).map(([call, response]) => {
    const [suffix = '', body = '{}'] = call.split(' ');
    const promise = Promise.resolve(response);
    promise.catch(() => undefined);
    return { suffix, body, nonce: NONCE, response: promise, hasArrived: !(response instanceof Promise) };
  });
  return { page, requests };
}

async function open(
  page: string,
  requests: Preloaded | undefined,
  respond: (call: string, nonce: string) => RawResponse,
) {
  requested = [];
  const container = document.createElement('div');
  container.id = CONTAINER_ID;
  container.dataset.page = page;
  container.dataset.config = JSON.stringify({
    rest_base: ROOT,
    wp_nonce: NONCE,
    nonce_url: 'http://localhost/wp-admin/admin-ajax.php?action=rest-nonce',
  });
  document.body.append(container);
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { pathname } = new URL(String(input));
    if (pathname.endsWith('admin-ajax.php')) {
      requested.push('nonce');
      return new Response('bbbbbbbbbb');
    }
    const call = `${pathname.replace('/wp-json/security-optimizer/v1', '')} ${init?.body}`;
    requested.push(call);
    const { status, body } = respond(call, String(new Headers(init?.headers).get('X-WP-Nonce')));
    return new Response(body, { status });
  };
  const surroundings = {
    address: 'http://localhost/wp-admin/',
    fetch,
    navigate: () => {},
    preloaded: createPreloadedResponses(requests),
  };
  let initialHtml = '';
  await act(async () => {
    unmount = await mount(container, surroundings);
    initialHtml = container.innerHTML;
  });
  return initialHtml;
}

afterEach(() => act(() => unmount?.()));

const SECURITY = '/fetch-options {"page":"security"}';
const LOGIN = '/fetch-options {"page":"login"}';

describe('a preloaded request', () => {
  it('is drawn at once if its response has arrived, and is not sent again', async () => {
    const initialHtml = await open('SITE_SECURITY', preloaded('SITE_SECURITY', { [SECURITY]: ok(OPTIONS) }), () =>
      ok({}),
    );
    expect(initialHtml).toContain('role="switch"');
    expect(requested).not.toContain(SECURITY);
  });

  it('is awaited if its response has not arrived', async () => {
    let arrive: (response: RawResponse) => void = () => {};
    const pending = new Promise<RawResponse>((resolve) => {
      arrive = resolve;
    });
    await open('SITE_SECURITY', preloaded('SITE_SECURITY', { [SECURITY]: pending }), () => ok({}));
    expect(screen.queryByRole('switch')).toBeNull();
    await act(async () => arrive(ok(OPTIONS)));
    expect(await screen.findAllByRole('switch')).toHaveLength(7);
    expect(requested).not.toContain(SECURITY);
  });

  it('that failed is reported like any other, and is sent again on retry', async () => {
    const failed = Promise.reject(new TypeError('Failed to fetch'));
    await open('SITE_SECURITY', preloaded('SITE_SECURITY', { [SECURITY]: failed }), () => ok(OPTIONS));
    expect(await screen.findByText('An error occurred. Please try again later')).toBeDefined();
    expect(requested).toEqual([]);
    act(() => screen.getAllByRole('button', { name: 'Try again' })[0]?.click());
    expect(await screen.findAllByRole('switch')).toHaveLength(7);
    expect(requested.filter((call) => call === SECURITY)).toHaveLength(1);
  });

  it.each([
    [
      'is refused',
      { status: 500, body: '{"status":500,"message":"The database is locked."}' },
      /The database is locked/,
    ],
    ['is not JSON', { status: 200, body: '<html>' }, /REST API/],
  ])('that %s has the same result as a later response of that kind', async (_, response, text) => {
    await open('SITE_SECURITY', preloaded('SITE_SECURITY', { [SECURITY]: response }), () => ok({}));
    expect((await screen.findAllByText(text)).length).toBeGreaterThan(0);
  });

  it('with an expired nonce is repeated once with a new one', async () => {
    const requests = preloaded('SITE_SECURITY', { [SECURITY]: STALE });
    await open('SITE_SECURITY', requests, (_call, nonce) => (nonce === NONCE ? STALE : ok(OPTIONS)));
    expect(await screen.findAllByRole('switch')).toHaveLength(7);
    expect(requested.slice(0, 2)).toEqual(['nonce', SECURITY]);
  });

  it('is not used if the nonce was renewed in between', () => {
    const preloadedResponses = createPreloadedResponses(preloaded('SITE_SECURITY', { [SECURITY]: ok(OPTIONS) }));
    const call = toCall(fetchOptions, { page: 'security' });
    expect(preloadedResponses.take(call, 'bbbbbbbbbb', new AbortController().signal)).toBeNull();
  });

  it('is aborted if no component waits for it any more', async () => {
    const preloadedResponses = createPreloadedResponses(
      preloaded('SITE_SECURITY', { [LOGIN]: new Promise<RawResponse>(() => {}) }),
    );
    const abort = new AbortController();
    const response = preloadedResponses.take(toCall(fetchOptions, { page: 'login' }), NONCE, abort.signal);
    abort.abort();
    await expect(response).rejects.toThrow();
  });
});

describe('the list of preloaded requests', () => {
  it.each(Object.entries(preloadedRequests))(
    'contains for %s exactly the requests that the page makes by itself',
    async (page, calls) => {
      const expected = calls.map(([suffix, body]) => `${suffix} ${JSON.stringify(body)}`);
      await open(page, undefined, (call) =>
        call.startsWith('/fetch-options') ? ok({ ...OPTIONS, sg2fa: 1 }) : ok([]),
      );
      await waitFor(() => expect(requested).toEqual(expect.arrayContaining(expected)));
      for (const call of expected) expect(requested.filter((one) => one === call)).toHaveLength(1);
    },
  );
});
