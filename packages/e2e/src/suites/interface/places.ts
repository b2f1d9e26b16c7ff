import type { Page } from 'playwright-core';
import type { Stack } from '../../stacks/stack.js';

const LIST = '.so-table:not(.so-table--sk)';
const EMPTY = '.so-empty';

/** Pages and tabs, and what is there once they have loaded. */
export const PLACES = [
  ['security-optimizer', `.so-recent ${LIST}, .so-recent ${EMPTY}`],
  ['site-security', '[role="switch"]'],
  ['login-settings', '.so-row__ctl .so-btn'],
  ['activity-log', `${LIST}, ${EMPTY}`],
  ['activity-log#registered', `${LIST}, ${EMPTY}`],
  ['activity-log#blocked', `${LIST}, ${EMPTY}`],
  ['activity-log#weekly-reports', '.so-addmail .so-btn'],
  ['activity-log#log-settings', '.so-row__ctl .so-select'],
  ['post-hack-actions', '.so-row__ctl .so-btn'],
] as const;

/** Opens a page or tab and waits until all of it has loaded: parts come with answers of their own, in any order. */
export async function openPlace(page: Page, stack: Stack, place: string, ready: string, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  // From elsewhere, so that the address with its hash is really loaded.
  await page.goto('about:blank');
  await page.goto(`${stack.url}/wp-admin/admin.php?page=${place}`);
  await page.locator(ready).first().waitFor();
  // It is another control, and comes with an answer of its own.
  if (place !== 'security-optimizer') await page.locator('.so-status').waitFor();
  await nothingLoads(page);
}

/** Waits until nothing stands for what is still to come. */
export async function nothingLoads(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('.so .so-sk, .so [class*="--sk"]') === null);
}
