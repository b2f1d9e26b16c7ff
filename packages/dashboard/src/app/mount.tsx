import type { PageText } from '@security-optimizer/contract/pages';
import type { ComponentType } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import type { ApiCall, Fetch, PreloadedResponses } from '../api/client.js';
import { readConfig } from '../api/config.js';
import { settingsQuery } from '../features/settings/settings-query.js';
import { setLanguage } from '../i18n/locale.js';
import { findPage } from './pages.js';
import { createServices, type Services, ServicesProvider } from './services.js';
import { Shell } from './shell.js';

/** Id of the element that the connector prints. */
export const CONTAINER_ID = 'security-optimizer-app';

/**
 * Draws the dashboard into its container. Toasts and dialogs go to a portal at the end of the body.
 *
 * @returns a function that removes everything
 */
export async function mount(
  container: HTMLElement,
  {
    address,
    fetch,
    navigate,
    preloaded,
  }: {
    readonly address: string;
    readonly fetch: Fetch;
    readonly navigate: (url: string) => void;
    readonly preloaded?: PreloadedResponses | undefined;
  },
): Promise<() => void> {
  const config = readConfig(container, address);
  setLanguage(config.localeSlug, config.localeData);
  const page = findPage(config.page);
  const portal = document.createElement('div');
  portal.className = 'so so-portal';
  const services = createServices(config, { address, fetch, portal, navigate, preloaded });
  const hasArrived = (call: ApiCall): boolean => preloaded?.hasArrived(call) === true;
  // Fetch the settings while the page's code loads.
  const settings = page.settings.map((source) => ({
    hasArrived: hasArrived(source.call),
    fetched: services.queries.prefetchQuery(settingsQuery(source, services.site.api)),
  }));
  const { default: Page, first = () => [] } = await page.load();
  // Wait for preloaded responses that have arrived, to draw without placeholders. Wait for nothing else.
  await Promise.all([
    ...settings.filter((one) => one.hasArrived).map(({ fetched }) => fetched),
    ...first(services.site.api)
      .filter(({ call }) => hasArrived(call))
      .map(({ prefetch }) => prefetch(services.queries)),
  ]);

  document.body.append(portal);
  const root = createRoot(container);
  // Draw synchronously; scripts of WordPress would run first otherwise.
  flushSync(() => root.render(<App services={services} page={page.text} Page={Page} container={container} />));
  return () => {
    root.unmount();
    portal.remove();
  };
}

interface AppProps {
  readonly services: Services;
  readonly page: PageText;
  readonly Page: ComponentType;
  readonly container: HTMLElement;
}

function App({ services, page, Page, container }: AppProps) {
  return (
    <ServicesProvider services={services}>
      <Shell page={page} container={container}>
        <Page />
      </Shell>
    </ServicesProvider>
  );
}
