import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openChromium } from '../../browser/chromium.js';
import { focusedStop, tabStops } from '../../browser/keyboard.js';
import { answerConsent, logIn } from '../../http/session.js';
import { onUsualStack, type Stack } from '../../stacks/stack.js';
import { installLanguages, readLanguages } from './locales.js';
import { openScreen, SCREENS } from './sample-site.js';
import { Walker } from './walker.js';

onUsualStack('the keyboard in right-to-left languages', define, { timeout: 600_000 });

function define(stack: Stack): void {
  let browser: Browser;
  let walker: Walker;
  let page: Page;
  let removeLanguages: () => void;

  beforeAll(async () => {
    const [, pseudo] = await readLanguages([]);
    removeLanguages = await installLanguages(stack);
    browser = await openChromium();
    const owner = await logIn(stack);
    await answerConsent(stack, owner);
    walker = await Walker.arrive(browser, stack, owner, pseudo);
    page = walker.page;
  });
  afterAll(async () => {
    await browser?.close();
    removeLanguages?.();
  });

  async function open(screen: string, ready: string, width = 1440): Promise<void> {
    await openScreen(page, stack, screen, ready, width);
    expect(await page.evaluate(() => getComputedStyle(document.querySelector('.so-app') as Element).direction)).toBe(
      'rtl',
    );
  }

  // At 390 px the tab list may be scrolled to any part.
  it.each([1440, 390])('moves with Tab through every page from right to left at %i px', async (width) => {
    for (const [screen, ready] of SCREENS) {
      await open(screen, ready, width);
      const expected = await tabStops(page);
      await page.evaluate(() => {
        const start = document.createElement('button');
        document.querySelector('.so-app')?.before(start);
        start.focus();
      });
      const reached: string[] = [];
      const wrong: string[] = [];
      let before: Box | null = null;
      for (let stop = 0; stop < expected.length; stop++) {
        await page.keyboard.press('Tab');
        reached.push(await focusedStop(page));
        const now = await getFocusBox(page);
        if (before !== null && isBackwards(before, now)) wrong.push(`${before.name} -> ${now.name}`);
        before = now;
      }
      expect({ screen, reached }).toEqual({ screen, reached: expected });
      expect({ screen, wrong }).toEqual({ screen, wrong: [] });
    }
  });

  it('keeps Tab within a dialog, whose main button is the last and the leftmost', async () => {
    await open('login-settings', '.so-row__ctl .so-btn');
    const opener = walker.button('Configure: %s', walker.translate('Away Mode'));
    await walker.press(opener);
    const dialog = walker.dialog('Configure Away Mode');
    await dialog.waitFor();
    const boxes: Box[] = [];
    // One full round, until the focus is where it began.
    for (let stop = 0; stop < 40; stop++) {
      await page.keyboard.press('Tab');
      const box = await getFocusBox(page);
      expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
      if (boxes[0] !== undefined && boxes[0].name === box.name && boxes[0].left === box.left) break;
      boxes.push(box);
    }
    expect(boxes.length).toBeGreaterThan(3);
    const foot = dialog.locator('.so-dialog__foot button');
    const [cancel, save] = await Promise.all([foot.first().boundingBox(), foot.last().boundingBox()]);
    expect(save?.x).toBeLessThan(cancel?.x ?? 0);
    await walker.closes(opener, dialog, 'Away Mode');
    expect(walker.faults).toEqual([]);
  });

  it('moves with the arrow keys where they point: in tabs, schedule types, a calendar and a clock', async () => {
    await open('activity-log', '.so-tab');
    const tabs = page.getByRole('tab');
    await tabs.first().focus();
    await page.keyboard.press('ArrowLeft');
    await isOn(tabs.nth(1), 'aria-selected');
    await page.keyboard.press('ArrowRight');
    await isOn(tabs.first(), 'aria-selected');

    await open('login-settings', '.so-row__ctl .so-btn');
    await walker.press(walker.button('Configure: %s', walker.translate('Away Mode')));
    const dialog = walker.dialog('Configure Away Mode');
    const kinds = dialog.getByRole('radio');
    await kinds.first().waitFor();
    await dialog.locator('[role="radio"][tabindex="0"], input[type="radio"]:checked').first().focus();
    await page.keyboard.press('Home');
    const first = await getFocusBox(page);
    await page.keyboard.press('ArrowLeft');
    expect((await getFocusBox(page)).left).toBeLessThan(first.left);

    await kinds.first().click({ force: true });
    await dialog.getByRole('combobox', { name: walker.translate('From'), exact: true }).click();
    const day = dialog.locator('table [tabindex="0"]').first();
    await day.focus();
    const today = await getFocusBox(page);
    await page.keyboard.press('ArrowLeft');
    const next = await getFocusBox(page);
    expect(next.top > today.top + 4 ? next.left > today.left : next.left < today.left).toBe(true);
    await page.keyboard.press('Escape');

    await kinds.last().click({ force: true });
    await dialog.getByRole('combobox').first().click();
    const wheels = page.locator('.so-clock ul');
    await wheels.first().focus();
    const hour = await getFocusBox(page);
    await page.keyboard.press('ArrowLeft');
    expect((await getFocusBox(page)).left).toBeLessThan(hour.left);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
  });
}

interface Box {
  readonly name: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** The part of the page whose controls are in one row. */
  readonly line: string;
}

/** Whether the next control is in the same row, further to the right. */
function isBackwards(before: Box, now: Box): boolean {
  const sameLine = before.line === now.line && Math.min(before.bottom, now.bottom) - Math.max(before.top, now.top) > 8;
  return sameLine && now.left >= before.right;
}

function getFocusBox(page: Page): Promise<Box> {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLElement;
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const around = element.closest('.so-card, .so-header, .so-dialog, .so-app');
    const line = `${around?.className} ${[...document.querySelectorAll('.so-card')].indexOf(around as Element)}`;
    const name = element.getAttribute('aria-label') ?? (element.textContent ?? '').trim().slice(0, 60);
    return { name, left, right, top: top + window.scrollY, bottom: bottom + window.scrollY, line };
  });
}

async function isOn(where: Locator, attribute: string): Promise<void> {
  await expect.poll(() => where.getAttribute(attribute)).toBe('true');
}
