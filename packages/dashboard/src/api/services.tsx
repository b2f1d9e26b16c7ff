import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import { type DateTexts, getDateTexts } from '../i18n/date-texts.js';
import { UiContext, type UiHost } from '../ui/host.js';
import type { PreloadedResponses } from './client.js';
import { type Api, createApi, type Fetch } from './client.js';
import type { Config } from './config.js';
import { createNoticeStore, type NoticeStore } from './notices.js';
import { createQueryClient } from './query-client.js';
import { createRequestStore, createRunRequest, type RequestStore, type RunRequest } from './run-request.js';

/** Shared services of all pages and dialogs, one set per container. */
export interface Services {
  readonly config: Config;
  readonly notices: NoticeStore;
  readonly requests: RequestStore;
  /** Runs a tracked request and shows its notices. Most requests use it. */
  readonly run: RunRequest;
  /** Runs a tracked request without notices. */
  readonly runQuietly: RunRequest;
  /** Sends a request without tracking and notices. */
  readonly api: Api;
  readonly queries: QueryClient;
  readonly ui: UiHost;
  /** Element at the end of the body for toasts and dialogs. */
  readonly portal: Element;
  /** Opens another URL. */
  readonly navigate: (url: string) => void;
}

export interface BrowserEnvironment {
  readonly address: string;
  readonly fetch: Fetch;
  readonly portal: Element;
  readonly navigate: (url: string) => void;
  readonly preloaded?: PreloadedResponses | undefined;
}

export function createServices(
  config: Config,
  { address, fetch, portal, navigate, preloaded }: BrowserEnvironment,
): Services {
  const notices = createNoticeStore();
  const requests = createRequestStore();
  const api = createApi(
    { restBase: config.restBase, address, fetch, preloaded },
    { first: config.nonce, url: config.nonceUrl },
  );
  const { loginUrl } = config;
  const run = createRunRequest({ api, requests, notices, loginUrl });
  const runQuietly = createRunRequest({ api, requests, notices: NO_NOTICES, loginUrl });
  const queries = createQueryClient();
  const ui = { portal, assetsPath: config.assetsPath, fetch };
  return { config, notices, requests, run, runQuietly, api, queries, ui, portal, navigate };
}

const NO_NOTICES = { show: () => undefined, closeKey: () => undefined };

const ServicesContext = createContext<Services | null>(null);

export function ServicesProvider({ services, children }: { services: Services; children: ReactNode }) {
  return (
    <ServicesContext value={services}>
      <QueryClientProvider client={services.queries}>
        <UiContext value={services.ui}>{children}</UiContext>
      </QueryClientProvider>
    </ServicesContext>
  );
}

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error('useServices needs a ServicesProvider above it.');
  return services;
}

/** Formats of days and times in the owner's language. */
export function useDateTexts(): DateTexts {
  const { config } = useServices();
  return getDateTexts(config.localeSlug);
}
