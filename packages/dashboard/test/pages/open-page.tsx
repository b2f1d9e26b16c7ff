import { act, screen, within } from '@testing-library/react';
import { CONTAINER_ID, mount } from '../../src/app/mount.js';
import { atEnd } from '../at-end.js';
import type { FakeSite } from '../fake-site/site.js';

let close: (() => void) | null = null;

/** URLs that the dashboard opened since the start of the page. */
export const visited: string[] = [];

/**
 * Opens the dashboard like wp-admin: a printed container, then the start of the client. It is closed when the test
 * ends.
 */
export async function openPage(
  site: FakeSite,
  config: Record<string, unknown> = {},
  page = 'SITE_SECURITY',
): Promise<HTMLElement> {
  visited.length = 0;
  const container = document.createElement('div');
  container.id = CONTAINER_ID;
  container.className = 'so so-app';
  container.dataset.page = page;
  container.dataset.config = JSON.stringify({
    rest_base: `${site.server.origin}/wp-json/`,
    wp_nonce: 'aaaaaaaaaa',
    nonce_url: `${site.server.origin}/wp-admin/admin-ajax.php?action=rest-nonce`,
    ...config,
  });
  document.body.append(container);
  atEnd(closePage);
  await act(async () => {
    close = await mount(container, {
      address: window.location.href,
      fetch: (input, init) => globalThis.fetch(input, init),
      navigate: (url) => visited.push(url),
    });
  });
  return container;
}

export function closePage(): void {
  act(() => close?.());
  close = null;
}

/** Returns the switch of a row once the options are loaded. */
export function findSwitch(name: string): Promise<HTMLElement> {
  return screen.findByRole('switch', { name });
}

/** Returns the row of a switch. */
export function withinRow(control: HTMLElement): ReturnType<typeof within> {
  const row = control.closest<HTMLElement>('.so-row');
  if (row === null) throw new Error('The switch is not in a row.');
  return within(row);
}

/** Returns the texts of the toasts, oldest first. */
export function toastTexts(): string[] {
  return Array.from(document.querySelectorAll('.so-toast:not(.is-leaving) .so-toast__text p')).map(
    (text) => text.textContent ?? '',
  );
}
