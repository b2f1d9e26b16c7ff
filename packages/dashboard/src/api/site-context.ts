import { createContext, useContext } from 'react';
import type { ApiClient } from './client.js';
import type { Config } from './config.js';

/** The site that the pages belong to. */
export interface Site {
  /** What the connector printed into the page. */
  readonly config: Config;
  /** Sends requests that are not tracked and show no toast: polls, searches, and repeated fetches. */
  readonly api: ApiClient;
  /** Opens another URL. */
  readonly navigate: (url: string) => void;
}

export const SiteContext = createContext<Site | null>(null);

export function useSite(): Site {
  const site = useContext(SiteContext);
  if (site === null) throw new Error('useSite needs a SiteContext above it.');
  return site;
}
