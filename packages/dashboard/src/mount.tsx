import { createRoot } from 'react-dom/client';
import type { Fetch } from './api/send.js';
import { App } from './app.js';
import { readConfig } from './config/read-config.js';
import { loadLocale } from './i18n/load-locale.js';
import { tellMomentsIn } from './i18n/moments.js';
import { optionsQuery } from './options/options-query.js';
import { findPage } from './pages/registry.js';
import { createServices } from './services.js';

/** Identifier of the element that the connector prints. */
export const CONTAINER_ID = 'security-optimizer-app';

/**
 * Draws the dashboard into its container. Toasts and dialogs go to a portal at the end of the body.
 *
 * @returns a function that takes everything away again
 */
export async function mount(
  container: HTMLElement,
  {
    address,
    fetch,
    navigate,
  }: { readonly address: string; readonly fetch: Fetch; readonly navigate: (url: string) => void },
): Promise<() => void> {
  const config = readConfig(container, address);
  loadLocale(config.localeData);
  tellMomentsIn(config.localeSlug);
  const page = findPage(config.page);
  const portal = document.createElement('div');
  portal.className = 'so so-portal';
  const services = createServices(config, { address, fetch, portal, navigate });
  // On its way already while the page's code is loaded and run.
  for (const source of page.options) void services.queries.prefetchQuery(optionsQuery(source, services.run));
  const { default: Page } = await page.load();

  document.body.append(portal);
  const root = createRoot(container);
  root.render(<App services={services} page={page.text} Page={Page} container={container} />);
  return () => {
    root.unmount();
    portal.remove();
  };
}
