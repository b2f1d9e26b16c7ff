import { createContext, type ReactNode, useContext } from 'react';
import { type Api, createApi } from './api/api.js';
import type { Fetch } from './api/send.js';
import type { Config } from './config/config.js';
import { createQueryClient, type QueryClient } from './data/query-client.js';
import type { EarlyAnswers } from './early/early-answers.js';
import { createNoticeStore, type NoticeStore } from './notices/notice-store.js';
import { createRequestStore, type RequestStore } from './requests/request-store.js';
import { createRunRequest, type RunRequest } from './requests/run-request.js';

/** What every page and dialog may use. One set per container. */
export interface Services {
  readonly config: Config;
  readonly notices: NoticeStore;
  readonly requests: RequestStore;
  /** Runs a tracked request with its notices. Nearly everything goes through here. */
  readonly run: RunRequest;
  /** The same without notices, for what says itself how it went. */
  readonly runQuietly: RunRequest;
  /** Sends a call that the owner need not hear about. */
  readonly api: Api;
  readonly queries: QueryClient;
  readonly fetch: Fetch;
  /** Element at the end of the body where messages and dialogs live. */
  readonly portal: Element;
  /** Opens another page in place of this one. */
  readonly navigate: (url: string) => void;
}

/** What the browser provides. */
export interface Surroundings {
  /** Address of the page that is open. */
  readonly address: string;
  readonly fetch: Fetch;
  readonly portal: Element;
  readonly navigate: (url: string) => void;
  readonly early?: EarlyAnswers | undefined;
}

export function createServices(config: Config, { address, fetch, portal, navigate, early }: Surroundings): Services {
  const notices = createNoticeStore();
  const requests = createRequestStore();
  const api = createApi(
    { restBase: config.restBase, address, fetch, early },
    { first: config.nonce, url: config.nonceUrl },
  );
  const { loginUrl } = config;
  const run = createRunRequest({ api, requests, notices, loginUrl });
  const runQuietly = createRunRequest({ api, requests, notices: NO_NOTICES, loginUrl });
  const queries = createQueryClient();
  return { config, notices, requests, run, runQuietly, api, queries, fetch, portal, navigate };
}

const NO_NOTICES = { show: () => undefined, closeKey: () => undefined };

const ServicesContext = createContext<Services | null>(null);

export function ServicesProvider({ services, children }: { services: Services; children: ReactNode }) {
  return <ServicesContext value={services}>{children}</ServicesContext>;
}

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error('useServices needs a ServicesProvider above it.');
  return services;
}
