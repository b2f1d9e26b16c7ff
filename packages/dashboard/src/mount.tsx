import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import type { Fetch } from './api/send.js';
import { App } from './app.js';
import { readConfig } from './config/read-config.js';
import type { EarlyAnswers } from './early/early-answers.js';
import type { FirstQuery } from './early/first-query.js';
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
    early,
  }: {
    readonly address: string;
    readonly fetch: Fetch;
    readonly navigate: (url: string) => void;
    readonly early?: EarlyAnswers | undefined;
  },
): Promise<() => void> {
  const config = readConfig(container, address);
  loadLocale(config.localeData);
  tellMomentsIn(config.localeSlug);
  const page = findPage(config.page);
  const portal = document.createElement('div');
  portal.className = 'so so-portal';
  const services = createServices(config, { address, fetch, portal, navigate, early });
  const isHere = ({ call }: FirstQuery): boolean => early?.isHere(call) === true;
  const read = ({ query }: FirstQuery): Promise<void> => services.queries.prefetchQuery(query);
  // On its way already while the page's code is loaded and run.
  const options = page.options.map((source) => ({ call: source.call, query: optionsQuery(source, services.run) }));
  const here = options.filter(isHere);
  for (const one of options) void read(one);
  const { default: Page, first = () => [] } = await page.load();
  // What has come before is drawn at once, without something else that stands in for it. Nothing else is waited for.
  await Promise.all([...here, ...first(services).filter(isHere)].map(read));

  document.body.append(portal);
  const root = createRoot(container);
  // At once: scripts of WordPress would come first otherwise.
  flushSync(() => root.render(<App services={services} page={page.text} Page={Page} container={container} />));
  return () => {
    root.unmount();
    portal.remove();
  };
}
