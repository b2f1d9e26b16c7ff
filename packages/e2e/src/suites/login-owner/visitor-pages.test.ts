import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectFocus, pressOn, tabTo, typeAnew } from '../../browser/keyboard.js';
import { until } from '../../stacks/until.js';
import { usersByRole } from '../../stacks/wordpress.js';
import { loginForm, recover, sendFrom, totpCode } from '../login/helpers.js';
import { expectLayout, logInByKeyboard, ownerSuite } from './helpers.js';

const { editor } = usersByRole;
const DAY_MS = 86_400_000;
const scripts = [
  ['with', true],
  ['without', false],
] as const;

ownerSuite('the pages of the login for visitors', (owner) => {
  const { stack } = owner;

  async function inNewBrowser(javaScriptEnabled: boolean, check: (page: Page) => Promise<void>): Promise<void> {
    const window = await owner.browser.newContext({ javaScriptEnabled, viewport: { width: 1440, height: 900 } });
    try {
      await check(await window.newPage());
    } finally {
      await window.close();
    }
  }

  async function expectGood(page: Page, name: string, javaScriptEnabled: boolean): Promise<void> {
    if (javaScriptEnabled) return expectLayout(page, name, 'html');
    // Axe is a script, so the rendered HTML is checked without the page's own scripts in a tab that runs scripts.
    const drawn = (await page.content()).replace(/<script[\s\S]*?<\/script>/g, '');
    await inNewBrowser(true, async (twin) => {
      await twin.setContent(drawn);
      await expectLayout(twin, `${name}-no-script`, 'html');
    });
  }

  /** Runs a recovery command, and waits until the running guard has applied it. */
  async function openAgain(...words: string[]): Promise<void> {
    await recover(stack, ...words);
    await until(
      'the login is open',
      async () => (await sendFrom(stack, '127.0.0.1', { target: '/wp-login.php' })).status === 200,
    );
  }

  it('say how long an address is locked out after too many failures', async () => {
    for (let tries = 0; tries < 5; tries++) await sendFrom(stack, '127.0.0.1', loginForm('nobody-here', 'wrong'));
    try {
      for (const [, javaScriptEnabled] of scripts) {
        await inNewBrowser(javaScriptEnabled, async (page) => {
          expect((await page.goto(`${stack.url}/wp-login.php`))?.status()).toBe(429);
          await page.getByRole('heading', { name: 'Too many login attempts' }).waitFor();
          // If the hour ends after midnight, the page also names the day.
          await page.getByText(/left\. Try again (at|on) /).waitFor();
          await expectGood(page, 'locked', javaScriptEnabled);
        });
      }
    } finally {
      await openAgain('unblock', '--all');
    }
  });

  it('say when the login opens again during Away Mode', async () => {
    // Tomorrow as well, in case the day changes during the test.
    const weekly = [0, 1].map((days) =>
      new Date(Date.now() + days * DAY_MS).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' }).toLowerCase(),
    );
    await owner.set('/away-mode', { type: 'weekly', weekly, confirm: true });
    try {
      for (const [, javaScriptEnabled] of scripts) {
        await inNewBrowser(javaScriptEnabled, async (page) => {
          await page.goto(`${stack.url}/wp-login.php`);
          await page.getByRole('heading', { name: 'The admin area is closed' }).waitFor();
          await page.getByText('Opens again').waitFor();
          expect(await page.locator('#loginform').count()).toBe(0);
          await expectGood(page, 'away', javaScriptEnabled);
        });
      }
    } finally {
      // The owner is locked out, too: only the command line ends it.
      await openAgain('away-mode', 'off');
    }
  });

  describe.each(scripts)('ask for a second factor in a browser %s JavaScript', (_word, javaScriptEnabled) => {
    let backUpCodes: string[] = [];
    beforeAll(() => owner.set('/2fa', { sg2fa: 1 }));
    afterAll(async () => {
      await owner.set('/2fa', { sg2fa: 0 });
      await recover(stack, 'two-factor', 'reset', editor).catch(() => undefined);
    });

    it('which is set up with a first code and saved backup codes', () =>
      inNewBrowser(javaScriptEnabled, async (page) => {
        await logInByKeyboard(page, stack, editor);
        await page.getByRole('heading', { name: 'Set up two-factor authentication' }).waitFor();
        await expectGood(page, 'two-factor-set-up', javaScriptEnabled);
        const key = await page.locator('.so-secret code').innerText();
        await tabTo(page, page.getByLabel('Code', { exact: true }));
        await page.keyboard.type(totpCode(key));
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Save your back-up codes' }).waitFor();
        await expectGood(page, 'two-factor-codes', javaScriptEnabled);
        backUpCodes = await page.locator('.so-codes li').allInnerTexts();
        expect(backUpCodes).toHaveLength(10);
        // Features that need a script are not offered without one. The download always is.
        expect(await page.getByRole('button', { name: 'Copy' }).isVisible()).toBe(javaScriptEnabled);
        expect(await page.getByRole('link', { name: 'Download' }).isVisible()).toBe(true);
        await pressOn(page, page.getByLabel('I have saved the codes somewhere safe'), 'Space');
        await pressOn(page, page.getByRole('button', { name: 'Continue' }), 'Enter');
        await page.locator('#wpadminbar').waitFor();
      }));

    it('which accepts a backup code instead of an app code', () =>
      inNewBrowser(javaScriptEnabled, async (page) => {
        await logInByKeyboard(page, stack, editor);
        await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
        await expectGood(page, 'two-factor-challenge', javaScriptEnabled);
        await expectFocus(page.getByLabel('Code', { exact: true }));
        await pressOn(page, page.getByRole('link', { name: 'Use a back-up code' }), 'Enter');
        const field = page.getByLabel('Back-up code', { exact: true });
        await expectFocus(field);
        await page.keyboard.type('0000 0000');
        await page.keyboard.press('Enter');
        await page.locator('#code-error').waitFor();
        await expectFocus(field);
        await expectGood(page, 'two-factor-wrong', javaScriptEnabled);
        await typeAnew(page, backUpCodes[0] ?? '');
        await page.keyboard.press('Enter');
        await page.locator('#wpadminbar').waitFor();
      }));
  });
});
