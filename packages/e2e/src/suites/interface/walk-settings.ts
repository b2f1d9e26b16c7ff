import type { Walker } from './walker.js';

/** Site Security: its rows, a successful change, a failed change, and the states without rows. */
export async function walkSiteSecurity(walker: Walker): Promise<void> {
  const { page } = walker;
  const rows = page.getByRole('switch');
  await walker.open('site-security', rows);
  await walker.checkScreen('Site Security');
  await walker.failing('/xss-protection', async () => {
    await walker.press(
      page.getByRole('switch', { name: walker.translate('Advanced XSS Protection'), exact: true }),
      'Space',
    );
    await page.getByRole('alert').filter({ visible: true }).first().waitFor();
    await walker.checkScreen('Site Security, a change that failed');
  });
  await walker.failing(null, async () => {
    await walker.open('site-security', walker.button('Try again'));
    await walker.checkScreen('Site Security, nothing to be read');
  });
}

/** Login Security: its rows and its dialogs. Nothing is saved. */
export async function walkLoginSecurity(walker: Walker): Promise<void> {
  const { page, translate } = walker;
  const configure = (row: string) => walker.button('Configure: %s', translate(row));
  const close = async (opener: ReturnType<typeof configure>) => {
    const question = walker.dialog('Discard your changes?', 'alertdialog');
    await page.keyboard.press('Escape');
    await question.waitFor();
    await walker.checkScreen('Login Security, asked before changes are lost');
    await walker.press(walker.button('Discard changes'));
    await question.waitFor({ state: 'detached' });
    await walker.hasFocus(opener);
  };

  // The suite of each dialog runs axe.
  walker.axe = false;
  await walker.open('login-settings', configure('Away Mode'));
  await walker.checkScreen('Login Security');

  const url = configure('Custom Login URL');
  await walker.press(url);
  await walker.dialog('Configure Login URL').waitFor();
  await walker.checkScreen('Configure Login URL');
  await page.keyboard.press('ArrowDown');
  const address = page.getByRole('textbox', { name: translate('Login URL'), exact: true });
  await address.fill('');
  await page.keyboard.press('Enter');
  await page.getByText(translate('This field is required.')).first().waitFor();
  await walker.checkScreen('Configure Login URL, another address, with faults');
  await address.fill('team-door');
  await close(url);

  const access = configure('Login Access');
  await walker.press(access);
  await walker.dialog('Manage Login Access').waitFor();
  await walker.checkScreen('Manage Login Access');
  await page.keyboard.type('203.0.113.10');
  await page.getByText(translate('Your own address is not on the list.')).waitFor();
  await walker.checkScreen('Manage Login Access, without the own address');
  await page.keyboard.press('Enter');
  const confirmation = walker.dialog('Shut yourself out?', 'alertdialog');
  await confirmation.waitFor();
  await walker.checkScreen('Shut yourself out?');
  await page.keyboard.press('Escape');
  await confirmation.waitFor({ state: 'detached' });
  await page.getByLabel(translate('IP address %d', '1'), { exact: true }).fill('my house');
  await page.keyboard.press('Enter');
  await page.getByText(translate('Invalid format. Check “{name}”.').replace('{name}', 'my')).waitFor();
  await walker.checkScreen('Manage Login Access, with a fault');
  await close(access);

  await walkAwayMode(walker, configure('Away Mode'), close);
}

type Close = (opener: ReturnType<Walker['button']>) => Promise<void>;

async function walkAwayMode(walker: Walker, opener: ReturnType<Walker['button']>, close: Close): Promise<void> {
  const { page, translate } = walker;
  const dialog = walker.dialog('Configure Away Mode');
  const choose = async (type: string) => {
    await walker.press(page.getByRole('radio', { name: translate(type), exact: true }), 'Space');
  };
  const field = (label: string) => dialog.getByRole('combobox', { name: translate(label), exact: true });
  await walker.press(opener);
  await dialog.waitFor();
  await choose('Specific Period');
  await page.keyboard.press('Tab');
  await walker.opens(field('From'), walker.dialog('Choose a day'), 'Away Mode, a day to choose');
  for (const label of ['From', 'To']) {
    await walker.press(field(label));
    await walker.dialog('Choose a day').waitFor();
    if (label === 'To') await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await walker.dialog('Choose a day').waitFor({ state: 'detached' });
  }
  await walker.checkScreen('Away Mode, a period that begins today');

  await choose('Weekly');
  const days = dialog.locator('.so-day');
  for (const day of await days.all()) await walker.press(day, 'Space');
  await page.getByText(translate("You can't enable Away Mode for every day of the week.")).waitFor();
  await walker.checkScreen('Away Mode, every day of the week');

  await choose('Daily');
  await walker.checkScreen('Away Mode, no hours yet');
  for (const label of ['From', 'To']) {
    await walker.press(field(label));
    await walker.dialog('Choose a time').waitFor();
    await page.keyboard.press(label === 'From' ? 'End' : 'ArrowDown');
    if (label === 'From') await walker.checkScreen('Away Mode, a time to choose');
    await page.keyboard.press('Enter');
    await walker.dialog('Choose a time').waitFor({ state: 'detached' });
  }
  await walker.checkScreen('Away Mode, some hours');
  await close(opener);
}

/** Login Security in rare states: a second factor, common usernames, and options that can't be loaded. */
export async function walkRareLogin(walker: Walker): Promise<void> {
  await walkSecondFactor(walker, walker.button('Configure: %s', walker.translate('Away Mode')));
  await walker.failing(null, async () => {
    await walker.open('login-settings', walker.button('Try again'));
    await walker.checkScreen('Login Security, nothing to be read');
  });
}

/** Turning the second factor on would end all sessions, so these states are simulated. */
async function walkSecondFactor(walker: Walker, ready: ReturnType<Walker['button']>): Promise<void> {
  const { page, translate } = walker;
  const users = {
    all_users: [{ user_login: 'owner' }],
    admin_matches: [
      { ID: 7, user_login: 'admin' },
      { ID: 8, user_login: 'administrator' },
    ],
  };
  const schedule = { type: 'weekly', weekly: ['saturday', 'sunday'] };
  const answer = ({ data, ...rest }: { data: { away_mode: object } }) => ({
    ...rest,
    data: {
      ...data,
      sg2fa: 1,
      reset_2fa: [{ ID: 2, user_login: 'an-editor' }],
      usernames_data: users,
      disable_usernames: 1,
      login_access: ['192.0.2.1', '198.51.100.*'],
      away_mode: { ...data.away_mode, schedule },
    },
  });
  await walker.answering('/fetch-options', answer, async () => {
    await walker.open('login-settings', ready);
    await walker.checkScreen('Login Security, with a second factor and common usernames');
    const reset = page.getByRole('button', { name: translate('Reset it for a user'), exact: true });
    await walker.opens(reset, walker.dialog('Reset 2-factor Authentication'), 'Reset 2-factor Authentication');
    const rename = page.getByRole('button', { name: renameText(walker), exact: true });
    await walker.opens(rename, walker.dialog('Change Common Usernames'), 'Change Common Usernames', async (dialog) => {
      await page.keyboard.press('Enter');
      await dialog.getByText(translate('This field is required.')).first().waitFor();
      await walker.checkScreen('Change Common Usernames, with faults');
    });
  });
}

/** “Rename 2 users”: the catalogue lists it under its singular. */
function renameText({ language }: Walker): string {
  return language.translatePlural('Rename %d user', 2);
}
