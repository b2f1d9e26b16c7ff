import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { expectAccessible } from '../../browser/accessibility.js';
import { openChromium, openWindow } from '../../browser/chromium.js';
import { expectFocus, pressOn, tabTo } from '../../browser/keyboard.js';
import { expectNoOverflow } from '../../browser/text-layout.js';
import { logIn, type Session } from '../../http/session.js';
import { onUsualStack, type Stack } from '../../stacks/stack.js';
import { change } from '../login/helpers.js';

const LOGIN_SECURITY = '/wp-admin/admin.php?page=login-settings';
/** Folder for screenshots. */
export const screenshots = fileURLToPath(new URL('../../../screenshots/', import.meta.url));

/** Titles of the rows, and of the dialogs that they open. */
const rows = {
  url: { title: 'Custom Login URL', dialog: 'Configure Login URL' },
  access: { title: 'Login Access', dialog: 'Manage Login Access' },
  away: { title: 'Away Mode', dialog: 'Configure Away Mode' },
} as const;
const switches = {
  twoFactor: 'Two-factor Authentication for Admin & Editors Users',
  usernames: 'Disable Common Usernames',
} as const;

/** An owner on the Login Security page, without a mouse. Each file has one browser, one session and one tab. */
class Owner {
  #browser: Browser | undefined;
  #page: Page | undefined;
  #session: Session | undefined;
  /** Suffixes of the API calls that the open page has made. */
  readonly calls: string[] = [];

  constructor(readonly stack: Stack) {}

  get browser(): Browser {
    return known(this.#browser);
  }
  get page(): Page {
    return known(this.#page);
  }

  async arrive(): Promise<void> {
    mkdirSync(screenshots, { recursive: true });
    const [session, browser] = await Promise.all([logIn(this.stack), openChromium()]);
    this.#session = session;
    this.#browser = browser;
    const page = await (await openWindow(browser, this.stack, session)).newPage();
    page.on('request', (request) => {
      const suffix = /\/security-optimizer\/v1(\/[\w/-]+)$/.exec(request.url())?.[1];
      if (suffix !== undefined) this.calls.push(suffix);
    });
    this.#page = page;
  }

  async close(): Promise<void> {
    await this.#browser?.close();
  }

  /** Opens the page, with the focus on the target of the link "Skip to main content". */
  async open(): Promise<void> {
    const { page, stack } = this;
    await page.goto(`${stack.url}${LOGIN_SECURITY}`);
    await this.configure('away').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    this.calls.length = 0;
  }

  /** Opens a dialog from its row with the Enter key. */
  async openDialog(row: keyof typeof rows): Promise<Locator> {
    await pressOn(this.page, this.configure(row), 'Enter');
    return this.dialog(rows[row].dialog);
  }

  async dialog(name: string): Promise<Locator> {
    const dialog = this.page.getByRole('dialog', { name, exact: true });
    await dialog.waitFor();
    return dialog;
  }

  /** Waits until a dialog is closed, and expects the focus back on its opener. */
  async isBackAt(opener: Locator, dialog: Locator): Promise<void> {
    await dialog.waitFor({ state: 'detached' });
    await expectFocus(opener);
  }

  configure(row: keyof typeof rows): Locator {
    return this.page.getByRole('button', { name: `Configure: ${rows[row].title}`, exact: true });
  }

  getSwitch(row: keyof typeof switches): Locator {
    return this.page.getByRole('switch', { name: switches[row], exact: true });
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** Changes a setting with the API. */
  set(suffix: string, body: unknown): Promise<unknown> {
    return change(this.stack, known(this.#session), suffix, body);
  }

  /** The stored options of the page. */
  async options(): Promise<LoginOptions> {
    return (await this.set('/fetch-options', { page: 'login' })) as LoginOptions;
  }
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The owner has not arrived.');
  return value;
}

/** Defines a suite with an owner in a browser. */
export function ownerSuite(title: string, define: (owner: Owner) => void): void {
  onUsualStack(title, (stack) => {
    const owner = new Owner(stack);
    beforeAll(() => owner.arrive());
    afterAll(() => owner.close());
    define(owner);
  });
}

/** Expects no violations on desktop and phone, and no sideways scrolling on the narrowest screen. */
export async function expectLayout(page: Page, name: string, part?: string): Promise<void> {
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await expectAccessible(page, part);
    await expectNoOverflow(page);
    await page.screenshot({ path: join(screenshots, `${name}-${width}.png`), animations: 'disabled' });
  }
  await page.setViewportSize({ width: 320, height: 568 });
  await expectNoOverflow(page);
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Sends WordPress's own login form, with the right password. */
export async function logInByKeyboard(page: Page, stack: Stack, login: string): Promise<void> {
  await page.goto(`${stack.url}/wp-login.php`);
  const user = page.getByLabel('Username or Email Address');
  // WordPress's script focuses the field and selects its text after 200 ms, so earlier input would be lost.
  if (await page.evaluate(() => 'wp_attempt_focus' in window)) await expectFocus(user);
  await tabTo(page, user);
  await page.keyboard.type(login);
  await tabTo(page, page.getByLabel('Password', { exact: true }));
  await page.keyboard.type(stack.password);
  await page.keyboard.press('Enter');
}
