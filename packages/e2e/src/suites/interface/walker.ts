import type { Browser, Locator, Page, Route } from 'playwright-core';
import { accessFaults } from '../../browser/accessibility.js';
import { openWindow } from '../../browser/chromium.js';
import { crampedTexts, cutTexts, movingParts, shownTexts } from '../../browser/text-layout.js';
import type { Session } from '../../http/session.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import type { Language } from './locales.js';
import { nothingLoads } from './sample-site.js';

/** Desktop, tablet, phone, and the narrowest screen, which equals a desktop of 1280 px at 400 % (WCAG 2.1, 1.4.10). */
const WIDTHS = [320, 390, 1000, 1440] as const;
/** Texts and axe are checked on these only: on the other two, only the available space differs. */
const LAYOUTS: readonly number[] = [390, 1440];
const HEIGHT = 900;

/** Replaces a response of the API. */
export type ResponseFactory = (real: { readonly data: never }) => unknown;

/**
 * Goes through the interface by keyboard in one locale with reduced motion, and records all errors on each screen size.
 */
export class Walker {
  /** Whether axe runs, too. */
  axe = true;
  /** The recorded errors. */
  readonly faults: string[] = [];
  readonly translate: Language['translate'];

  private constructor(
    readonly page: Page,
    readonly stack: Stack,
    readonly language: Language,
  ) {
    this.translate = language.translate;
  }

  static async arrive(browser: Browser, stack: Stack, owner: Session, language: Language): Promise<Walker> {
    const window = await openWindow(browser, stack, owner, { reducedMotion: 'reduce' });
    await window.addCookies([{ name: 'language', value: language.locale, url: stack.url }]);
    const page = await window.newPage();
    return new Walker(page, stack, language);
  }

  close(): Promise<void> {
    return this.page.context().close();
  }

  /** Opens a page of the product, and waits for an element and until no placeholder is left. */
  async open(slug: string, ready: Locator, hash = ''): Promise<void> {
    // From another page, so that the URL with its hash is really loaded.
    if (hash !== '') await this.page.goto('about:blank');
    await this.page.goto(`${this.stack.url}/wp-admin/admin.php?page=${slug}${hash}`);
    await ready.first().waitFor();
    await nothingLoads(this.page);
  }

  button(text: string, ...words: string[]): Locator {
    return this.page.getByRole('button', { name: this.translate(text, ...words), exact: true });
  }

  dialog(title: string, role: 'dialog' | 'alertdialog' = 'dialog'): Locator {
    return this.page.getByRole(role, { name: this.translate(title), exact: true });
  }

  /** Presses a key on an element, which must be able to take the focus. */
  async press(where: Locator, key = 'Enter'): Promise<void> {
    await where.focus();
    await this.hasFocus(where);
    await this.page.keyboard.press(key);
  }

  /**
   * Opens a dialog or menu with a button, checks it, and closes it with Escape. The focus must return to the button.
   */
  async opens(
    opener: Locator,
    opened: Locator,
    name: string,
    inside?: (opened: Locator) => Promise<void>,
  ): Promise<void> {
    await this.press(opener);
    await opened.waitFor();
    await this.checkScreen(name);
    await inside?.(opened);
    await this.closes(opener, opened, name);
  }

  /** Closes it with Escape, and checks that the focus has returned. */
  async closes(opener: Locator, opened: Locator, name: string): Promise<void> {
    await this.page.keyboard.press('Escape');
    await opened.waitFor({ state: 'detached' });
    await this.hasFocus(opener).catch(() => this.note(name, 'the focus is not back at what opened it'));
  }

  async hasFocus(where: Locator): Promise<void> {
    await until(`${where} has the focus`, () => where.evaluate((element) => element === document.activeElement));
  }

  /** Checks the current state on each screen size: translation, cut texts, sideways scrolling, motion, and axe. */
  async checkScreen(name: string, part = '.so'): Promise<void> {
    const { page, language } = this;
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const note = (fault: string): void => this.note(`${name}, ${width} px`, fault);
      for (const fault of await cutTexts(page)) note(fault);
      // The pseudo-locale is longer than any real one.
      if (language.name === 'German') for (const fault of await crampedTexts(page)) note(fault);
      if (!LAYOUTS.includes(width)) continue;
      for (const { text, where } of await shownTexts(page)) {
        if (!language.isTranslated(text)) note(`not translated: “${text}” in ${where}`);
      }
      for (const fault of await movingParts(page)) note(`moves: ${fault}`);
      if (this.axe && language.name === 'German') {
        for (const fault of await accessFaults(page, part)) note(`axe: ${fault.id} ${fault.nodes[0]}`);
      }
    }
  }

  /** Replaces the response of a call while `work` runs. */
  answering(suffix: string, answer: ResponseFactory, work: () => Promise<void>): Promise<void> {
    const calls = (url: URL) => url.pathname.endsWith(`/security-optimizer/v1${suffix}`);
    const handle = async (route: Route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: answer(await response.json()) });
    };
    return this.#handling(calls, handle, work);
  }

  /** Makes every call, or those with this suffix, fail while `work` runs. */
  failing(suffix: string | null, work: () => Promise<void>): Promise<void> {
    const calls = (url: URL) => url.pathname.includes(`/security-optimizer/v1${suffix ?? '/'}`);
    const message = 'An error occurred. Please try again later';
    const json = { data: null, code: 'internal', message, status: 500 };
    return this.#handling(calls, (route) => route.fulfill({ status: 500, json }), work);
  }

  async #handling(
    calls: (url: URL) => boolean,
    handle: (route: Route) => Promise<void>,
    work: () => Promise<void>,
  ): Promise<void> {
    let isOver = false;
    await this.page.route(calls, async (route) => {
      try {
        await handle(route);
      } catch (error) {
        // A page that polls may send a last request, and is left before the response arrives.
        if (!isOver) throw error;
      }
    });
    try {
      await work();
    } finally {
      isOver = true;
      await this.page.unroute(calls);
    }
  }

  note(name: string, fault: string): void {
    this.faults.push(`${this.language.name}, ${name}: ${fault}`);
  }
}
