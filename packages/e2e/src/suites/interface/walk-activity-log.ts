import { usersByRole } from '../../stacks/wordpress.js';
import { ATTACKERS, BLOCKED, VISITOR } from './sample-site.js';
import type { Walker } from './walker.js';

const getTable = (walker: Walker, name: string) =>
  walker.page
    .getByRole('table', { name: walker.translate(name), exact: true })
    .locator('tbody tr')
    .first();

/** The menu of a row, and the dialog that it opens. */
async function walkRow(walker: Walker, subject: string, callAction: string): Promise<void> {
  const { page, translate } = walker;
  const actions = page.getByRole('button', { name: translate('Actions for %s', subject), exact: true }).first();
  const item = page.getByRole('menuitem', { name: translate(callAction), exact: true });
  await walker.opens(actions, item, `the menu of a row for ${callAction}`);
  await walker.press(actions);
  // The item that blocks or unblocks comes before it if there is one.
  await walker.press(item);
  const dialog = walker.dialog(callAction);
  await dialog.locator('.so-pill').waitFor();
  await walker.checkScreen(callAction);
  await walker.closes(actions, dialog, callAction);
}

/** The button Block of an attacker in the panel, and its dialog. */
export async function walkBlock(walker: Walker): Promise<void> {
  const question = walker.page.getByRole('dialog', { name: walker.translate('Block %s', ATTACKERS), exact: true });
  await walker.opens(walker.button('Block %s', ATTACKERS), question, 'Block');
}

/** Unknown: the list, its dialogs, the empty state, and the disabled log. */
export async function walkUnknown(walker: Walker): Promise<void> {
  const { page, translate } = walker;
  await walker.open('activity-log', getTable(walker, 'Unknown Visitors Activity'));
  await page.locator('.so-chart').waitFor();
  await walker.checkScreen('Unknown');
  await walkBlock(walker);
  const rows = page.locator('.so-table--open tbody tr');
  const scan = rows.filter({ hasText: '/.git/config' }).first();
  await walker.opens(scan, page.locator('.so-drawer'), 'the details of a request', async (drawer) => {
    const choose = drawer.getByRole('button', { name: translate('Choose for how long'), exact: true });
    await walker.opens(choose, drawer.getByRole('menu'), 'the details of a request, for how long');
  });
  await walkRow(walker, VISITOR, 'Manage IP Traffic');
  await walker.press(walker.button('Select'));
  const box = page.getByRole('checkbox', { name: translate('Select %s', VISITOR), exact: true }).first();
  await walker.press(box, ' ');
  await walker.checkScreen('Unknown, choosing several');
  await walker.press(walker.button('Select'));
  const exports = walker.button('Export');
  await walker.opens(exports, page.getByRole('menuitem', { name: translate('Export as CSV') }), 'what can be exported');

  const filter = walker.button('Filter');
  await walker.opens(filter, walker.dialog('Filter'), 'the filters', async (panel) => {
    await walker.opens(
      panel.getByRole('combobox', { name: translate('From'), exact: true }),
      walker.dialog('Choose a day'),
      'the filters, a day to choose',
    );
    await walker.press(panel.getByRole('combobox', { name: translate('Visitor type'), exact: true }), 'ArrowDown');
    await panel.getByRole('option').first().waitFor();
    await walker.checkScreen('the filters, types to choose from');
    await page.keyboard.press('Escape');
    const address = panel.getByRole('combobox', { name: translate('IP address'), exact: true });
    await address.fill('my house');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await panel.getByText(translate('Invalid format. Check “{name}”.').replace('{name}', 'my')).waitFor();
    await walker.checkScreen('the filters, with a fault');
  });

  await walker.open('activity-log', getTable(walker, 'Unknown Visitors Activity'));
  await walker.press(filter);
  const panel = walker.dialog('Filter');
  await panel.getByRole('combobox', { name: translate('IP address'), exact: true }).fill('198.51.100.250');
  await walker.press(panel.getByRole('button', { name: translate('Apply'), exact: true }));
  await page.getByText(translate('Nothing was found')).waitFor();
  await walker.checkScreen('Unknown, nothing found with a filter');
  const hasNote = page.getByText(translate('The activity log is off.'));
  await walker.answering(
    '/fetch-options',
    (real: { data: object }) => ({ ...real, data: { ...real.data, disable_activity_log: 1 } }),
    async () => {
      await walker.open('activity-log', hasNote);
      await walker.checkScreen('Unknown, while the log is off');
    },
  );
}

