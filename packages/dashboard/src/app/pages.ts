import { type PageId, type PageText, pages } from '@security-optimizer/contract/pages';
import type { ComponentType } from 'react';
import { activityOptions, loginOptions, type OptionsSource, postHackSource, securityOptions } from '../api/options.js';
import type { InitialQuery } from '../api/preloaded-responses.js';
import type { Services } from '../api/services.js';

interface PageCode {
  readonly default: ComponentType;
  /** Queries of the page besides its options; their preloaded responses are drawn at once. */
  readonly first?: (services: Services) => readonly InitialQuery[];
}

interface Page {
  readonly load: () => Promise<PageCode>;
  /** Options of the page, fetched while its code loads. */
  readonly options: readonly OptionsSource<object>[];
}

/** Each page is a chunk of its own. */
const loaders: Readonly<Record<PageId, Page>> = {
  SECURITY_DASHBOARD: {
    load: () => import('../features/security-dashboard/security-dashboard-page.js'),
    options: [securityOptions, loginOptions],
  },
  LOGIN_SETTINGS: { load: () => import('../features/login-settings/login-settings-page.js'), options: [loginOptions] },
  ACTIVITY_LOG: { load: () => import('../features/activity-log/activity-log-page.js'), options: [activityOptions] },
  POST_HACK_ACTIONS: {
    load: () => import('../features/post-hack-actions/post-hack-actions-page.js'),
    options: [postHackSource],
  },
  SITE_SECURITY: { load: () => import('../features/site-security/site-security-page.js'), options: [securityOptions] },
};

/** Texts, code and data of a page; an unknown id means the first page. */
export function findPage(id: string | null): Page & { readonly text: PageText } {
  const text = pages.find((page) => page.id === id) ?? pages[0];
  if (text === undefined) throw new Error('The contract lists no page.');
  return { text, ...loaders[text.id] };
}
