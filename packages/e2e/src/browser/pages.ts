import type { FrameLocator, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Stack } from '../stacks/stack.js';
import { until } from '../stacks/until.js';

export const SITE_SECURITY = '/wp-admin/admin.php?page=site-security';

/** Opens the page and waits until the options are there. */
export async function openSiteSecurity(page: Page, stack: Stack): Promise<void> {
  await page.goto(`${stack.url}${SITE_SECURITY}`);
  await page.getByRole('switch').first().waitFor();
}

/** Sends WordPress's own login form, which is shown in a page or frame. */
export async function sendLoginForm(shown: Page | FrameLocator, login: string, password: string): Promise<void> {
  const user = shown.locator('#user_login');
  // WordPress's script focuses the field and selects its text after 200 ms. Until then the password could land in it.
  await until('the form is focused', () =>
    user.evaluate((field) => !('wp_attempt_focus' in window) || field === document.activeElement),
  );
  await user.fill(login);
  await shown.locator('#user_pass').fill(password);
  await shown.locator('#wp-submit').click();
}

export function getSwitch(page: Page, title: string): Locator {
  return page.getByRole('switch', { name: title, exact: true });
}

/** State of a switch for a screen reader; `busy` during a change. */
export async function readState(control: Locator): Promise<'on' | 'off' | 'busy'> {
  if ((await control.getAttribute('aria-busy')) !== null) return 'busy';
  return (await control.getAttribute('aria-checked')) === 'true' ? 'on' : 'off';
}

/** Clicks a switch and waits until the server has acknowledged the change, as the owner sees it. */
export async function clickSwitch(page: Page, toggle: { title: string }, state: 'on' | 'off', text: string) {
  const control = getSwitch(page, toggle.title);
  expect(await readState(control)).toBe(state === 'on' ? 'off' : 'on');
  await control.click();
  await page.getByText(text, { exact: true }).first().waitFor();
  await until(`the switch is ${state}`, async () => (await readState(control)) === state);
}
