import type { Page } from 'playwright-core';

/** So short that nobody sees it move, milliseconds. */
const UNSEEN_MS = 20;
/** What may move all the same: a spinner says that something goes on, the line of a message how long it stays. */
const MAY_MOVE = '.so-spin, .so-toast__life';

/** Parts of ours that move or fade just now. */
export function movingParts(page: Page): Promise<string[]> {
  return page.evaluate(
    ([unseen, mayMove]) =>
      document.getAnimations().flatMap((animation) => {
        const { target } = (animation.effect ?? {}) as Partial<KeyframeEffect>;
        const lasts = Number(animation.effect?.getComputedTiming().duration);
        if (!target?.closest('.so') || target.matches(mayMove) || lasts <= unseen) return [];
        return [`${target.className} for ${lasts} ms`];
      }),
    [UNSEEN_MS, MAY_MOVE] as const,
  );
}
