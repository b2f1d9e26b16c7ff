import { type PageId, type PageText, pages } from '@security-optimizer/contract/pages';
import type { ComponentType } from 'react';
import type { ApiClient } from '../api/client.js';
import type { InitialQuery } from '../api/preloaded-responses.js';
import {
  activitySettings,
  loginSettings,
  postHackSource,
  type SettingsSource,
  securitySettings,
} from '../features/settings/settings-query.js';

interface PageCode {
  readonly default: ComponentType;
  /** Queries of the page besides its settings; their preloaded responses are drawn at once. */
  readonly first?: (api: ApiClient) => readonly InitialQuery[];
}

interface Page {
  readonly load: () => Promise<PageCode>;
  /** Settings of the page, fetched while its code loads. */
  readonly settings: readonly SettingsSource<object>[];
}

/** Each page is a chunk of its own. */
const loaders: Readonly<Record<PageId, Page>> = {
  SECURITY_DASHBOARD: {
    load: () => import('../features/security-dashboard/security-dashboard-page.js'),
    settings: [securitySettings, loginSettings],
  },
  LOGIN_SETTINGS: {
    load: () => import('../features/login-settings/login-settings-page.js'),
    settings: [loginSettings],
  },
  ACTIVITY_LOG: { load: () => import('../features/activity-log/activity-log-page.js'), settings: [activitySettings] },
  POST_HACK_ACTIONS: {
    load: () => import('../features/post-hack-actions/post-hack-actions-page.js'),
    settings: [postHackSource],
  },
  SITE_SECURITY: {
    load: () => import('../features/site-security/site-security-page.js'),
    settings: [securitySettings],
  },
};

/** Texts, code and data of a page; an unknown id means the first page. */
export function findPage(id: string | null): Page & { readonly text: PageText } {
  const text = pages.find((page) => page.id === id) ?? pages[0];
  if (text === undefined) throw new Error('The contract lists no page.');
  return { text, ...loaders[text.id] };
}
