import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CONTAINER_ID } from './app/mount.js';

// Pages are separate chunks. Here they never finish loading, because only the start is tested.
vi.mock('./app/pages.js', async (original) => {
  const registry = await original<typeof import('./app/pages.js')>();
  const load = () => new Promise<never>(() => undefined);
  return { ...registry, findPage: (id: string | null) => ({ ...registry.findPage(id), load }) };
});

const state = vi.spyOn(document, 'readyState', 'get');

beforeEach(() => {
  vi.resetModules();
  state.mockReturnValue('loading');
  vi.stubGlobal('fetch', () => new Promise(() => {}));
});
afterEach(() => {
  vi.unstubAllGlobals();
});

function printContainer(): HTMLElement {
  const container = document.createElement('div');
  container.id = CONTAINER_ID;
  document.body.append(container);
  return container;
}

describe('the script of the dashboard', () => {
  it('starts as soon as its container exists, while the rest of the page loads', async () => {
    const container = printContainer();
    await import('./main.js');
    expect(container.dataset.started).toBe('');
  });

  it('draws into a container that is printed later, before the following scripts run', async () => {
    await import('./main.js');
    const container = printContainer();
    await Promise.resolve();
    expect(container.dataset.started).toBe('');
  });

  it('waits for a container that does not exist yet', async () => {
    await import('./main.js');
    const container = printContainer();
    document.dispatchEvent(new Event('DOMContentLoaded'));
    expect(container.dataset.started).toBe('');
  });
});
