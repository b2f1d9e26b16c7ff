import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openChromium, openWindow } from '../../browser/chromium.js';
import { answerConsent } from '../../http/session.js';
import { onUsualStack } from '../../stacks/stack.js';
import { openScreen, prepareSampleSite, SCREENS } from './sample-site.js';

/** The maximum sum of shifts of a page: a fifth of a good score (web.dev/cls). */
const MAX_SHIFT = 0.02;
/** Additional delay of each response, milliseconds. */
const LATE_MS = 300;

interface Shift {
  readonly value: number;
  /** Milliseconds from the start of the page. */
  readonly at: number;
  readonly what: readonly string[];
}

onUsualStack('the layout of a page while its data loads', (stack) => {
  let browser: Browser;
  let site: Awaited<ReturnType<typeof prepareSampleSite>>;

  beforeAll(async () => {
    [site, browser] = await Promise.all([prepareSampleSite(stack), openChromium()]);
    await answerConsent(stack, site.owner);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.restore();
  });

  it.each([1440, 1000, 800, 390])('does not shift at %d px, on every page and tab', async (width) => {
    const context = await openWindow(browser, stack, site.owner);
    const page = await context.newPage();
    // Every response is delayed, so that placeholders are rendered and replaced even on a fast machine.
    await page.route(/security-optimizer(\/|%2F)v1/, async (route) => {
      await new Promise((done) => setTimeout(done, LATE_MS));
      await route.continue();
    });
    await page.addInitScript(() => {
      const shifts: Shift[] = [];
      Object.assign(window, { shifts });
      const rect = ({ x, y, width, height }: DOMRectReadOnly) => [x, y, width, height].map(Math.round).join(' ');
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as (PerformanceEntry & {
          readonly value: number;
          readonly hadRecentInput: boolean;
          readonly sources: readonly {
            readonly node: Node | null;
            readonly previousRect: DOMRectReadOnly;
            readonly currentRect: DOMRectReadOnly;
          }[];
        })[]) {
          if (entry.hadRecentInput) continue;
          const elements = entry.sources.map(({ node }) =>
            node instanceof Element ? node : (node?.parentElement ?? null),
          );
          // Shifts of wp-admin itself do not count: a script of WordPress fills its bar. Its footer is moved by the content.
          if (elements.every((element) => element !== null && element.closest('.so, #wpfooter') === null)) continue;
          const what = entry.sources.map(({ previousRect, currentRect }, index) => {
            const element = elements[index];
            return `${element?.nodeName} ${element?.id || element?.className}: ${rect(previousRect)} -> ${rect(currentRect)}`;
          });
          shifts.push({ value: entry.value, at: Math.round(entry.startTime), what });
        }
      }).observe({ type: 'layout-shift', buffered: true });
    });
    const unsteady: object[] = [];
    for (const [screen, ready] of SCREENS) {
      await openScreen(page, stack, screen, ready, width);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const shifts = await page.evaluate(() => (window as unknown as { shifts: Shift[] }).shifts);
      const sum = shifts.reduce((all, { value }) => all + value, 0);
      if (sum > MAX_SHIFT) unsteady.push({ screen, sum, shifts });
    }
    await context.close();
    expect(unsteady).toEqual([]);
  });
});
