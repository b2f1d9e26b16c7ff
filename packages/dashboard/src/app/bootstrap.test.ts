import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Preloaded } from '../api/preloaded-responses.js';

const source = readFileSync(join(import.meta.dirname, 'bootstrap.js'), 'utf8');
const files = {
  modern: 'new.js',
  legacy: 'old.js',
  pages: { SITE_SECURITY: ['page.js', 'runtime.js'] },
  requests: { SITE_SECURITY: [['/fetch-options', { page: 'security' }]] },
};
const config = {
  assets_path: 'https://example.com/assets',
  rest_base: 'https://example.com/wp-json/',
  wp_nonce: 'aaaaaaaaaa',
};
const fetched = vi.fn<typeof globalThis.fetch>();

/** Runs the loader in the head like a browser. `printed`: the connector's configuration. */
function runLoader(printed: object | null = config): void {
  const script = document.createElement('script');
  if (printed !== null) {
    script.dataset.page = 'SITE_SECURITY';
    script.dataset.config = JSON.stringify(printed);
  }
  vi.spyOn(document, 'currentScript', 'get').mockReturnValue(script);
  new Function('FILES', source)(files);
}

function printContainer(): void {
  const container = document.createElement('div');
  container.id = 'security-optimizer-app';
  container.dataset.page = 'SITE_SECURITY';
  container.dataset.config = JSON.stringify(config);
  document.body.append(container);
}

const loaded = (): HTMLScriptElement | null => document.head.querySelector('script');
const preloads = (): string[] => Array.from(document.head.querySelectorAll('link'), (link) => link.href);
const preloaded = (): Preloaded | undefined => window.securityOptimizerPreloaded;

beforeEach(() => {
  document.head.replaceChildren();
  Object.defineProperty(HTMLScriptElement.prototype, 'noModule', { value: false, configurable: true });
  fetched.mockReset().mockResolvedValue(new Response('{"status":200}'));
  vi.stubGlobal('fetch', fetched);
});
afterEach(() => {
  Reflect.deleteProperty(window, 'securityOptimizerPreloaded');
  window.location.hash = '';
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe('the bootstrap script', () => {
  it('loads the modern build as a module, with the page’s files at the same time', () => {
    runLoader();
    expect(loaded()?.src).toBe('https://example.com/assets/new.js');
    expect(loaded()?.type).toBe('module');
    expect(preloads()).toEqual(['https://example.com/assets/page.js', 'https://example.com/assets/runtime.js']);
  });

  it('loads the legacy build if a modern feature is missing', () => {
    vi.stubGlobal('structuredClone', undefined);
    runLoader();
    expect(loaded()?.src).toBe('https://example.com/assets/old.js');
    expect(loaded()?.type).toBe('');
    expect(preloads()).toEqual([]);
  });

  it('loads the legacy build if modules are not supported', () => {
    Reflect.deleteProperty(HTMLScriptElement.prototype, 'noModule');
    runLoader();
    expect(loaded()?.src).toBe('https://example.com/assets/old.js');
  });

  it('finds the container if it was merged into another script', () => {
    printContainer();
    runLoader(null);
    expect(loaded()?.src).toBe('https://example.com/assets/new.js');
    expect(preloaded()?.requests).toHaveLength(1);
  });

  it('waits for the container if it was merged into a script of the head', () => {
    runLoader(null);
    expect(loaded()).toBeNull();
    printContainer();
    document.dispatchEvent(new Event('DOMContentLoaded'));
    expect(loaded()?.src).toBe('https://example.com/assets/new.js');
  });

  it('shows an error if the build cannot be loaded, once the container exists', () => {
    runLoader();
    loaded()?.dispatchEvent(new Event('error'));
    printContainer();
    document.dispatchEvent(new Event('DOMContentLoaded'));
    expect(document.querySelector('[role="alert"]')?.textContent).toMatch(/could not be loaded/);
  });
});

describe('the first requests of a page', () => {
  it('are sent by the loader exactly as by the client', async () => {
    runLoader();
    expect(fetched.mock.calls).toEqual([
      [
        'https://example.com/wp-json/security-optimizer/v1/fetch-options',
        {
          method: 'POST',
          credentials: 'include',
          headers: { Accept: 'application/json', 'X-WP-Nonce': 'aaaaaaaaaa', 'Content-Type': 'application/json' },
          body: '{"page":"security"}',
        },
      ],
    ]);
    const [request] = preloaded()?.requests ?? [];
    expect(request).toMatchObject({ suffix: '/fetch-options', body: '{"page":"security"}', nonce: 'aaaaaaaaaa' });
    expect(request?.hasArrived).toBe(false);
    expect(await request?.response).toEqual({ status: 200, body: '{"status":200}' });
    expect(request?.hasArrived).toBe(true);
  });

  it('find the API with plain permalinks', () => {
    runLoader({ ...config, rest_base: 'https://example.com/index.php?rest_route=/' });
    expect(fetched.mock.calls[0]?.[0]).toBe(
      'https://example.com/index.php?rest_route=/security-optimizer/v1/fetch-options',
    );
  });

  it.each([
    ['the URL of the API has an unexpected form', { rest_base: 'https://example.com/?rest_route=/&lang=de' }],
    ['there is no nonce', { wp_nonce: '' }],
    ['there is no URL', { rest_base: undefined }],
  ])('are sent by the client if %s', (_, change) => {
    runLoader({ ...config, ...change });
    expect(fetched).not.toHaveBeenCalled();
    expect(preloaded()).toBeUndefined();
    expect(loaded()).not.toBeNull();
  });

  it('are left to the client if the URL opens another part of the page', () => {
    window.location.hash = '#registered';
    runLoader();
    expect(fetched).not.toHaveBeenCalled();
  });

  it('are left to the client in a browser without fetch', () => {
    vi.stubGlobal('fetch', undefined);
    runLoader();
    expect(preloaded()).toBeUndefined();
    expect(loaded()).not.toBeNull();
  });

  it('can fail without an unhandled error before the client runs', async () => {
    fetched.mockRejectedValue(new TypeError('Failed to fetch'));
    runLoader();
    await expect(preloaded()?.requests[0]?.response).rejects.toThrow('Failed to fetch');
  });
});
