import type { Page } from 'playwright-core';

/** Names of what the Tab key must reach, in order; of a group of tabs or bars only one takes part. */
export function tabStops(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        '.so-app a[href], .so-app button, .so-app input, .so-app select, .so-app [tabindex]',
      ),
    ]
      .filter((element) => element.tabIndex >= 0 && !element.matches(':disabled') && element.checkVisibility())
      .map((element, place) => {
        const name = `${place} ${element.getAttribute('aria-label') ?? (element.textContent ?? '').trim()}`;
        // Kept on it: what has the focus may show more, such as a tooltip.
        element.dataset.stop = name;
        return name;
      }),
  );
}

/** Name of what has the focus; says so when it has no ring, or something lies over it. */
export function focusedStop(page: Page): Promise<string> {
  return page.evaluate(async () => {
    // With less motion a ring is there after a millisecond.
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const element = document.activeElement as HTMLElement;
    const name = element.dataset.stop ?? `something else: ${element.outerHTML.slice(0, 80)}`;
    const frame = element.closest('.is-focus') ?? element;
    const { outlineStyle, outlineWidth } = getComputedStyle(frame);
    const hasRing = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1;
    const { left, top, width, height } = element.getBoundingClientRect();
    const front = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 10));
    const isSeen = front !== null && (element.contains(front) || front.contains(element));
    return [name, hasRing ? '' : '(no ring)', isSeen ? '' : `(behind ${front?.className})`].filter(Boolean).join(' ');
  });
}
