import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { act, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { createPreloadedResponses, type Preloaded } from '../src/api/preloaded-responses.js';
import { CONTAINER_ID, mount } from '../src/app/mount.js';

const preloadedRequests: Record<string, [string, object][]> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../src/app/preloaded-requests.json'), 'utf8'),
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

type Answer = { readonly status: number; readonly body: string };
let asked: string[];
let unmount: (() => void) | undefined;

/** A request of the loader whose response has arrived, is pending, or has failed. */
function preloaded(page: string, answers: Record<string, Answer | Promise<Answer>>): Preloaded {
  const requests = Object.entries(answers).map(([call, answer]) => {
    const [suffix = '', body = '{}'] = call.split(' ');
    const promise = Promise.resolve(answer);
    promise.catch(() => undefined);
    return { suffix, body, nonce: NONCE, response: promise, hasArrived: !(answer instanceof Promise) };
  });
  return { page, requests };
}

async function open(page: string, given: Preloaded | undefined, answer: (call: string, nonce: string) => Answer) {
  asked = [];
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
      asked.push('nonce');
      return new Response('bbbbbbbbbb');
    }
    const call = `${pathname.replace('/wp-json/security-optimizer/v1', '')} ${init?.body}`;
    asked.push(call);
    const { status, body } = answer(call, String(new Headers(init?.headers).get('X-WP-Nonce')));
    return new Response(body, { status });
  };
  const surroundings = {
    address: 'http://localhost/wp-admin/',
    fetch,
    navigate: () => {},
    preloaded: createPreloadedResponses(given),
  };
  let atOnce = '';
  await act(async () => {
    unmount = await mount(container, surroundings);
    atOnce = container.innerHTML;
  });
  return atOnce;
}

afterEach(() => act(() => unmount?.()));

const SECURITY = '/fetch-options {"page":"security"}';
const LOGIN = '/fetch-options {"page":"login"}';

describe('a preloaded request', () => {
  it('is drawn at once if its response has arrived, and is not sent again', async () => {
    const atOnce = await open('SITE_SECURITY', preloaded('SITE_SECURITY', { [SECURITY]: ok(OPTIONS) }), () => ok({}));
    expect(atOnce).toContain('role="switch"');
    expect(asked).not.toContain(SECURITY);
  });

  it('is awaited if its response has not arrived', async () => {
    let arrive: (answer: Answer) => void = () => {};
    const answer = new Promise<Answer>((resolve) => {
      arrive = resolve;
    });
    await open('SITE_SECURITY', preloaded('SITE_SECURITY', { [SECURITY]: answer }), () => ok({}));
    expect(screen.queryByRole('switch')).toBeNull();
    await act(async () => arrive(ok(OPTIONS)));
    expect(await screen.findAllByRole('switch')).toHaveLength(7);
    expect(asked).not.toContain(SECURITY);
  });

  it('that failed is reported like any other, and is sent again on retry', async () => {
    const failed = Promise.reject(new TypeError('Failed to fetch'));
    await open('SITE_SECURITY', preloaded('SITE_SECURITY', { [SECURITY]: failed }), () => ok(OPTIONS));
    expect(await screen.findByText('An error occurred. Please try again later')).toBeDefined();
    expect(asked).toEqual([]);
    act(() => screen.getAllByRole('button', { name: 'Try again' })[0]?.click());
    expect(await screen.findAllByRole('switch')).toHaveLength(7);
    expect(asked.filter((call) => call === SECURITY)).toHaveLength(1);
  });

  it.each([
    [
      'is refused',
      { status: 500, body: '{"status":500,"message":"The database is locked."}' },
      /The database is locked/,
    ],
    ['brings no JSON', { status: 200, body: '<html>' }, /REST API/],
  ])('that %s has the same result as a later response of that kind', async (_, answer, text) => {
    await open('SITE_SECURITY', preloaded('SITE_SECURITY', { [SECURITY]: answer }), () => ok({}));
    expect((await screen.findAllByText(text)).length).toBeGreaterThan(0);
  });

  it('with an expired nonce is repeated once with a new one', async () => {
    const given = preloaded('SITE_SECURITY', { [SECURITY]: STALE });
    await open('SITE_SECURITY', given, (_call, nonce) => (nonce === NONCE ? STALE : ok(OPTIONS)));
    expect(await screen.findAllByRole('switch')).toHaveLength(7);
    expect(asked.slice(0, 2)).toEqual(['nonce', SECURITY]);
  });

  it('is not used if the nonce was renewed in between', () => {
    const answers = createPreloadedResponses(preloaded('SITE_SECURITY', { [SECURITY]: ok(OPTIONS) }));
    const call = { suffix: '/fetch-options', body: { page: 'security' } };
    expect(answers.take(call, 'bbbbbbbbbb', new AbortController().signal)).toBeNull();
  });

  it('is aborted if no component waits for it any more', async () => {
    const answers = createPreloadedResponses(preloaded('SITE_SECURITY', { [LOGIN]: new Promise<Answer>(() => {}) }));
    const abort = new AbortController();
    const taken = answers.take({ suffix: '/fetch-options', body: { page: 'login' } }, NONCE, abort.signal);
    abort.abort();
    await expect(taken).rejects.toThrow();
  });
});

describe('the list of preloaded requests', () => {
  it.each(Object.entries(preloadedRequests))(
    'contains for %s exactly the requests that the page makes by itself',
    async (page, calls) => {
      const wanted = calls.map(([suffix, body]) => `${suffix} ${JSON.stringify(body)}`);
      await open(page, undefined, (call) =>
        call.startsWith('/fetch-options') ? ok({ ...OPTIONS, sg2fa: 1 }) : ok([]),
      );
      await waitFor(() => expect(asked).toEqual(expect.arrayContaining(wanted)));
      for (const call of wanted) expect(asked.filter((one) => one === call)).toHaveLength(1);
    },
  );
});
