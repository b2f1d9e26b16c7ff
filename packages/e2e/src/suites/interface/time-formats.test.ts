import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openWindow } from '../../browser/chromium.js';
import { logIn } from '../../http/session.js';
import { muPlugins } from '../../stacks/wordpress.js';
import { ownerSuite } from '../login-owner/helpers.js';

/** Locales of WordPress with their formats of times and dates (specification, section 2). */
const LANGUAGES = [
  { locale: 'en_US', listed: /^\d{1,2}:\d\d:\d\d [AP]M [A-Z][a-z]{2} \d{1,2}$/, short: /\b\d{1,2}:\d\d\s[AP]M/ },
  { locale: 'en_GB', listed: /^\d\d:\d\d:\d\d \d{1,2} [A-Z][a-z]{2,3}$/, short: /\b\d\d:\d\d\b/ },
  { locale: 'de_DE', listed: /^\d\d:\d\d:\d\d \d{1,2}\. [A-Z][a-zä]{2,3}\.?$/, short: /\b\d\d:\d\d\b/ },
  { locale: 'es_ES', listed: /^\d\d:\d\d:\d\d \d{1,2} [a-z]{3,4}$/, short: /\b\d\d:\d\d\b/ },
  { locale: 'it_IT', listed: /^\d\d:\d\d:\d\d \d{1,2} [a-z]{3}$/, short: /\b\d\d:\d\d\b/ },
] as const;

const HALF_OF_DAY = /\b[AP]M\b|\b[ap]\.\s?m\./;

ownerSuite('the time format of each language', (owner) => {
  const { stack } = owner;
  const plugin = join(muPlugins(stack), 'clocks.php');

  beforeAll(async () => {
    writeFileSync(
      plugin,
      `<?php if ( preg_match( '/^[a-z]{2}_[A-Z]{2}$/', $_COOKIE['clock'] ?? '' ) ) {
        add_filter( 'get_user_metadata', function ( $value, $user, $key ) {
          return 'locale' === $key ? array( $_COOKIE['clock'] ) : $value;
        }, 10, 3 );
      }`,
    );
    await owner.set('/disable-feeds', { disable_feed: 1 });
  });
  afterAll(async () => {
    rmSync(plugin, { force: true });
    await owner.set('/away-mode', { type: 'off' });
    await owner.set('/disable-feeds', { disable_feed: 0 });
  });

  it.each(LANGUAGES)('$locale is the same in lists, rows, fields and messages', async ({ locale, listed, short }) => {
    const window = await openWindow(owner.browser, stack, await logIn(stack));
    try {
      await window.addCookies([{ name: 'clock', value: locale, url: stack.url }]);
      const page = await window.newPage();
      const open = async (screen: string, ready: string): Promise<void> => {
        await page.goto('about:blank');
        await page.goto(`${stack.url}/wp-admin/admin.php?page=${screen}`);
        await page.locator(ready).first().waitFor();
      };

      await open('activity-log#registered', '.so-table:not(.so-table--sk) tbody tr');
      const cell = page.locator('.so-table:not(.so-table--sk) tbody tr td').first();
      expect(plain(await cell.innerText())).toMatch(listed);

      await owner.set('/away-mode', { type: 'off' });
      await open('login-settings', '.so-row__ctl .so-btn');
      await page.locator('.so-row:has-text("Away"), .so-row').last().locator('.so-btn').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('radio').last().click();
      const fields = dialog.getByRole('combobox');
      // An hour in the morning, but not now, so that the login stays open. The site uses UTC.
      const [from, to] = new Date().getUTCHours() < 6 ? [8, 9] : [3, 4];
      for (const [at, hours] of [from, to].entries()) {
        await fields.nth(at).click();
        const wheels = page.locator('.so-clock ul');
        const halves = short.source.includes('[AP]M') ? 3 : 2;
        expect(await wheels.count()).toBe(halves);
        await wheels.first().locator('li').nth(hours).click();
        if (halves === 3) await wheels.last().locator('li').first().click();
        await page.keyboard.press('Escape');
        expect(plain(await fields.nth(at).inputValue())).toMatch(short);
      }
      await dialog.locator('button[type="submit"]').click();
      const toast = page.locator('.so-toast [role="status"] p');
      await toast.waitFor();
      const message = plain(await toast.innerText());
      expect(message).toMatch(short);
      expect(message).not.toMatch(/\d{4}-\d\d-\d\d/);
      const row = plain(await page.locator('.so-row p').filter({ hasText: short }).last().innerText());
      expect(row.match(new RegExp(short.source, 'g'))).toHaveLength(3);
      const texts = [message, row];
      if (locale !== 'en_US') expect(texts.filter((text) => HALF_OF_DAY.test(text))).toEqual([]);
    } finally {
      await window.close();
    }
  });
});

/** `Intl` puts narrow spaces between its parts. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ');
}
