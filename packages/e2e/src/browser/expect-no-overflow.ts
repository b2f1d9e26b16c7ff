import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Nothing scrolls sideways: not the page, and not a dialog above it. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const wide = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('.so-scrim, .so-dialog, .so-dialog__body')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ tagName, className, scrollWidth }) => `${tagName}.${className} is ${scrollWidth} px wide`),
  );
  expect(wide).toEqual([]);
}