/** Registered: the list and its dialogs. */
export async function walkRegistered(walker: Walker): Promise<void> {
  await walker.open('activity-log', getTable(walker, 'Registered Users Activity'), '#registered');
  await walker.checkScreen('Registered');
  const ofEditor = walker.page.locator('.so-table--open tbody tr').filter({ hasText: usersByRole.editor }).first();
  await walker.opens(ofEditor, walker.page.locator('.so-drawer'), 'the details of an event');
  await walkRow(walker, usersByRole.editor, 'Manage User Traffic');
  await walker.opens(walker.button('Filter'), walker.dialog('Filter'), 'the filters of registered users');
}

/** Blocked: the list, an error in its form, and the empty state. */
export async function walkBlocked(walker: Walker): Promise<void> {
  const { page, translate } = walker;
  await walker.open('activity-log', page.getByRole('button', { name: translate('Unblock %s', BLOCKED) }), '#blocked');
  await walker.checkScreen('Blocked');
  await walker.press(page.getByRole('button', { name: translate('Block'), exact: true }));
  await page.getByText(translate('This field is required.')).waitFor();
  await walker.checkScreen('Blocked, with a fault');
  const none = { data: { entries: [], filters: [], page: 1, pages: 1, total: 0 }, message: '', status: 200 };
  await walker.answering(
    '/blocked-users',
    () => none,
    async () => {
      await walker.open('activity-log', page.getByText(translate('Nobody is blocked at the moment.')), '#blocked');
      await walker.checkScreen('Blocked, nobody');
    },
  );
}

/** Weekly Reports: the recipients and their dialogs, the report, the alerts and their channels, and the full list. */
export async function walkWeekly(walker: Walker): Promise<void> {
  const { page, translate } = walker;
  const edit = page.getByRole('button', { name: translate('Edit %s', 'owner@example.com'), exact: true });
  await walker.open('activity-log', edit, '#weekly-reports');
  const channels = ['Webhook', 'Slack', 'System log'].map((title) => ({
    title,
    button: page.getByRole('button', {
      name: translate('%1$s: %2$s', translate('Configure'), translate(title)),
      exact: true,
    }),
  }));
  await channels[0]?.button.waitFor();
  await walker.checkScreen('Weekly Reports');
  for (const { title, button } of channels) await walker.opens(button, walker.dialog(title), title);
  await walker.press(walker.button('Create'));
  await page.getByText(translate('This field is required.')).waitFor();
  await walker.checkScreen('Weekly Reports, with a fault');
  await walker.opens(edit, walker.dialog('Edit Notification Email'), 'Edit Notification Email');
  const remove = page.getByRole('button', { name: translate('Delete %s', 'owner@example.com'), exact: true });
  const question = walker.dialog('Delete Notification Email', 'alertdialog');
  await walker.opens(remove, question, 'Delete Notification Email');
  // The mail and its subject use the language of the site.
  const withoutSubject = (real: { data: object }) => ({ ...real, data: { ...real.data, subject: '-' } });
  await walker.answering('/weekly-report-preview', withoutSubject, () =>
    walker.opens(walker.button('See an example'), page.locator('.so-dialog'), 'the report'),
  );
  const full = ({ data, ...rest }: { data: { entries: object[] } }) => ({ ...rest, data: { ...data, max_emails: 2 } });
  await walker.answering('/weekly-report', full, async () => {
    await walker.open('activity-log', edit, '#weekly-reports');
    await walker.checkScreen('Weekly Reports, all places taken');
  });
}

/** Log Settings, with enough days for a report and with fewer; and the page when loading fails. */
export async function walkLogSettings(walker: Walker): Promise<void> {
  const { page, translate } = walker;
  const days = page.getByRole('combobox', { name: translate('Days to keep'), exact: true });
  await walker.open('activity-log', days, '#log-settings');
  await walker.checkScreen('Log Settings');
  const few = ({ data, ...rest }: { data: { log_lifetime?: { value: number }[] } }) => ({
    ...rest,
    // The same call asks for the options of other pages.
    data: {
      ...data,
      log_lifetime: data.log_lifetime?.map((item) => ({ ...item, selected: item.value === 7 ? 1 : 0 })),
    },
  });
  await walker.answering('/fetch-options', few, async () => {
    await walker.open('activity-log', page.getByText(translate('Weekly reports are paused.')), '#log-settings');
    await walker.checkScreen('Log Settings, with few days');
  });
  await walker.failing(null, async () => {
    await walker.open('activity-log', walker.button('Try again'));
    await walker.checkScreen('Activity Log, nothing to be read');
  });
}
