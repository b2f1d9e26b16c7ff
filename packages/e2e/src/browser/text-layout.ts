import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/**
 * Finds layout errors of texts: cut off, outside of their box or of the page, overlapping, or making the page or a
 * dialog scroll sideways. A text may be shortened in an element with a tooltip (`.so-anchor`, `title`).
 */
export function cutTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const SHORTENED = '.so-anchor, [title], .so-vh, textarea, iframe, option';
    // The axis of the chart omits every second day, and the other labels use the space.
    const LAID_OVER = '.so-chart__days';
    const CONTROLS =
      'button:not(.so-link), input:not([type="radio"], [type="checkbox"]), select, a.so-btn, [role="switch"]';
    // The selection bar sticks to the bottom of the window, over the rows.
    const LAYERS = '.so-dialog, .so-pop, .so-toasts, .so-tip, .so-pickbar';
    interface Positioned {
      readonly element: Element;
      /** A control has one box, a text one for each line. */
      readonly boxes: readonly DOMRect[];
    }
    const found = new Set<string>();
    const placed: Positioned[] = [];
    const describeElement = (element: Element) =>
      `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''}`;
    const describeText = (element: Element) =>
      `${describeElement(element)} “${(element.textContent ?? '').trim().slice(0, 60)}”`;
    const isFrame = (style: CSSStyleDeclaration) =>
      style.overflowX !== 'visible' ||
      style.backgroundColor !== 'rgba(0, 0, 0, 0)' ||
      (style.borderLeftStyle !== 'none' && Number.parseFloat(style.borderLeftWidth) > 0);
    const isInvisible = (style: CSSStyleDeclaration) =>
      style.clip !== 'auto' || style.visibility === 'hidden' || style.opacity === '0';

    const scrims = document.querySelectorAll('.so-scrim');
    const inFront = (element: Element) =>
      scrims.length === 0 || scrims[scrims.length - 1]?.contains(element) || element.closest('.so-toasts') !== null;

    for (const element of document.querySelectorAll('.so *')) {
      if (element.closest(SHORTENED) !== null || !element.checkVisibility() || !inFront(element)) continue;
      if (element instanceof HTMLSelectElement && isCutSelect(element)) found.add(`cut: select “${element.value}”`);
      if (element.matches('input[readonly]') && element.scrollWidth > element.clientWidth + 1)
        found.add(`cut: ${describeElement(element)} “${(element as HTMLInputElement).value}”`);
      const boxes = element.matches(CONTROLS) ? [element.getBoundingClientRect()] : textBoxes(element);
      const seen = boxes.filter(({ width }) => width >= 1);
      if (seen.length > 0 && fits(element, seen)) placed.push({ element, boxes: seen });
    }
    for (const [at, one] of placed.entries()) {
      for (const other of placed.slice(at + 1)) {
        if (!meet(one, other) || one.element.contains(other.element)) continue;
        if (one.element.closest(LAYERS) !== other.element.closest(LAYERS)) continue;
        if (one.element.closest(LAID_OVER) !== null) continue;
        found.add(`lies over ${describeText(other.element)}: ${describeText(one.element)}`);
      }
    }
    const edge = document.documentElement.clientWidth;
    for (const box of [document.documentElement, ...document.querySelectorAll('.so-dialog, .so-dialog__body')]) {
      if (box.scrollWidth <= box.clientWidth) continue;
      const wide = [...document.querySelectorAll('body *')].filter((element) => {
        const { left, right, width } = element.getBoundingClientRect();
        return width > 0 && (right > edge + 0.5 || left < -0.5) && element.closest('#adminmenumain, .so-vh') === null;
      });
      found.add(
        `${describeElement(box)} scrolls sideways: ${box.scrollWidth} > ${box.clientWidth}: ${wide.slice(-3).map(describeElement)}`,
      );
    }
    return [...found];

    /** Whether all of it is visible at once; then it must be inside every frame around it. */
    function fits(element: Element, boxes: readonly DOMRect[]): boolean {
      const ancestors: Element[] = [];
      for (let up: Element | null = element; up?.closest('.so'); up = up.parentElement) ancestors.push(up);
      const styles = ancestors.map((ancestor) => getComputedStyle(ancestor));
      if (styles.some(isInvisible)) return false;
      const left = Math.min(...boxes.map((box) => box.left));
      const right = Math.max(...boxes.map((box) => box.right));
      const top = Math.min(...boxes.map((box) => box.top));
      const bottom = Math.max(...boxes.map((box) => box.bottom));
      for (const [at, ancestor] of ancestors.entries()) {
        const style = styles[at] as CSSStyleDeclaration;
        if (style.display !== 'inline' && isFrame(style)) {
          const frame = ancestor.getBoundingClientRect();
          if (/auto|scroll/.test(style.overflowX + style.overflowY)) return false;
          const isCutBelow = style.overflowY === 'hidden' && (top < frame.top - 1 || bottom > frame.bottom + 1);
          if (left < frame.left - 1 || right > frame.right + 1 || isCutBelow)
            found.add(`runs out of ${describeElement(ancestor)}: ${describeText(element)}`);
        }
        if (style.position === 'fixed') break;
      }
      if (left < -1 || right > innerWidth + 1) found.add(`off the page: ${describeText(element)}`);
      return true;
    }

    /** The lines of the element's own text nodes. */
    function textBoxes(element: Element): DOMRect[] {
      return [...element.childNodes].flatMap((node) => {
        if (node.nodeType !== Node.TEXT_NODE || (node.nodeValue ?? '').trim() === '') return [];
        const range = document.createRange();
        range.selectNodeContents(node);
        return [...range.getClientRects()];
      });
    }

    /** Lines of text may touch. */
    function meet(one: Positioned, other: Positioned): boolean {
      return one.boxes.some((a) =>
        other.boxes.some((b) => {
          const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          return across > 2 && down > 4;
        }),
      );
    }

    /** Whether the selected text is wider than the content box of the field. */
    function isCutSelect(select: HTMLSelectElement): boolean {
      const style = getComputedStyle(select);
      const pen = document.createElement('canvas').getContext('2d');
      if (pen === null || select.clientWidth === 0) return false;
      pen.font = style.font;
      const room = select.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
      return pen.measureText(select.selectedOptions[0]?.text ?? '').width > room + 1;
    }
  });
}

