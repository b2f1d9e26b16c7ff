import { type PageId, type PageText, pages } from '@security-optimizer/contract/pages';
import type { ComponentType } from 'react';

type LoadPage = () => Promise<{ readonly default: ComponentType }>;

/** The pages that are built. Each is a file of its own, fetched only where it is shown. */
const builtPages: Partial<Record<PageId, LoadPage>> = {
  LOGIN_SETTINGS: () => import('./login-settings/login-settings-page.js'),
  ACTIVITY_LOG: () => import('./activity-log/activity-log-page.js'),
  SITE_SECURITY: () => import('./site-security/site-security-page.js'),
};

/** Texts and code of a page; for a page that is unknown or not built, those of the first one that is. */
export function findPage(id: PageId | null): { readonly text: PageText; readonly load: LoadPage } {
  const built = pages.filter((page) => builtPages[page.id] !== undefined);
  const text = built.find((page) => page.id === id) ?? built[0];
  const load = text && builtPages[text.id];
  if (text === undefined || load === undefined) throw new Error('No page is built.');
  return { text, load };
}

/** Whether a page has its own code yet. */
export function isBuilt(id: PageId): boolean {
  return builtPages[id] !== undefined;
}
