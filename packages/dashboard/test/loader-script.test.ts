import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const source = readFileSync(join(dirname(fileURLToPath(import.meta.url)), '../src/loader-script/loader.js'), 'utf8');
const files = { modern: 'new.js', legacy: 'old.js', pages: { SITE_SECURITY: ['page.js', 'runtime.js'] } };

/** Runs the loader as the browser would, from a script element with the given address. */
function runLoader(src: string): void {
  const script = document.createElement('script');
  vi.spyOn(document, 'currentScript', 'get').mockReturnValue(Object.assign(script, { src }));
  new Function('FILES', source)(files);
}

const loaded = (): HTMLScriptElement | null => document.head.querySelector('script');
const preloads = (): string[] => Array.from(document.head.querySelectorAll('link'), (link) => link.href);

beforeEach(() => {
  document.head.replaceChildren();
  const container = document.createElement('div');
  container.id = 'security-optimizer-app';
  container.dataset.page = 'SITE_SECURITY';
  container.dataset.config = JSON.stringify({ assets_path: 'https://example.com/assets' });
  document.body.append(container);
  Object.defineProperty(HTMLScriptElement.prototype, 'noModule', { value: false, configurable: true });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe('the loader script', () => {
  it('loads the modern build as a module, and what the page needs beside it at the same time', () => {
    runLoader('https://example.com/plugin/loader-abc.js?ver=1');
    expect(loaded()?.src).toBe('https://example.com/plugin/new.js');
    expect(loaded()?.type).toBe('module');
    expect(preloads()).toEqual(['https://example.com/plugin/page.js', 'https://example.com/plugin/runtime.js']);
  });

  it('loads the legacy build where a modern feature is missing', () => {
    vi.stubGlobal('structuredClone', undefined);
    runLoader('https://example.com/plugin/loader-abc.js');
    expect(loaded()?.src).toBe('https://example.com/plugin/old.js');
    expect(loaded()?.type).toBe('');
    expect(preloads()).toEqual([]);
  });

  it('loads the legacy build where modules are unknown', () => {
    Reflect.deleteProperty(HTMLScriptElement.prototype, 'noModule');
    runLoader('https://example.com/plugin/loader-abc.js');
    expect(loaded()?.src).toBe('https://example.com/plugin/old.js');
  });

  it('finds the files by the configuration when it was merged into another script', () => {
    runLoader('https://example.com/cache/all.js');
    expect(loaded()?.src).toBe('https://example.com/assets/new.js');
  });

  it('says so when the build cannot be loaded', () => {
    runLoader('https://example.com/plugin/loader-abc.js');
    loaded()?.dispatchEvent(new Event('error'));
    expect(document.querySelector('[role="alert"]')?.textContent).toMatch(/could not be loaded/);
  });
});
