import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectFocus, pressOn, tabTo, typeAnew } from '../../browser/keyboard.js';
import { logIn } from '../../http/session.js';
import { until } from '../../stacks/until.js';
import { runInWordPress } from '../../stacks/wordpress.js';
import { sendFrom } from '../login/helpers.js';
import { expectLayout, ownerSuite } from './helpers.js';

const ANONYMOUS = '127.0.56.1';
const REQUIRED = 'This field is required.';
/** Delay of a validation message while typing, milliseconds (specification section 5). */
const PAUSE = 500;

ownerSuite('the dialogs of Login Security, by keyboard', (owner) => {
  const { stack } = owner;
  const visit = async (target: string) => sendFrom(stack, ANONYMOUS, { target });

  beforeAll(async () => {
    await runInWordPress(stack, "update_option( 'users_can_register', 1 );");
  });
  afterAll(async () => {
    await runInWordPress(stack, "update_option( 'users_can_register', 0 );");
    await owner.set('/custom-login-url', { type: 'default', login: '', signup: '' });
    await owner.set('/login-access', []);
    await owner.set('/disable-admin-username', { disable_usernames: 1 });
  });

  it('move the login to a custom URL, and back', async () => {
    const { page } = owner;
    await owner.open();
    const opener = owner.configure('url');
    const dialog = await owner.openDialog('url');
    await expectFocus(dialog.getByRole('radio', { name: /^Default/ }));
    await page.keyboard.press('ArrowDown');
    await dialog.getByText('Change the signup URL as well.').waitFor();
    const login = dialog.getByLabel('Login URL');
    const signup = dialog.getByLabel('Signup URL');
    await tabTo(page, login);
    for (const [typed, message] of [
      ['', REQUIRED],
      ['team door', 'Invalid format.'],
      ['ab', 'Use 3 to 64 characters.'],
    ] as const) {
      await typeAnew(page, typed);
      await page.keyboard.press('Enter');
      await dialog.getByText(message, { exact: true }).first().waitFor();
      await expectFocus(login);
    }
    await expectLayout(page, 'login-url-wrong');
    // Only the server knows that WordPress has a page at this path.
    await typeAnew(page, 'sample-page');
    await tabTo(page, signup);
    await typeAnew(page, 'team-join');
    await page.keyboard.press('Enter');
    await dialog.getByText('This address is taken by').waitFor();
    await expectFocus(login);
    await typeAnew(page, 'team-door');
    await expectLayout(page, 'login-url-custom');
    await page.keyboard.press('Enter');
    await owner.isBackAt(opener, dialog);

    expect((await visit('/wp-login.php')).status).toBe(404);
    expect((await visit('/team-door')).body).toContain('id="loginform"');
    expect((await visit('/team-join')).body).toContain('id="registerform"');

    await owner.openDialog('url');
    await expectFocus(dialog.getByRole('radio', { name: /^Custom/ }));
    await page.keyboard.press('ArrowUp');
    await dialog.getByText('Change the signup URL as well.').waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    expect(await login.inputValue()).toBe('team-door');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await owner.isBackAt(opener, dialog);
    expect((await visit('/wp-login.php')).status).toBe(200);
    expect((await visit('/team-door')).status).toBe(404);
  });

  it('ask before changes are discarded', async () => {
    const { page } = owner;
    await owner.open();
    const dialog = await owner.openDialog('access');
    await page.keyboard.type('203.0.113.10');
    const question = page.getByRole('alertdialog', { name: 'Discard your changes?' });
    await page.keyboard.press('Escape');
    await expectFocus(owner.button('Keep editing'));
    await expectLayout(page, 'discard');
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    const field = dialog.getByLabel('IP address 1');
    await expectFocus(field);
    expect(await field.inputValue()).toBe('203.0.113.10');
    await page.keyboard.press('Escape');
    await pressOn(page, owner.button('Discard changes'), 'Enter');
    await owner.isBackAt(owner.configure('access'), dialog);
    expect(owner.calls).toEqual([]);
  });

  it('let only listed addresses log in, and warn before the owner is locked out', async () => {
    const { page } = owner;
    await owner.open();
    const opener = owner.configure('access');
    const dialog = await owner.openDialog('access');
    const first = dialog.getByLabel('IP address 1');
    await expectFocus(first);
    // Longer than the delay in total, but each key restarts it.
    await page.keyboard.type('my-hous', { delay: 100 });
    const typed = Date.now();
    await page.keyboard.type('e');
    await dialog.getByText('Invalid format.').waitFor();
    expect(Date.now() - typed).toBeGreaterThanOrEqual(PAUSE);
    expect(await first.getAttribute('aria-invalid')).toBe('true');
    await typeAnew(page, '203.0.113.10');
    await dialog.getByText('Invalid format.').waitFor({ state: 'detached' });
    await dialog.getByText('Your own address is not on the list.').waitFor();
    await expectLayout(page, 'login-access');

    await page.keyboard.press('Enter');
    const question = page.getByRole('alertdialog', { name: 'Shut yourself out?' });
    await question.waitFor();
    await expectFocus(owner.button('Go back'));
    await expectLayout(page, 'shut-out');
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    expect(owner.calls).toEqual([]);

    await pressOn(page, owner.button('Add 127.0.0.1'), 'Enter', 'Shift+Tab');
    await expectFocus(dialog.getByLabel('IP address 2'));
    await dialog.getByText('Your own address is not on the list.').waitFor({ state: 'detached' });
    await pressOn(page, owner.button('Add another'), 'Enter');
    await expectFocus(dialog.getByLabel('IP address 3'));
    await page.keyboard.type('198.51.100.*');
    await pressOn(page, owner.button('Remove 203.0.113.10'), 'Enter', 'Shift+Tab');
    await expectFocus(first);
    await page.keyboard.press('Enter');
    await owner.isBackAt(opener, dialog);
    expect((await owner.options()).login_access).toEqual(['127.0.0.1', '198.51.100.*']);
    await page.getByText('2 addresses', { exact: true }).waitFor();
    expect((await visit('/wp-login.php')).status).toBe(403);
    expect((await sendFrom(stack, '127.0.0.1', { target: '/wp-login.php' })).status).toBe(200);

    await owner.openDialog('access');
    await pressOn(page, owner.button('Remove 198.51.100.*'), 'Enter');
    await pressOn(page, owner.button('Remove 127.0.0.1'), 'Enter');
    await owner.button('Remove this row').waitFor();
    await expectFocus(first);
    expect(await first.inputValue()).toBe('');
    expect(await dialog.getByRole('textbox').count()).toBe(1);
    await page.keyboard.press('Enter');
    await owner.isBackAt(opener, dialog);
    expect((await visit('/wp-login.php')).status).toBe(200);
  });

  it('lock the owner out after a confirmation', async () => {
    const { page } = owner;
    await owner.open();
    await owner.openDialog('access');
    await page.keyboard.type('203.0.113.10');
    await page.keyboard.press('Enter');
    await pressOn(page, owner.button('Save and shut me out'), 'Enter');
    // It is no longer found by role once the confirmation covers it.
    await page.locator('.so-dialog').first().waitFor({ state: 'detached' });
    try {
      expect((await page.goto(`${stack.url}/wp-admin/`))?.status()).toBe(403);
    } finally {
      await owner.set('/login-access', []);
    }
  });

  it('rename administrators with a common name before such names are forbidden', async () => {
    const { page } = owner;
    const forget = `require_once ABSPATH . 'wp-admin/includes/user.php';
      foreach ( array( 'admin', 'administrator', 'site-keeper', 'second-keeper' ) as $login ) {
        $user = get_user_by( 'login', $login );
        if ( $user ) { wp_delete_user( $user->ID, 1 ); }
      }`;
    await owner.set('/disable-admin-username', { disable_usernames: 0 });
    await runInWordPress(
      stack,
      `${forget} foreach ( array( 'admin', 'administrator' ) as $login ) {
        wp_insert_user( array( 'user_login' => $login, 'user_pass' => '${stack.password}', 'user_email' => "$login@example.com", 'role' => 'administrator' ) );
      }`,
    );
    try {
      await owner.open();
      const control = owner.getSwitch('usernames');
      // An open dialog hides the page behind it from roles.
      const behind = await control.elementHandle();
      await pressOn(page, control, 'Space');
      const dialog = await owner.dialog('Change Common Usernames');
      expect(owner.calls).toEqual([]);
      expect(await behind?.getAttribute('aria-checked')).toBe('false');
      await page.keyboard.press('Escape');
      await owner.isBackAt(control, dialog);

      await page.keyboard.press('Space');
      const first = dialog.getByLabel('New username for admin', { exact: true });
      await expectFocus(first);
      for (const [typed, message] of [
        ['', REQUIRED],
        ['site!keeper', 'Invalid format.'],
        [stack.user, `Username ${stack.user} already exists.`],
        ['User1', 'Username User1 is not allowed.'],
      ] as const) {
        await typeAnew(page, typed);
        await page.keyboard.press('Enter');
        await dialog.getByText(message, { exact: true }).first().waitFor();
        await expectFocus(first);
      }
      await typeAnew(page, 'site-keeper');
      const second = dialog.getByLabel('New username for administrator', { exact: true });
      await tabTo(page, second);
      await page.keyboard.type('site-keeper');
      await dialog.getByText('Username site-keeper already typed.', { exact: true }).waitFor();
      await expectLayout(page, 'usernames');
      expect(owner.calls).toEqual([]);
      await typeAnew(page, 'second-keeper');
      await page.keyboard.press('Enter');
      await owner.isBackAt(control, dialog);
      expect(await control.getAttribute('aria-checked')).toBe('true');
      await until('the options are fetched again', () => owner.calls.includes('/fetch-options'));
      expect(owner.calls).toEqual(['/disable-admin-username', '/fetch-options']);
      expect((await logIn(stack, 'site-keeper')).cookie).toContain('site-keeper');
      await expect(logIn(stack, 'admin')).rejects.toThrow('admin could not log in');
    } finally {
      await runInWordPress(stack, forget);
    }
  });
});
