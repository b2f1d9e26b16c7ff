import type { Page } from 'playwright-core';

/** Words that end in one line and go on in the next without a hyphen, and days below a chart that touch each other. */
export function crampedTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const OURS = '.so *, #toplevel_page_security-optimizer *';
    // Names, addresses and paths are no words of a language, and may be broken anywhere.
    const VALUES = 'bdi, code, textarea, .so-mono, .so-path, .so-affix';
    const SMALLEST_GAP = 3;
    const found: string[] = [];
    const range = document.createRange();

    for (const element of document.querySelectorAll(OURS)) {
      if (element.closest(VALUES) !== null || !element.checkVisibility()) continue;
      // For screen readers only.
      if (getComputedStyle(element).clip !== 'auto') continue;
      for (const node of element.childNodes) {
        if (node.nodeType === Node.TEXT_NODE && linesOf(node) > 1) noteBrokenWords(node);
      }
    }
    for (const axis of document.querySelectorAll('.so-chart__days')) noteCrowding(axis);
    return found;

    function linesOf(node: Node): number {
      range.selectNodeContents(node);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    }

    /** A soft hyphen is no letter: where a word may be broken, two words stand here. */
    function noteBrokenWords(node: Node): void {
      for (const { 0: word, index } of (node.nodeValue ?? '').matchAll(/\p{L}{3,}/gu)) {
        // To the first letter belongs what stands at the end of the line before: an empty box, or the hyphen.
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
