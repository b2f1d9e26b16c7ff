import { afterAll, expect, it } from 'vitest';
import { expectFocus, pressOn, tabTo } from '../../browser/keyboard.js';
import { until } from '../../stacks/until.js';
import { loginForm, recover, sendFrom } from '../login/helpers.js';
import { expectLayout, ownerSuite } from './helpers.js';

const ANONYMOUS = '127.0.58.1';

ownerSuite('the rows of Login Security, by keyboard', (owner) => {
  const { stack } = owner;

  afterAll(async () => {
    await owner.set('/limit-login-attempts', { login_attempts: 5 });
    await owner.set('/disable-admin-username', { disable_usernames: 1 });
    await recover(stack, 'unblock', '--all');
  });

  it('have the right layout', async () => {
    const { page } = owner;
    await owner.open();
    await page.getByText('2 of 4 essentials on').waitFor();
    await expectLayout(page, 'login-security');
  });

  it('set after how many wrong passwords an address is locked out', async () => {
    const { page } = owner;
    await owner.open();
    const select = page.getByRole('combobox', { name: 'Limit Login Attempts' });
    const choose = async (key: string, value: number, text: string) => {
      for (const one of ['Enter', key, 'Enter']) await page.keyboard.press(one);
      await until(`${value} is stored`, async () =>
        (await owner.options()).login_attempts.some((item) => item.value === value && item.selected === 1),
      );
      await page.getByText('Saving…').waitFor({ state: 'detached' });
      await expectFocus(select);
      expect(await select.textContent()).toBe(text);
    };
    const guess = async () => (await sendFrom(stack, ANONYMOUS, loginForm('nobody-here', 'wrong'))).status;
    await tabTo(page, select);
    expect(await select.textContent()).toBe('5 attempts');
    await choose('ArrowUp', 3, '3 attempts');
    expect([await guess(), await guess(), await guess(), await guess()]).toEqual([200, 200, 200, 429]);
    await choose('ArrowUp', 0, 'OFF');
    await page.getByText('1 of 4 essentials on').waitFor();
    expect(await page.getByText('recommended', { exact: true }).count()).toBe(3);
    expect(await guess()).toBe(200);
    await choose('End', 5, '5 attempts');
  });

  it('have a list that can be opened, read and closed without a change by keyboard alone', async () => {
    const { page } = owner;
    await owner.open();
    const select = page.getByRole('combobox', { name: 'Limit Login Attempts' });
    const list = page.getByRole('listbox');
    await tabTo(page, select);
    await page.keyboard.press('ArrowDown');
    expect(await list.getByRole('option').allTextContents()).toEqual(['OFF', '3 attempts', '5 attempts']);
    for (const height of await list.getByRole('option').evaluateAll((all) => all.map((one) => one.clientHeight)))
      expect(height).toBe(40);
    await expectLayout(page, 'login-attempts-open');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.press('Home');
    const active = await select.getAttribute('aria-activedescendant');
    expect(await page.locator(`[id="${active}"]`).textContent()).toBe('OFF');
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await expectFocus(select);
    expect(await select.textContent()).toBe('5 attempts');
    expect(owner.calls).not.toContain('/limit-login-attempts');
  });

  it('turn the ban on common usernames off and on', async () => {
    const { page } = owner;
    await owner.open();
    const control = owner.getSwitch('usernames');
    for (const [key, value] of [
      ['Space', 0],
      ['Enter', 1],
    ] as const) {
      await pressOn(page, control, key);
      await until('it is stored', async () => (await owner.options()).disable_usernames === value);
      await until('it is shown', async () => (await control.getAttribute('aria-checked')) === String(value === 1));
      await until('nothing is under way', async () => (await control.getAttribute('aria-busy')) === null);
      await expectFocus(control);
    }
  });
});
