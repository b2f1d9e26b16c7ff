import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { expectFocus, pressOn, tabTo } from '../../browser/keyboard.js';
import { until } from '../../stacks/until.js';
import { recover, totpCode, totpStep } from '../login/helpers.js';
import { expectLayout, logInByKeyboard, ownerSuite } from './helpers.js';

ownerSuite('the second factor of the owner, by keyboard', (owner) => {
  const { stack } = owner;
  let key = '';

  afterAll(async () => {
    await owner.set('/2fa', { sg2fa: 0 });
    await recover(stack, 'two-factor', 'reset', stack.user).catch(() => undefined);
  });

  /** Runs `look` in a new browser, where the owner needs the second factor. */
  async function inAnotherBrowser(check: (page: Page) => Promise<void>): Promise<void> {
    const window = await owner.browser.newContext({ viewport: { width: 1440, height: 900 } });
    try {
      await check(await window.newPage());
    } finally {
      await window.close();
    }
  }

  it('is set up as soon as it is turned on', async () => {
    const { page } = owner;
    await owner.open();
    await pressOn(page, owner.getSwitch('twoFactor'), 'Space');
    const question = await owner.dialog('Turn on two-factor');
    await question.getByText(`${stack.user} (You)`).waitFor();
    await expectLayout(page, 'two-factor-on');
    // This site can't send mails.
    const reminderCheckbox = question.getByRole('checkbox');
    if ((await reminderCheckbox.count()) > 0) await page.keyboard.press('Space');
    await pressOn(page, question.getByRole('button', { name: /^Turn on/ }), 'Enter');
    await page.getByRole('heading', { name: 'Set up two-factor authentication' }).waitFor();
    expect((await owner.options()).sg2fa).toBe(1);
    key = await page.locator('.so-secret code').innerText();
    await tabTo(page, page.getByLabel('Code', { exact: true }));
    await page.keyboard.type(totpCode(key));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Save your back-up codes' }).waitFor();
    await pressOn(page, page.getByLabel('I have saved the codes somewhere safe'), 'Space');
    await pressOn(page, owner.button('Continue'), 'Enter');
    await page.waitForURL(/page=login-settings/);
    await owner.button('Reset it for a user').waitFor();
    expect(await owner.getSwitch('twoFactor').getAttribute('aria-checked')).toBe('true');
    await expectLayout(page, 'login-security-two-factor');
  });

  it('asks for a code after the right password', () =>
    inAnotherBrowser(async (page) => {
      await logInByKeyboard(page, stack, stack.user);
      await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
      await expectFocus(page.getByLabel('Code', { exact: true }));
      // The code of the next step, since the set-up has used the present one.
      await page.keyboard.type(totpCode(key, totpStep() + 1));
      await page.keyboard.press('Enter');
      await page.locator('#wpadminbar').waitFor();
    }));

  it('allows application passwords if the owner chooses so', async () => {
    const { page } = owner;
    await owner.open();
    const control = page.getByRole('switch', { name: 'Application Passwords', exact: true });
    await pressOn(page, control, 'Space');
    await until('it is stored', async () => (await owner.options()).two_factor_app_passwords === 1);
    await until('nothing is under way', async () => (await control.getAttribute('aria-busy')) === null);
    await page.keyboard.press('Space');
    await until('it is stored', async () => (await owner.options()).two_factor_app_passwords === 0);
  });

  it('can be reset for a user who lost the phone', async () => {
    const { page } = owner;
    await owner.open();
    const opener = owner.button('Reset it for a user');
    await pressOn(page, opener, 'Enter');
    const dialog = await owner.dialog('Reset 2-factor Authentication');
    const select = dialog.getByLabel('User');
    await expectFocus(select);
    await pressOn(page, dialog.getByRole('button', { name: 'Reset', exact: true }), 'Enter');
    await dialog.getByText('This field is required.').waitFor();
    await expectFocus(select);
    await expectLayout(page, 'reset-2fa-wrong');
    await page.keyboard.press('ArrowDown');
    await expectLayout(page, 'reset-2fa-open');
    // Escape closes the list, but not the dialog around it.
    await page.keyboard.press('Escape');
    await expectFocus(select);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await dialog.getByText(`The old codes of ${stack.user} stop working at once.`).waitFor();
    await expectLayout(page, 'reset-2fa');
    await pressOn(page, dialog.getByRole('button', { name: 'Reset', exact: true }), 'Enter');
    await owner.isBackAt(opener, dialog);
    expect((await owner.options()).reset_2fa).toEqual([]);
    await page.keyboard.press('Enter');
    await dialog.getByText('Nothing was found').waitFor();
    await expectLayout(page, 'reset-2fa-nobody');
    await page.keyboard.press('Escape');
    await owner.isBackAt(opener, dialog);
    await inAnotherBrowser(async (other) => {
      await logInByKeyboard(other, stack, stack.user);
      await other.getByRole('heading', { name: 'Set up two-factor authentication' }).waitFor();
      expect(await other.locator('.so-secret code').innerText()).not.toBe(key);
    });
  });
});
