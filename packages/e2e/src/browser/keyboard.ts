import type { Locator, Page } from 'playwright-core';
import { until } from '../stacks/until.js';

/** More than the number of tab stops between any two controls. */
const MAX_STOPS = 160;

/** Presses Tab (or Shift+Tab) until the element has the focus. Throws when that never happens. */
export async function tabTo(page: Page, where: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await where.waitFor();
  for (let stop = 0; stop < MAX_STOPS; stop++) {
    if (await hasFocus(where)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${where}.`);
}

/** Moves to an element with Tab and presses a key on it. */
export async function pressOn(
  page: Page,
  where: Locator,
  key: 'Enter' | 'Space',
  by: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  await tabTo(page, where, by);
  await page.keyboard.press(key);
}

/** Replaces the text of the focused field. */
export async function typeAnew(page: Page, text: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+A');
  if (text === '') await page.keyboard.press('Delete');
  else await page.keyboard.type(text);
}

/** Waits until the element has the focus. */
export async function expectFocus(where: Locator): Promise<void> {
  await until(`${where} has the focus`, () => hasFocus(where, 5000));
}

/** @param timeout how long to wait for the element, milliseconds; by default as long as any wait */
function hasFocus(where: Locator, timeout?: number): Promise<boolean> {
  const options = timeout === undefined ? {} : { timeout };
  return where.evaluate((element) => element === document.activeElement, undefined, options);
}

/** Names of the elements that the Tab key must reach, in order. */
export function tabStops(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        '.so-app a[href], .so-app button, .so-app input, .so-app select, .so-app summary, .so-app [tabindex]',
      ),
    ]
      .filter((element) => element.tabIndex >= 0 && !element.matches(':disabled') && element.checkVisibility())
      .map((element, index) => {
        const name = `${index} ${element.getAttribute('aria-label') ?? (element.textContent ?? '').trim()}`;
        // The name is stored on the element, since a focused element may show more text, such as a tooltip.
        element.dataset.stop = name;
        return name;
      }),
  );
}

/** Name of the focused element, with a note if it has no focus ring or is covered. */
export function focusedStop(page: Page): Promise<string> {
  return page.evaluate(async () => {
    // With reduced motion, the focus ring appears within a millisecond.
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const element = document.activeElement as HTMLElement;
    const name = element.dataset.stop ?? `something else: ${element.outerHTML.slice(0, 80)}`;
    const frame = element.closest('.is-focus') ?? element;
    const { outlineStyle, outlineWidth } = getComputedStyle(frame);
    const hasRing = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1;
    const { left, top, width, height } = element.getBoundingClientRect();
    const front = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 10));
    const isVisible = front !== null && (element.contains(front) || front.contains(element));
    return [name, hasRing ? '' : '(no ring)', isVisible ? '' : `(behind ${front?.className})`]
      .filter(Boolean)
      .join(' ');
  });
}
