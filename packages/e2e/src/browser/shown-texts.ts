import type { Page } from 'playwright-core';

/** A text that somebody sees or hears in our part of a page. */
export interface ShownText {
  readonly text: string;
  /** Where it stands, for the message of a test. */
  readonly where: string;
}

/**
 * Every text of our part of the page: what is drawn, names for screen readers, placeholders and options of lists.
 * Left out is what stands in an element for values: an address, a path, a time or a name (`dir="ltr"`, `<bdi>`,
 * `<time>`, `<code>`), and what a frame shows.
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
    // An open dialog covers everything but the messages.
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
