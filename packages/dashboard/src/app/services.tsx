import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { createApiClient, type Fetch, type PreloadedResponses } from '../api/client.js';
import type { Config } from '../api/config.js';
import { createQueryClient } from '../api/queries.js';
import { type Site, SiteContext } from '../api/site-context.js';
import { UiContext, type UiHost } from '../ui/portals.js';
import { createToastStore, ToastContext, type ToastStore } from '../ui/toast-store.js';
import {
  createRequestEvents,
  createRequestStore,
  type RequestStore,
  RequestStoreContext,
} from './request-lifecycle.js';

/** What the pages and dialogs of one container share. Each member is the value of a context. */
export interface Services {
  readonly site: Site;
  readonly requests: RequestStore;
  readonly toasts: ToastStore;
  readonly queries: QueryClient;
  readonly ui: UiHost;
}

export interface BrowserEnvironment {
  readonly address: string;
  readonly fetch: Fetch;
  /** Element at the end of the body for toasts and dialogs. */
  readonly portal: Element;
  readonly navigate: (url: string) => void;
  readonly preloaded?: PreloadedResponses | undefined;
}

export function createServices(
  config: Config,
  { address, fetch, portal, navigate, preloaded }: BrowserEnvironment,
): Services {
  const toasts = createToastStore();
  const requests = createRequestStore();
  const api = createApiClient(
    { restBase: config.restBase, address, fetch, preloaded },
    { first: config.nonce, url: config.nonceUrl },
    createRequestEvents({ requests, toasts, loginUrl: config.loginUrl }),
  );
  return {
    site: { config, api, navigate },
    requests,
    toasts,
    queries: createQueryClient(),
    ui: { portal, assetsPath: config.assetsPath, fetch },
  };
}

export function ServicesProvider({
  services,
  children,
}: {
  readonly services: Services;
  readonly children: ReactNode;
}) {
  return (
    <SiteContext value={services.site}>
      <RequestStoreContext value={services.requests}>
        <ToastContext value={services.toasts}>
          <QueryClientProvider client={services.queries}>
            <UiContext value={services.ui}>{children}</UiContext>
          </QueryClientProvider>
        </ToastContext>
      </RequestStoreContext>
    </SiteContext>
  );
}
