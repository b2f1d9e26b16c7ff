import { serverMessage } from '@security-optimizer/contract/server-messages';
import { walkBlock } from './walk-activity-log.js';
import type { Walker } from './walker.js';

/** Get the Most of This Plugin: opens automatically, and only an answer closes it. */
export async function walkConsent(walker: Walker): Promise<void> {
  const dialog = walker.dialog('Get the Most of This Plugin');
  await walker.open('security-optimizer', dialog);
  await walker.checkScreen('Get the Most of This Plugin', '.so-portal');
}

/** The Security Dashboard: its sections, the list of changes, and its states without steps or data. */
export async function walkDashboard(walker: Walker): Promise<void> {
  const { page, translate } = walker;
  const table = page.getByRole('table');
  await walker.answering('/notifications', withNotifications, async () => {
    await walker.open('security-optimizer', table);
    await page.getByRole('heading', { name: translate('Important Notifications') }).waitFor();
  });
  await page.locator('.so-rate').waitFor();
  await page.locator('.so-ebook').waitFor();
  await page.locator('.so-chart').waitFor();
  await walker.checkScreen('Security Dashboard');
  await walkBlock(walker);

  const registered = page.getByRole('tab', { name: translate('Registered'), exact: true });
  await walker.press(page.getByRole('tab', { selected: true }), 'End');
  await walker.hasFocus(registered);
  await page.getByRole('table', { name: translate('Registered Users Activity') }).waitFor();
  await walker.checkScreen('Security Dashboard, activity of registered users');

  const apply = walker.button('Apply all recommended');
  await walker.press(apply);
  const dialog = walker.dialog('Apply all recommended');
  await dialog.waitFor();
  await walker.checkScreen('Apply all recommended');
  await page.keyboard.press('Enter');
  await dialog.getByText(translate('This field is required.')).first().waitFor();
  await walker.checkScreen('Apply all recommended, with faults');
  await walker.closes(apply, dialog, 'Apply all recommended');

  await walker.failing('/disable-', async () => {
    await walker.press(
      page.getByRole('button', { name: translate('Turn on: %s', translate('Disable XML-RPC')), exact: true }),
    );
    await page.locator('.so-next [role="alert"]').waitFor();
    await walker.checkScreen('Security Dashboard, a step that failed');
  });
  const nothing = page.getByText(translate('Nothing was found')).first();
  const empty = { data: { entries: [], filters: [], page: 1, pages: 1 }, message: '', status: 200 };
  await walker.answering(
    '/activity-unknown',
    () => empty,
    async () => {
      await walker.answering('/fetch-options', withEverythingOn, async () => {
        await walker.open('security-optimizer', nothing);
        await page.getByText(translate('Nothing left to do')).waitFor();
        await walker.checkScreen('Security Dashboard, nothing left to do');
      });
    },
  );
  await walker.failing(null, async () => {
    await walker.open('security-optimizer', walker.button('Try again'));
    await walker.checkScreen('Security Dashboard, nothing to be read');
  });
}

/** Recommendations for a site with outdated plugins and editable code. */
function withNotifications(real: object): unknown {
  const link = { button_link: 'https://example.com/wp-admin/update-core.php', button_text: 'Review updates' };
  const text = 'Updates close known security holes.';
  const version = serverMessage('wordpress_available', { version: '6.6' });
  const plugins = serverMessage('plugins_outdated', { count: { inWords: 3 } });
  const texts = [version, plugins].map(({ code, params }, index) => ({ at: `/data/${index}/title`, code, params }));
  const data = [
    {
      id: 'core-update',
      level: 'danger',
      title: version.english,
      text,
      ...link,
    },
    {
      id: 'plugin-updates',
      level: 'warning',
      title: plugins.english,
      text,
      ...link,
    },
  ];
  return { ...real, data, texts };
}

/** The responses for both kinds of options with every essential on. */
function withEverythingOn({ data, ...rest }: { readonly data: Readonly<Record<string, unknown>> }): unknown {
  const flags = Object.entries(data).map(([name, value]) => [name, value === 0 ? 1 : value]);
  const url = Array.isArray(data.login_url)
    ? data.login_url.map((entry: { type: string }) => ({ ...entry, selected: entry.type === 'custom' ? 1 : 0 }))
    : undefined;
  // Two-factor counts once everybody has set it up.
  const users = data.two_factor_users as
    | { total: number; set_up: number; users: { set_up: number }[] }
    | null
    | undefined;
  const two_factor_users = users && {
    ...users,
    set_up: users.total,
    users: users.users.map((user) => ({ ...user, set_up: 1 })),
  };
  const lists = { ...(url === undefined ? {} : { login_url: url }), ...(users ? { two_factor_users } : {}) };
  return { ...rest, data: { ...Object.fromEntries(flags), ...lists } };
}
