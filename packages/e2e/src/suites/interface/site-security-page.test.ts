import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible } from '../../browser/accessibility.js';
import { openChromium, openWindow } from '../../browser/chromium.js';
import { getSwitch, openSiteSecurity, readState, SITE_SECURITY } from '../../browser/pages.js';
import { movingParts } from '../../browser/text-layout.js';
import { allOptions, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { onUsualStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins } from '../../stacks/wordpress.js';

const screenshots = fileURLToPath(new URL('../../../screenshots/', import.meta.url));
const [, , , xmlRpc, feeds, xss] = siteSecurityToggles;

const API = '**/wp-json/security-optimizer/v1';
const failure = { data: null, code: 'internal', message: 'An error occurred. Please try again later', status: 500 };

onUsualStack('the Site Security page', (stack) => {
  let owner: Session;
  let browser: Browser;

  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true });
    owner = await logIn(stack);
    browser = await openChromium();
  });
  afterAll(() => browser?.close());

  async function withPage(options: BrowserContextOptions, check: (page: Page) => Promise<void>): Promise<void> {
    await setOptions(stack, owner, { ...allOptions(1), disable_xml_rpc: 0, delete_readme: 0 });
    const window = await openWindow(browser, stack, owner, options);
    try {
      await check(await window.newPage());
    } finally {
      await window.close();
    }
  }

  const shoot = (page: Page, name: string, fullPage = false) =>
    page.screenshot({ path: join(screenshots, `${stack.kind}-${name}.png`), fullPage, animations: 'disabled' });

  it('shows rows without any state while the options load', () =>
    withPage({}, async (page) => {
      const held = gate();
      await page.route(`${API}/fetch-options`, async (route) => {
        await held.opened;
        await route.continue();
      });
      await page.goto(`${stack.url}${SITE_SECURITY}`);
      await page.getByText('Loading', { exact: true }).waitFor({ state: 'attached' });
      expect(await page.getByRole('switch').count()).toBe(0);
      await expectAccessible(page);
      await shoot(page, 'skeleton');
      held.open();
      await page.getByRole('switch').first().waitFor();
      expect(await page.getByRole('switch').count()).toBe(7);
    }));

  it('shows the seven options as in the design', () =>
    withPage({}, async (page) => {
      await openSiteSecurity(page, stack);
      await page.getByText('5 of 6 essentials on').first().waitFor();
      expect(await page.getByText('recommended', { exact: true }).count()).toBe(1);
      await expectAccessible(page);
      await shoot(page, 'normal');
    }));

  it('shows pending, successful and failed changes side by side', () =>
    withPage({}, async (page) => {
      await setOptions(stack, owner, { disable_feed: 0, xss_protection: 0 });
      const held = gate();
      await page.route(`${API}${xmlRpc.suffix}`, async (route) => {
        await held.opened;
        await route.continue();
      });
      await page.route(`${API}${xss.suffix}`, (route) => route.fulfill({ status: 500, json: failure }));
      await openSiteSecurity(page, stack);
      await getSwitch(page, xmlRpc.title).click();
      await getSwitch(page, xss.title).click();
      await page.getByText('We couldn’t save this. The option is still off.').waitFor();
      await getSwitch(page, feeds.title).click();
      await page.getByText(feeds.messages.on, { exact: true }).waitFor();
      await page.getByText(failure.message, { exact: true }).waitFor();
      expect(await readState(getSwitch(page, xmlRpc.title))).toBe('busy');
      expect(await readState(getSwitch(page, xss.title))).toBe('off');
      expect(await readState(getSwitch(page, feeds.title))).toBe('on');
      await expectAccessible(page);
      await shoot(page, 'states');
      held.open();
      await until('the change is made', async () => (await readState(getSwitch(page, xmlRpc.title))) === 'on');
    }));

  it('shows an error when the options cannot be loaded', () =>
    withPage({}, async (page) => {
      await page.route(`${API}/fetch-options`, (route) =>
        route.fulfill({ status: 200, contentType: 'text/html', body: '<p>Hello' }),
      );
      await page.goto(`${stack.url}${SITE_SECURITY}`);
      await page.getByText('We couldn’t load the options.').waitFor();
      await page.getByText('Could not connect to the WordPress REST API').first().waitFor();
      await expectAccessible(page);
      await shoot(page, 'not-loaded');
      await page.unroute(`${API}/fetch-options`);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('switch').first().waitFor();
    }));

  it.each([
    ['a phone', 390, 844],
    ['the narrowest screen', 320, 568],
    ['a tablet', 1024, 768],
  ])('fits %s without scrolling sideways', (_name, width, height) =>
    withPage({ viewport: { width, height } }, async (page) => {
      await openSiteSecurity(page, stack);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      for (const control of await page.getByRole('switch').all()) {
        const box = await control.boundingBox();
        expect(box && box.x >= 0 && box.x + box.width <= width && box.height >= 24).toBe(true);
      }
      await expectAccessible(page);
      await shoot(page, `${width}`, true);
      await getSwitch(page, xmlRpc.title).click();
      await page.getByText(xmlRpc.messages.on, { exact: true }).waitFor();
      await expectAccessible(page);
      await shoot(page, `${width}-toast`);
    }),
  );

  describe('in a right-to-left language', () => {
    const file = join(muPlugins(stack), 'right-to-left.php');
    beforeAll(() =>
      writeFileSync(
        file,
        "<?php add_action( 'after_setup_theme', function () { $GLOBALS['wp_locale']->text_direction = 'rtl'; } );",
      ),
    );
    afterAll(() => rmSync(file));

    it.each([1440, 390])('mirrors the page at %i px', (width) =>
      withPage({ viewport: { width, height: 900 } }, async (page) => {
        await openSiteSecurity(page, stack);
        expect(await page.evaluate(() => getComputedStyle(document.body).direction)).toBe('rtl');
        const title = await page.getByRole('heading', { name: xss.title }).boundingBox();
        const control = await getSwitch(page, xss.title).boundingBox();
        expect((control?.x ?? width) < (title?.x ?? 0)).toBe(true);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        await expectAccessible(page);
        await shoot(page, `rtl-${width}`);
      }),
    );
  });

  it('can be operated by keyboard alone', () =>
    withPage({}, async (page) => {
      await openSiteSecurity(page, stack);
      await getSwitch(page, siteSecurityToggles[0].title).focus();
      for (const { title } of siteSecurityToggles) {
        await until(`${title} has the focus`, () =>
          getSwitch(page, title).evaluate((element) => element === document.activeElement),
        );
        if (title === xmlRpc.title) {
          await shoot(page, 'focus');
          await page.keyboard.press('Space');
          await page.getByText(xmlRpc.messages.on, { exact: true }).waitFor();
          await page.keyboard.press('Enter');
          await page.getByText(xmlRpc.messages.off, { exact: true }).waitFor();
        }
        await page.keyboard.press('Tab');
      }
      expect((await readOptions(stack, owner)).disable_xml_rpc).toBe(0);
      await page.getByRole('button', { name: 'Undo' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText(xmlRpc.messages.on, { exact: true }).waitFor();
      await page.getByText(xmlRpc.messages.off, { exact: true }).waitFor({ state: 'detached' });
      await until('it is undone', async () => (await readOptions(stack, owner)).disable_xml_rpc === 1);
      await page.getByRole('button', { name: 'Dismiss' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText(xmlRpc.messages.on, { exact: true }).waitFor({ state: 'detached' });
      await getSwitch(page, xmlRpc.title).click();
      await page.getByText(xmlRpc.messages.off, { exact: true }).waitFor();
    }));

  it('animates nothing with reduced motion', () =>
    withPage({ reducedMotion: 'reduce' }, async (page) => {
      await openSiteSecurity(page, stack);
      await getSwitch(page, xmlRpc.title).click();
      await page.getByText(xmlRpc.messages.on, { exact: true }).waitFor();
      expect(await movingParts(page)).toEqual([]);
    }));

  it('changes its look at once, not a frame later, with reduced motion', () =>
    withPage({ reducedMotion: 'reduce' }, async (page) => {
      await openSiteSecurity(page, stack);
      const padding = await getSwitch(page, xmlRpc.title).evaluate((control) => {
        const row = control.closest<HTMLElement>('.so-row');
        if (row === null) return '';
        const style = getComputedStyle(row);
        const before = style.paddingLeft;
        row.style.paddingLeft = '7px';
        return `${before}, ${style.paddingLeft}`;
      });
      expect(padding).toMatch(/^\d+px, 7px$/);
    }));
});

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
