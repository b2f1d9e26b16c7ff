import type { Locator, Page } from 'playwright-core';
import { until } from '../stacks/until.js';

/** More stops than any page of ours has between two things that one wants to reach. */
const MOST_STOPS = 80;

/** Presses Tab (or Shift+Tab) until the element has the focus. Throws when that never happens. */
export async function tabTo(page: Page, where: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await where.waitFor();
  for (let stop = 0; stop < MOST_STOPS; stop++) {
    if (await hasFocus(where)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${where}.`);
}

/** Goes to an element by Tab and presses a key on it. */
export async function pressOn(
  page: Page,
  where: Locator,
  key: 'Enter' | 'Space',
  by: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  await tabTo(page, where, by);
  await page.keyboard.press(key);
}

/** Types into the field that has the focus, in place of what it holds. */
export async function typeAnew(page: Page, text: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+A');
  if (text === '') await page.keyboard.press('Delete');
  else await page.keyboard.type(text);
}

/** The element has the focus, or gets it soon. */
export async function expectFocus(where: Locator): Promise<void> {
  await until(`${where} has the focus`, () => hasFocus(where, 5000));
}

/** @param timeout how long the element may not be there, milliseconds; as long as any wait unless given */
function hasFocus(where: Locator, timeout?: number): Promise<boolean> {
  const options = timeout === undefined ? {} : { timeout };
  return where.evaluate((element) => element === document.activeElement, undefined, options);
}
