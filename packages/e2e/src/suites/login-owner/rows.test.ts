import { afterAll, expect, it } from 'vitest';
import { expectFocus, pressOn, tabTo } from '../../browser/keyboard.js';
import { until } from '../../stacks/until.js';
import { askFrom, loginForm, recover } from '../login/visitors.js';
import { asOwner, looksRight } from './as-owner.js';

const STRANGER = '127.0.1.43';

asOwner('the rows of Login Security by keyboard', (owner) => {
  const { stack } = owner;

  afterAll(async () => {
    await owner.set('/limit-login-attempts', { login_attempts: 5 });
    await owner.set('/disable-admin-username', { disable_usernames: 1 });
    await recover(stack, 'unblock', '--all');
  });

  it('look right', async () => {
    const { page } = owner;
    await owner.open();
    await page.getByText('2 of 4 essentials on').waitFor();
    await looksRight(page, 'login-security');
  });

  it('set after how many wrong passwords an address waits', async () => {
    const { page } = owner;
    await owner.open();
    const select = page.getByRole('combobox', { name: 'Limit Login Attempts' });
    const choose = async (key: string, value: number) => {
      await page.keyboard.press(key);
      await until(`${value} is stored`, async () =>
        (await owner.options()).login_attempts.some((item) => item.value === value && item.selected === 1),
      );
      await page.getByText('Saving…').waitFor({ state: 'detached' });
      await expectFocus(select);
      expect(await select.inputValue()).toBe(String(value));
    };
    const guess = async () => (await askFrom(stack, STRANGER, loginForm('nobody-here', 'wrong'))).status;
    await tabTo(page, select);
    expect(await select.evaluate((element: HTMLSelectElement) => element.selectedOptions[0]?.text)).toBe('5 attempts');
    await choose('ArrowUp', 3);
    expect([await guess(), await guess(), await guess(), await guess()]).toEqual([200, 200, 200, 429]);
    await choose('ArrowUp', 0);
    await page.getByText('1 of 4 essentials on').waitFor();
    expect(await page.getByText('recommended', { exact: true }).count()).toBe(3);
    expect(await guess()).toBe(200);
    await choose('End', 5);
  });

  it('switch the ban on common usernames off and on', async () => {
    const { page } = owner;
    await owner.open();
    const control = owner.switchOf('usernames');
    for (const [key, wanted] of [
      ['Space', 0],
      ['Enter', 1],
    ] as const) {
      await pressOn(page, control, key);
      await until('it is stored', async () => (await owner.options()).disable_usernames === wanted);
      await until('it is shown', async () => (await control.getAttribute('aria-checked')) === String(wanted === 1));
      await until('nothing is under way', async () => (await control.getAttribute('aria-busy')) === null);
      await expectFocus(control);
    }
  });
});
