import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** A rule of axe that the page violates, and the elements that violate it. */
export interface AccessFault {
  readonly id: string;
  readonly nodes: readonly string[];
}

/**
 * The violations that axe finds in the selected part of the page. Animations are finished first, since half-faded text
 * has too little contrast.
 */
export async function accessFaults(page: Page, part: string): Promise<AccessFault[]> {
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      if (
        Number.isFinite(animation.effect?.getComputedTiming().endTime) &&
        !(animation.effect as KeyframeEffect).target?.matches('.so-toast__life')
      )
        animation.finish();
    }
  });
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  return page.evaluate(async (selector) => {
    const { axe: checker } = globalThis as unknown as {
      axe: { run(where: object): Promise<{ violations: Violation[] }> };
    };
    const { violations } = await checker.run({ include: [[selector]] });
    return violations.map(({ id, nodes }) => ({
      id,
      nodes: nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`),
    }));
  }, part);
}

/** Expects no violations in the selected part of the page; by default the part of the product. */
export async function expectAccessible(page: Page, part = '.so'): Promise<void> {
  expect(await accessFaults(page, part)).toEqual([]);
}
