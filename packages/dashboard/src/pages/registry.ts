import { type PageId, type PageText, pages } from '@security-optimizer/contract/pages';
import type { ComponentType } from 'react';
import type { FirstQuery } from '../early/first-query.js';
import {
  activityOptions,
  loginOptions,
  type OptionsSource,
  postHackSource,
  securityOptions,
} from '../options/options-source.js';
import type { Services } from '../services.js';

interface PageCode {
  readonly default: ComponentType;
  /** What the page shows beside its options, drawn at once if it was asked for early. */
  readonly first?: (services: Services) => readonly FirstQuery[];
}

interface BuiltPage {
  readonly load: () => Promise<PageCode>;
  /** What the page shows; asked for while its code is on its way. */
  readonly options: readonly OptionsSource<object>[];
}

/** The pages that are built. Each is a file of its own, fetched only where it is shown. */
const builtPages: Partial<Record<PageId, BuiltPage>> = {
  SECURITY_DASHBOARD: {
    load: () => import('./security-dashboard/security-dashboard-page.js'),
    options: [securityOptions, loginOptions],
  },
  LOGIN_SETTINGS: { load: () => import('./login-settings/login-settings-page.js'), options: [loginOptions] },
  ACTIVITY_LOG: { load: () => import('./activity-log/activity-log-page.js'), options: [activityOptions] },
  POST_HACK_ACTIONS: { load: () => import('./post-hack-actions/post-hack-actions-page.js'), options: [postHackSource] },
  SITE_SECURITY: { load: () => import('./site-security/site-security-page.js'), options: [securityOptions] },
};

/** Texts, code and data of a page; for a page that is unknown or not built, those of the first one that is. */
export function findPage(id: string | null): BuiltPage & { readonly text: PageText } {
  const built = pages.filter((page) => builtPages[page.id] !== undefined);
  const text = built.find((page) => page.id === id) ?? built[0];
  const page = text && builtPages[text.id];
  if (text === undefined || page === undefined) throw new Error('No page is built.');
  return { text, ...page };
}

/** Whether a page has its own code yet. */
export function isBuilt(id: PageId): boolean {
  return builtPages[id] !== undefined;
}
