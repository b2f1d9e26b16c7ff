import type { Page } from 'playwright-core';

/**
 * What is wrong with the room that texts of ours have: cut off, out of their box or off the page, on top of each other,
 * and what makes the page or a dialog scroll sideways. A text may be shortened where the whole is at hand: in an element
 * with a tooltip (`.so-anchor`, `title`).
 */
export function cutTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const SHORTENED = '.so-anchor, [title], .so-vh, textarea, iframe, option';
    // The axis of the chart leaves out every second day, and the others use its room.
    const LAID_OVER = '.so-chart__days';
    const CONTROLS =
      'button:not(.so-link), input:not([type="radio"], [type="checkbox"]), select, a.so-btn, [role="switch"]';
    const LAYERS = '.so-dialog, .so-pop, .so-toasts, .so-tip';
    interface Placed {
      readonly element: Element;
      /** A control has one box, a text one for each line. */
      readonly boxes: readonly DOMRect[];
    }
    const found = new Set<string>();
    const placed: Placed[] = [];
    const nameOf = (element: Element) => `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''}`;
    const wordsOf = (element: Element) => `${nameOf(element)} “${(element.textContent ?? '').trim().slice(0, 60)}”`;
    const isFrame = (style: CSSStyleDeclaration) =>
      style.overflowX !== 'visible' ||
      style.backgroundColor !== 'rgba(0, 0, 0, 0)' ||
      (style.borderLeftStyle !== 'none' && Number.parseFloat(style.borderLeftWidth) > 0);
    const isUnseen = (style: CSSStyleDeclaration) =>
      style.clip !== 'auto' || style.visibility === 'hidden' || style.opacity === '0';

    const scrims = document.querySelectorAll('.so-scrim');
    const inFront = (element: Element) =>
      scrims.length === 0 || scrims[scrims.length - 1]?.contains(element) || element.closest('.so-toasts') !== null;

    for (const element of document.querySelectorAll('.so *')) {
      if (element.closest(SHORTENED) !== null || !element.checkVisibility() || !inFront(element)) continue;
      if (element instanceof HTMLSelectElement && isCutSelect(element)) found.add(`cut: select “${element.value}”`);
      if (element.matches('input[readonly]') && element.scrollWidth > element.clientWidth + 1)
        found.add(`cut: ${nameOf(element)} “${(element as HTMLInputElement).value}”`);
      const boxes = element.matches(CONTROLS) ? [element.getBoundingClientRect()] : textBoxes(element);
      const seen = boxes.filter(({ width }) => width >= 1);
      if (seen.length > 0 && fits(element, seen)) placed.push({ element, boxes: seen });
    }
    for (const [at, one] of placed.entries()) {
      for (const other of placed.slice(at + 1)) {
        if (!meet(one, other) || one.element.contains(other.element)) continue;
        if (one.element.closest(LAYERS) !== other.element.closest(LAYERS)) continue;
        if (one.element.closest(LAID_OVER) !== null) continue;
        found.add(`lies over ${wordsOf(other.element)}: ${wordsOf(one.element)}`);
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
        `${nameOf(box)} scrolls sideways: ${box.scrollWidth} > ${box.clientWidth}: ${wide.slice(-3).map(nameOf)}`,
      );
    }
    return [...found];

    /** Whether all of it can be seen at once; then it must lie within every frame around it. */
    function fits(element: Element, boxes: readonly DOMRect[]): boolean {
      const ancestors: Element[] = [];
      for (let up: Element | null = element; up?.closest('.so'); up = up.parentElement) ancestors.push(up);
      const styles = ancestors.map((ancestor) => getComputedStyle(ancestor));
      if (styles.some(isUnseen)) return false;
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
            found.add(`runs out of ${nameOf(ancestor)}: ${wordsOf(element)}`);
        }
        if (style.position === 'fixed') break;
      }
      if (left < -1 || right > innerWidth + 1) found.add(`off the page: ${wordsOf(element)}`);
      return true;
    }

    /** The lines of the text that stands in the element itself. */
    function textBoxes(element: Element): DOMRect[] {
      return [...element.childNodes].flatMap((node) => {
        if (node.nodeType !== Node.TEXT_NODE || (node.nodeValue ?? '').trim() === '') return [];
        const range = document.createRange();
        range.selectNodeContents(node);
        return [...range.getClientRects()];
      });
    }

    /** Lines of text may touch. */
    function meet(one: Placed, other: Placed): boolean {
      return one.boxes.some((a) =>
        other.boxes.some((b) => {
          const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          return across > 2 && down > 4;
        }),
      );
    }

    /** The chosen text needs more room than the field has beside its padding. */
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