/** Finds words that are broken without a hyphen, and chart labels that touch each other. */
export function crampedTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const OURS = '.so *, #toplevel_page_security-optimizer *';
    // Names, addresses and paths may be broken anywhere.
    const VALUES = 'bdi, code, textarea, .so-mono, .so-path, .so-affix';
    const SMALLEST_GAP = 3;
    const found: string[] = [];
    const range = document.createRange();

    for (const element of document.querySelectorAll(OURS)) {
      if (element.closest(VALUES) !== null || !element.checkVisibility()) continue;
      // For screen readers only.
      if (getComputedStyle(element).clip !== 'auto') continue;
      for (const node of element.childNodes) {
        if (node.nodeType === Node.TEXT_NODE && countLines(node) > 1) noteBrokenWords(node);
      }
    }
    for (const axis of document.querySelectorAll('.so-chart__days')) noteCrowding(axis);
    return found;

    function countLines(node: Node): number {
      range.selectNodeContents(node);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    }

    /** A soft hyphen is not a letter, so a word with one matches as two words. */
    function noteBrokenWords(node: Node): void {
      for (const { 0: word, index } of (node.nodeValue ?? '').matchAll(/\p{L}{3,}/gu)) {
        // The first letter is skipped: its range includes the end of the previous line.
        range.setStart(node, index + 1);
        range.setEnd(node, index + word.length);
        const tops = [...range.getClientRects()].map(({ top }) => top);
        if (Math.max(...tops) - Math.min(...tops) > 4) found.push(`broken: “${word}” in “${node.nodeValue?.trim()}”`);
      }
    }

    function noteCrowding(axis: Element): void {
      const labels = [...axis.children].filter((label) => getComputedStyle(label).visibility === 'visible');
      const boxes = labels.map((label) => {
        range.selectNodeContents(label);
        return range.getBoundingClientRect();
      });
      for (const [at, box] of boxes.entries()) {
        const next = boxes[at + 1];
        if (next === undefined) continue;
        const gap = Math.max(next.left - box.right, box.left - next.right);
        if (gap < SMALLEST_GAP) found.push(`touch: “${labels[at]?.textContent}” and “${labels[at + 1]?.textContent}”`);
      }
    }
  });
}

/** Expects that neither the page nor a dialog scrolls sideways. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const wide = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('.so-scrim, .so-dialog, .so-dialog__body')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ tagName, className, scrollWidth }) => `${tagName}.${className} is ${scrollWidth} px wide`),
  );
  expect(wide).toEqual([]);
}

/** A text that is visible or spoken by a screen reader in the product's part of a page. */
export interface ShownText {
  readonly text: string;
  /** Its element, for the message of a test. */
  readonly where: string;
}

/**
 * Every text of the product's part of the page: visible text, names for screen readers, placeholders and list options.
 * Elements for values are omitted: addresses, paths, times and names (`dir="ltr"`, `<bdi>`, `<time>`, `<code>`), and
 * frames.
 */
export function shownTexts(page: Page): Promise<ShownText[]> {
  return page.evaluate(() => {
    const VALUES = '[dir="ltr"], bdi, time, code, iframe, [aria-hidden="true"] svg, .so-mono';
    const found: ShownText[] = [];
    const add = (element: Element, text: string | null): void => {
      if (text === null || text.trim() === '' || element.closest(VALUES) !== null) return;
      const classes = element.getAttribute('class') ?? '';
      found.push({ text: text.trim(), where: `${element.tagName.toLowerCase()}.${classes}` });
    };
    const scrims = document.querySelectorAll('.so-scrim');
    // An open dialog covers everything except messages.
    const roots = scrims.length === 0 ? '.so' : '.so-toasts';
    const top = scrims[scrims.length - 1];
    for (const root of [...document.querySelectorAll(roots), ...(top === undefined ? [] : [top])]) {
      for (const element of [root, ...root.querySelectorAll('*')]) {
        if (!element.checkVisibility() && element.tagName !== 'OPTION') continue;
        for (const child of element.childNodes) if (child.nodeType === Node.TEXT_NODE) add(element, child.nodeValue);
        for (const name of ['aria-label', 'placeholder', 'title', 'alt']) add(element, element.getAttribute(name));
      }
    }
    return found;
  });
}

/** Too short to be visible, milliseconds. */
const MAX_INVISIBLE_MS = 20;
/** Allowed animations: spinners, and the remaining time of a message. */
const MAY_MOVE = '.so-spin, .so-toast__life';

/** Elements of the product that are animated now. */
export function movingParts(page: Page): Promise<string[]> {
  return page.evaluate(
    ([unseen, mayMove]) =>
      document.getAnimations().flatMap((animation) => {
        const { target } = (animation.effect ?? {}) as Partial<KeyframeEffect>;
        const duration = Number(animation.effect?.getComputedTiming().duration);
        if (!target?.closest('.so') || target.matches(mayMove) || duration <= unseen) return [];
        return [`${target.className} for ${duration} ms`];
      }),
    [MAX_INVISIBLE_MS, MAY_MOVE] as const,
  );
}
