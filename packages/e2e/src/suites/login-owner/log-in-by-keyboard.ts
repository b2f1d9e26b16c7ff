import type { Page } from 'playwright-core';
import { tabTo } from '../../browser/keyboard.js';
import type { Stack } from '../../stacks/stack.js';

/** Sends WordPress's own log-in form, with the right password. */
export async function logInByKeyboard(page: Page, stack: Stack, login: string): Promise<void> {
  await page.goto(`${stack.url}/wp-login.php`);
  await tabTo(page, page.getByLabel('Username or Email Address'));
  await page.keyboard.type(login);
  await tabTo(page, page.getByLabel('Password', { exact: true }));
  await page.keyboard.type(stack.password);
  await page.keyboard.press('Enter');
}
