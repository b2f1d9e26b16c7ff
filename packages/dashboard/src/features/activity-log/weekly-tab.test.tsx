import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { delivery } from '../../../test/fake-site/activity-log.js';
import { refused } from '../../../test/fake-site/server.js';
import { type FakeSite, startFakeSite } from '../../../test/fake-site/site.js';
import { openLog, tableTexts } from '../../../test/pages/activity-log.js';
import { toastTexts } from '../../../test/pages/open-page.js';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

const open = () => openLog(site, 'weekly-reports');
const field = () => screen.findByRole('textbox', { name: 'Add e-mail addresses' });
const chips = () => Array.from(document.querySelectorAll('.so-chip'), (chip) => chip.textContent);
const create = () => userEvent.click(screen.getByRole('button', { name: 'Create' }));
const lists = () => site.sent('/notification-emails').map(({ entries }) => entries);

describe('the recipients of the weekly report', () => {
  it('are listed, with the number of used places', async () => {
    await open();
    expect((await tableTexts('Recipients')).map(([email]) => email)).toEqual([
      'Email',
      'owner@example.com',
      'agency@example.net',
    ]);
    expect(screen.getByText('2 of 5 used')).toBeDefined();
  });

  it('include those that another tab has added once the page is visible again', async () => {
    await open();
    const input = await field();
    site.log.emails = ['owner@example.com', 'elsewhere@example.com', 'agency@example.net'];
    fireEvent(document, new Event('visibilitychange', { bubbles: true }));
    await screen.findByText('3 of 5 used');
    await userEvent.type(input, 'a@example.com');
    await create();
    await waitFor(() => expect(lists()).toHaveLength(1));
    expect(site.log.emails).toEqual([
      'owner@example.com',
      'elsewhere@example.com',
      'agency@example.net',
      'a@example.com',
    ]);
  });

  it('are added several at a time: split, lower-cased, without brackets, and unique', async () => {
    await open();
    await userEvent.type(await field(), 'A@Example.com b@example.com,');
    fireEvent.paste(await field(), { clipboardData: { getData: () => '<C@example.com>, a@example.com\n' } });
    expect(chips()).toEqual(['a@example.com', 'b@example.com', 'c@example.com']);
    await create();
    await waitFor(() =>
      expect(lists()).toEqual([
        ['owner@example.com', 'agency@example.net', 'a@example.com', 'b@example.com', 'c@example.com'],
      ]),
    );
    expect(await screen.findByText('5 of 5 used')).toBeDefined();
    await waitFor(() => expect(chips()).toEqual([]));
    await waitFor(() => expect(toastTexts()).toEqual(['The list is saved.']));
  });

  it('can start with the reader’s own address by one click', async () => {
    site.log.emails = [];
    await openLog(site, 'weekly-reports', { user_email: 'Owner@example.com' });
    await userEvent.click(await screen.findByRole('button', { name: 'Use my address, owner@example.com' }));
    expect(chips()).toEqual(['owner@example.com']);
    expect(document.activeElement).toBe(await field());
    expect(screen.queryByRole('button', { name: /^Use my address/ })).toBeNull();
    await create();
    await waitFor(() => expect(lists()).toEqual([['owner@example.com']]));
  });

  it('need no separator at the end, and Enter alone adds them', async () => {
    await open();
    await userEvent.type(await field(), 'a@example.com{Enter}{Enter}');
    await waitFor(() => expect(lists()).toHaveLength(1));
    expect(lists()[0]).toContain('a@example.com');
  });

  it.each([
    ['', 'This field is required.'],
    ['bad ', 'Invalid email address.'],
    ['OWNER@example.com ', 'Email owner@example.com already exists.'],
    ['a@example.com b@example.com c@example.com d@example.com ', 'Only 3 places are left.'],
  ])('are refused for %j', async (text, message) => {
    await open();
    if (text !== '') await userEvent.type(await field(), text);
    else await field();
    await create();
    expect((await within(screen.getByRole('tabpanel')).findByRole('alert')).textContent).toBe(message);
    expect(document.activeElement).toBe(await field());
    expect(lists()).toEqual([]);
  });

  it('show an error half a second after typing, and mark the invalid one', async () => {
    await open();
    await userEvent.type(await field(), 'bad good@example.com ');
    expect(within(screen.getByRole('tabpanel')).queryByRole('alert')).toBeNull();
    expect((await within(screen.getByRole('tabpanel')).findByRole('alert')).textContent).toBe('Invalid email address.');
    expect(Array.from(document.querySelectorAll('.so-chip.is-bad'), (chip) => chip.textContent)).toEqual(['bad']);
    await userEvent.click(screen.getByRole('button', { name: 'Remove bad' }));
    expect(within(screen.getByRole('tabpanel')).queryByRole('alert')).toBeNull();
    expect(document.activeElement).toBe(await field());
  });

  it('are removed with Backspace: the first press focuses the last one, the second removes it', async () => {
    await open();
    await userEvent.type(await field(), 'a@example.com b@example.com ');
    await userEvent.keyboard('{Backspace}');
    await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Remove b@example.com'));
    await userEvent.keyboard('{Backspace}');
    expect(chips()).toEqual(['a@example.com']);
  });

  it('continue in the field when a key is typed on a chip', async () => {
    await open();
    await userEvent.type(await field(), 'a@example.com ');
    await userEvent.keyboard('{Backspace}');
    await userEvent.keyboard('b@');
    expect(((await field()) as HTMLInputElement).value).toBe('b@');
    expect(chips()).toEqual(['a@example.com']);
  });

  it('cannot be added once all places are used, and a note says so', async () => {
    site.log.maxEmails = 2;
    await open();
    expect(await screen.findByText('All 2 places are taken. Delete one to add another.')).toBeDefined();
    expect((screen.getByRole('button', { name: 'Create' }) as HTMLButtonElement).disabled).toBe(true);
    expect(((await field()) as HTMLInputElement).disabled).toBe(true);
  });

  it('keep the typed text if the server refuses it, with its message at the field', async () => {
    const response = {
      data: null,
      code: 'invalid_input',
      message: 'Check it.',
      status: 400,
      fields: { 2: 'Invalid email address.' },
    };
    site.replies.set('/notification-emails', () => ({ status: 400, body: response }));
    await open();
    await userEvent.type(await field(), 'a@example.com ');
    await create();
    expect((await within(screen.getByRole('tabpanel')).findByRole('alert')).textContent).toBe('Invalid email address.');
    expect(chips()).toEqual(['a@example.com']);
  });

  it('can be corrected in a dialog, which knows the others', async () => {
    await open();
    await userEvent.click(await screen.findByRole('button', { name: 'Edit agency@example.net' }));
    const dialog = screen.getByRole('dialog', { name: 'Edit Notification Email' });
    const email = within(dialog).getByRole('textbox', { name: 'Email' });
    await waitFor(() => expect(document.activeElement).toBe(email));
    const save = within(dialog).getByRole('button', { name: 'Save' }) as HTMLButtonElement;
    expect(save.disabled).toBe(true);
    await userEvent.clear(email);
    await userEvent.type(email, 'Owner@example.com');
    expect((await within(dialog).findByRole('alert')).textContent).toBe('Email owner@example.com already exists.');
    await userEvent.clear(email);
    await userEvent.type(email, 'New@example.net{Enter}');
    await waitFor(() => expect(lists()).toEqual([['owner@example.com', 'new@example.net']]));
    expect(await screen.findByText('new@example.net')).toBeDefined();
  });

  it('are deleted after a question, with the focus on Cancel', async () => {
    await open();
    await userEvent.click(await screen.findByRole('button', { name: 'Delete agency@example.net' }));
    const dialog = screen.getByRole('alertdialog', { name: 'Delete Notification Email' });
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Cancel'));
    expect(dialog.textContent).toContain(
      'agency@example.net no longer gets the weekly report. You can add it again later.',
    );
    await userEvent.click(within(dialog).getByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(lists()).toEqual([['owner@example.com']]));
    await waitFor(() => expect(screen.queryByText('agency@example.net')).toBeNull());
  });

  it('move the focus to the next row, or the last one, and finally to the field', async () => {
    const deleteOne = async (email: string): Promise<void> => {
      await userEvent.click(await screen.findByRole('button', { name: `Delete ${email}` }));
      await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
      await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    };
    site.log.emails = ['a@example.com', 'b@example.com', 'c@example.com'];
    await open();
    await deleteOne('a@example.com');
    const button = (email: string): HTMLElement => screen.getByRole('button', { name: `Delete ${email}` });
    await waitFor(() => expect(document.activeElement).toBe(button('b@example.com')));
    await deleteOne('c@example.com');
    await waitFor(() => expect(document.activeElement).toBe(button('b@example.com')));
    await deleteOne('b@example.com');
    await waitFor(async () => expect(document.activeElement).toBe(await field()));
  });

  it('return to their place when deleting is undone', async () => {
    await open();
    await userEvent.click(await screen.findByRole('button', { name: 'Delete owner@example.com' }));
    await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(site.log.emails).toEqual(['owner@example.com', 'agency@example.net']));
    expect(await screen.findByText('2 of 5 used')).toBeDefined();
  });

  it('stay if deleting fails, and the dialog shows the error', async () => {
    site.replies.set('/notification-emails', () => refused(500, 'internal', 'No.'));
    await open();
    await userEvent.click(await screen.findByRole('button', { name: 'Delete agency@example.net' }));
    await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
    expect((await screen.findByText('We couldn’t save this.')).closest('[role="alertdialog"]')).not.toBeNull();
  });

  it('are loaded again on request if they could not be loaded', async () => {
    site.replies.set('/weekly-report', () => refused(500, 'internal', 'No.'));
    await open();
    await screen.findByText('We couldn’t load the recipients.');
    site.replies.clear();
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('owner@example.com')).toBeDefined();
  });
});

describe('the weekly report', () => {
  it('is previewed in a sandboxed frame', async () => {
    await open();
    await userEvent.click(await screen.findByRole('button', { name: 'See an example' }));
    await screen.findByRole('dialog', { name: 'Weekly report for example.com' });
    const frame = document.querySelector('iframe');
    expect(frame?.getAttribute('sandbox')).toBe('');
    expect(frame?.getAttribute('srcdoc')).toBe('<h1>A quiet week</h1>');
  });

  it('is sent to the owner as a test, and the toast names the address', async () => {
    await open();
    await userEvent.click(await screen.findByRole('button', { name: 'Send me a test' }));
    await waitFor(() => expect(toastTexts()).toEqual(['A test report is on its way to owner@example.com.']));
  });

  it('is paused with fewer than 8 days, and the page links to the setting', async () => {
    for (const item of site.log.options.log_lifetime) item.selected = item.value === 7 ? 1 : 0;
    await open();
    expect(await screen.findByText('Weekly reports are paused.')).toBeDefined();
    await userEvent.click(screen.getByRole('button', { name: 'Log Settings' }));
    expect(await screen.findByText('Keep 8 days or more to get them again.')).toBeDefined();
  });
});

describe('the choices of a recipient', () => {
  it('are listed beside each recipient', async () => {
    await open();
    await screen.findByText('Weekly report, all 7 alerts');
    expect((await tableTexts('Recipients')).map(([email, gets]) => [email, gets])).toEqual([
      ['Email', 'Gets'],
      ['owner@example.com', 'Weekly report, all 7 alerts'],
      ['agency@example.net', 'Weekly report'],
    ]);
  });

  it('are made in the edit dialog', async () => {
    await open();
    await screen.findByText('Weekly report, all 7 alerts');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit agency@example.net' }));
    const dialog = screen.getByRole('dialog', { name: 'Edit Notification Email' });
    await userEvent.click(within(dialog).getByRole('checkbox', { name: /^Weekly report/ }));
    await userEvent.click(within(dialog).getByRole('checkbox', { name: /^A new administrator/ }));
    await userEvent.click(within(dialog).getByRole('checkbox', { name: /^A checkup finds something/ }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    expect(await screen.findByText('2 alerts: new administrator, checkup')).toBeDefined();
    expect(site.sent('/alert-recipient')).toEqual([
      { email: 'agency@example.net', report: 0, kinds: ['new-administrator', 'checkup-finding'] },
    ]);
    expect(lists()).toEqual([]);
  });

  it('stay when the address is corrected', async () => {
    await open();
    await screen.findByText('Weekly report, all 7 alerts');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit owner@example.com' }));
    const dialog = screen.getByRole('dialog', { name: 'Edit Notification Email' });
    const email = within(dialog).getByRole('textbox', { name: 'Email' });
    await userEvent.clear(email);
    await userEvent.type(email, 'boss@example.com{Enter}');
    await waitFor(() => expect(site.sent('/alert-recipient')).toHaveLength(1));
    expect(site.sent('/alert-recipient')[0]).toMatchObject({ email: 'boss@example.com', report: 1 });
    await screen.findByText('boss@example.com');
    expect(await screen.findByText('Weekly report, all 7 alerts')).toBeDefined();
  });

  it('survive a change together with the address, and a failure says what was saved', async () => {
    await open();
    await screen.findByText('Weekly report, all 7 alerts');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit owner@example.com' }));
    const dialog = screen.getByRole('dialog', { name: 'Edit Notification Email' });
    const save = () => within(dialog).getByRole('button', { name: 'Save' });
    await userEvent.click(within(dialog).getByRole('checkbox', { name: /^Weekly report/ }));
    const email = within(dialog).getByRole('textbox', { name: 'Email' });
    await userEvent.clear(email);
    await userEvent.type(email, 'boss@example.com');
    site.replies.set('/alert-recipient', () => refused(500, 'internal', 'No.'));
    await userEvent.dblClick(save());
    await within(dialog).findByText('The new address is saved, but not yet what it gets.');
    expect(lists()).toEqual([['boss@example.com', 'agency@example.net']]);
    expect(site.sent('/alert-recipient')).toHaveLength(1);
    expect(await screen.findByText('boss@example.com')).toBeDefined();

    // The dialog asks before the choices are lost.
    await userEvent.keyboard('{Escape}');
    await userEvent.click(await screen.findByRole('button', { name: 'Keep editing' }));
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    site.replies.clear();
    await userEvent.click(save());
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(lists()).toHaveLength(1);
    expect(await screen.findByText('All 7 alerts')).toBeDefined();
    expect(site.log.alerts?.recipients[0]).toMatchObject({ email: 'boss@example.com', report: 0 });
    expect(site.log.alerts?.recipients[0]?.kinds).toHaveLength(7);
  });

  it('survive if the response to the new address was lost', async () => {
    await open();
    await screen.findByText('Weekly report, all 7 alerts');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit owner@example.com' }));
    const dialog = screen.getByRole('dialog', { name: 'Edit Notification Email' });
    const email = within(dialog).getByRole('textbox', { name: 'Email' });
    await userEvent.clear(email);
    site.replies.set('/notification-emails', ({ body }) => {
      const { alerts } = site.log;
      site.log.emails = JSON.parse(body).entries;
      if (alerts) {
        const [, ...others] = alerts.recipients;
        alerts.recipients = [{ email: 'boss@example.com', report: 1, kinds: [], last: null }, ...others];
      }
      return { status: 502, body: '<html>' };
    });
    await userEvent.type(email, 'boss@example.com{Enter}');
    await within(dialog).findByText('We couldn’t save this.');
    expect(await screen.findByText('boss@example.com')).toBeDefined();
    site.replies.clear();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(await screen.findByText('Weekly report, all 7 alerts')).toBeDefined();
    expect(site.log.emails).toEqual(['boss@example.com', 'agency@example.net']);
  });

  it('must be known before an address can be changed, because they would be lost', async () => {
    site.replies.set('/alerts', () => refused(500, 'internal', 'No.'));
    await open();
    await userEvent.click(await screen.findByRole('button', { name: 'Edit owner@example.com' }));
    const dialog = screen.getByRole('dialog', { name: 'Edit Notification Email' });
    await within(dialog).findByText('We couldn’t load the alerts.');
    const email = within(dialog).getByRole('textbox', { name: 'Email' });
    await userEvent.clear(email);
    await userEvent.type(email, 'boss@example.com{Enter}');
    expect(lists()).toEqual([]);
    site.replies.clear();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Try again' }));
    await within(dialog).findByRole('checkbox', { name: /^Weekly report/ });
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(site.log.alerts?.recipients[0]).toMatchObject({ email: 'boss@example.com', report: 1 });
    expect(site.log.alerts?.recipients[0]?.kinds).toHaveLength(7);
  });

  it.each([
    [1, true, 'owner@example.com no longer gets the weekly report and alerts.'],
    [0, true, 'owner@example.com no longer gets alerts.'],
    [1, false, 'owner@example.com no longer gets the weekly report.'],
    [0, false, 'owner@example.com gets nothing anyway.'],
  ] as const)('are named before the recipient is deleted (report %i, alerts %s)', async (report, withAlerts, text) => {
    const owner = site.log.alerts?.recipients[0];
    if (owner) Object.assign(owner, { report, ...(withAlerts ? {} : { kinds: [] }) });
    await open();
    await waitFor(async () => expect((await tableTexts('Recipients'))[1]?.[1]).not.toBe(''));
    await userEvent.click(await screen.findByRole('button', { name: 'Delete owner@example.com' }));
    expect(screen.getByRole('alertdialog').textContent).toContain(`${text} You can add it again later.`);
  });

  it('return when deleting is undone, and an address that another tab has added stays', async () => {
    await open();
    await screen.findByText('Weekly report, all 7 alerts');
    await userEvent.click(await screen.findByRole('button', { name: 'Delete owner@example.com' }));
    await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
    await screen.findByText('1 of 5 used');
    site.log.emails = ['agency@example.net', 'new@example.com'];
    fireEvent(document, new Event('visibilitychange', { bubbles: true }));
    await screen.findByText('2 of 5 used');
    await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    expect(await screen.findByText('Weekly report, all 7 alerts')).toBeDefined();
    expect(site.log.emails).toEqual(['owner@example.com', 'agency@example.net', 'new@example.com']);
    expect(site.sent('/alert-recipient')).toHaveLength(1);
  });

  it('that could not be restored are told', async () => {
    await open();
    await screen.findByText('Weekly report, all 7 alerts');
    await userEvent.click(await screen.findByRole('button', { name: 'Delete owner@example.com' }));
    await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
    site.replies.set('/alert-recipient', () => refused(500, 'internal', 'No.'));
    await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() =>
      expect(toastTexts()).toContain(
        'owner@example.com is back, but gets only the weekly report. Choose its alerts again.',
      ),
    );
    await waitFor(() => expect(screen.getByText('2 of 5 used')).toBeDefined());
  });

  it('are hidden if the server has no alerts, and everything else works', async () => {
    site.log.alerts = null;
    await open();
    await waitFor(async () => expect((await tableTexts('Recipients'))[0]).toEqual(['Email', 'Actions']));
    expect(screen.queryByRole('heading', { name: 'Alerts' })).toBeNull();
    expect(screen.queryByText('Gets')).toBeNull();
  });
});

describe('alerts', () => {
  const row = async (title: string) =>
    (await screen.findByRole('heading', { name: title })).closest('.so-row') as HTMLElement;
  const configure = async (title: string) => {
    await userEvent.click(await screen.findByRole('button', { name: `Configure: ${title}` }));
    return screen.findByRole('dialog', { name: title });
  };

  it('are tested by mail, and the result names the number of addresses', async () => {
    await open();
    await userEvent.click(await screen.findByRole('button', { name: 'Send a test: Mail' }));
    expect(await screen.findByText('Sent to 1 address.')).toBeDefined();
    site.log.alertTest = { ok: 0, sent: 0, text: 'Nobody gets alerts yet. Choose them with the pencil.' };
    await userEvent.click(screen.getByRole('button', { name: 'Send a test: Mail' }));
    expect(await screen.findByText('Nobody gets alerts yet. Choose them with the pencil.')).toBeDefined();
    site.log.alertTest = { ok: 0, sent: 2, text: 'The mail to agency@example.net was refused.' };
    const button = screen.getByRole('button', { name: 'Send a test: Mail' });
    button.focus();
    fireEvent.click(button);
    fireEvent.click(button);
    expect(await screen.findByText('Sent to 2 addresses. The mail to agency@example.net was refused.')).toBeDefined();
    expect(site.sent('/alert-test')).toHaveLength(3);
    expect(document.activeElement).toBe(button);
  });

  it('are tested by a channel, whose row announces the answer', async () => {
    if (site.log.alerts) site.log.alerts.webhook = { address: 'hooks.example.com/site', has_secret: 1, last: null };
    await open();
    const button = await screen.findByRole('button', { name: 'Send a test: Webhook' });
    if (site.log.alerts?.webhook) site.log.alerts.webhook.last = delivery();
    button.focus();
    fireEvent.click(button);
    fireEvent.click(button);
    await waitFor(async () =>
      expect((await row('Webhook')).textContent).toContain('Last answer 21 Nov 2026, 13:40: 200'),
    );
    expect(within(await row('Webhook')).getByRole('status').textContent).toContain('200');
    expect(site.sent('/alert-test')).toEqual([{ channel: 'webhook' }]);
    expect(document.activeElement).toBe(button);
  });

  it('are sent to a webhook with a secret that is created in the browser and never shown again', async () => {
    await open();
    const dialog = await configure('Webhook');
    await userEvent.type(within(dialog).getByRole('textbox', { name: 'Address' }), 'https://hooks.example.com/site');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    expect((await within(dialog).findByRole('alert')).textContent).toBe('This field is required.');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Make a new one' }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(async () => expect((await row('Webhook')).textContent).toContain('hooks.example.com/site'));
    const [sent] = site.sent('/alert-webhook') as { secret: string }[];
    expect(sent?.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(document.body.textContent).not.toContain(sent?.secret);
    const again = await configure('Webhook');
    expect(within(again).getByRole<HTMLInputElement>('textbox', { name: 'Secret' }).value).toBe('');
  });

  it('show the server’s error about an address at its field', async () => {
    const text = 'This address is inside a private network. Ask your hosting provider to allow it.';
    site.replies.set('/alert-slack', () => ({
      status: 400,
      body: { data: null, code: 'invalid_input', message: 'Check it.', status: 400, fields: { url: text } },
    }));
    await open();
    const dialog = await configure('Slack');
    await userEvent.type(within(dialog).getByRole('textbox', { name: 'Webhook URL' }), 'https://10.0.0.1/');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    expect((await within(dialog).findByRole('alert')).textContent).toBe(text);
  });

  it('are sent to a system log, and stopped with one button', async () => {
    await open();
    const dialog = await configure('System log');
    await userEvent.type(within(dialog).getByRole('textbox', { name: 'Host' }), 'logs.example.com');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(async () => expect((await row('System log')).textContent).toContain('logs.example.com:514 (UDP)'));
    const again = await configure('System log');
    await userEvent.click(within(again).getByRole('button', { name: 'Switch off' }));
    await waitFor(async () => expect((await row('System log')).textContent).not.toContain('logs.example.com'));
    expect(site.sent('/alert-syslog').at(-1)).toEqual({ host: '' });
  });

  it('are sent to a system log by TLS, with its own standard port', async () => {
    await open();
    const dialog = await configure('System log');
    const port = within(dialog).getByRole<HTMLInputElement>('textbox', { name: 'Port' });
    const choose = async (protocol: string) => {
      await userEvent.click(within(dialog).getByRole('combobox', { name: 'Protocol' }));
      await userEvent.click(screen.getByRole('option', { name: protocol }));
    };
    const framing = () => within(dialog).queryByRole('combobox', { name: 'Separation of messages' });
    expect(framing()).toBeNull();
    await choose('TCP');
    expect(framing()).not.toBeNull();
    await choose('TCP with TLS');
    expect(port.value).toBe('6514');
    expect(framing()).toBeNull();
    expect(dialog.textContent).toContain('The certificate of the server is checked.');
    await choose('UDP');
    expect(port.value).toBe('514');
    await userEvent.clear(port);
    await userEvent.type(port, '10514');
    await choose('TCP with TLS');
    expect(port.value).toBe('10514');
    await userEvent.type(within(dialog).getByRole('textbox', { name: 'Host' }), 'logs.example.com');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(async () => expect((await row('System log')).textContent).toContain('logs.example.com:10514 (TLS)'));
    expect(site.sent('/alert-syslog')).toEqual([
      { host: 'logs.example.com', port: 10514, protocol: 'tls', framing: 'octets' },
    ]);
  });

  it('that were lost are counted in the row of their channel, with the reason', async () => {
    const last = delivery({ lost: 3, lost_text: 'Nothing answers at this address.' });
    if (site.log.alerts) site.log.alerts.slack = { address: 'hooks.slack.com', last };
    await open();
    const shown = (await row('Slack')).textContent;
    expect(shown).toContain('Last answer 21 Nov 2026, 13:40: 200');
    expect(shown).toContain('3 alerts of the last 7 days were not delivered: Nothing answers at this address.');
  });

  it('say in the row of a recipient that a mail failed or alerts were lost, and nothing while all is well', async () => {
    const [owner, agency] = site.log.alerts?.recipients ?? [];
    if (owner) owner.last = delivery();
    if (agency)
      agency.last = delivery({ ok: 0, text: 'The mailbox is full', waiting: 2, lost: 1, lost_text: 'It is gone.' });
    await open();
    await screen.findByText('Weekly report, all 7 alerts');
    const [, first, second] = (await tableTexts('Recipients')).map((cells) => cells[1]);
    expect(first).toBe('Weekly report, all 7 alerts');
    expect(second).toBe(
      'Weekly reportIt failed 21 Nov 2026, 13:40: The mailbox is full. 2 alerts wait.' +
        '1 alert of the last 7 days was not delivered: It is gone.',
    );
  });

  it('name a reason once if it is the same for the last mail and for lost alerts', async () => {
    const text = 'The mailbox is full.';
    const [owner] = site.log.alerts?.recipients ?? [];
    if (owner) owner.last = delivery({ ok: 0, text, lost: 2, lost_text: text });
    await open();
    await screen.findByText(/were not delivered/);
    expect((await tableTexts('Recipients'))[1]?.[1]).toBe(
      'Weekly report, all 7 alertsIt failed 21 Nov 2026, 13:40: The mailbox is full.' +
        '2 alerts of the last 7 days were not delivered.',
    );
  });

  it('say “today” for a delivery of the present day at the site', async () => {
    vi.useFakeTimers({ now: new Date('2026-11-21T14:32:08Z'), toFake: ['Date'] });
    if (site.log.alerts) site.log.alerts.slack = { address: 'hooks.slack.com', last: delivery() };
    await open();
    expect((await row('Slack')).textContent).toContain('Last answer today, 13:40: 200');
    vi.useRealTimers();
  });

  it('say that a channel fails, and how many alerts wait', async () => {
    const last = delivery({ ok: 0, text: 'Nothing answers at this address.', waiting: 3 });
    if (site.log.alerts) site.log.alerts.webhook = { address: 'hooks.example.com/site', has_secret: 1, last };
    await open();
    const shown = (await row('Webhook')).textContent;
    expect(shown).toContain('Nothing answers at this address.');
    expect(shown).toContain('3 alerts wait.');
  });

  it('are limited, and wait during quiet hours', async () => {
    await open();
    await userEvent.click(await screen.findByRole('switch', { name: 'Quiet hours' }));
    await waitFor(() =>
      expect(screen.getByRole('switch', { name: 'Quiet hours' }).getAttribute('aria-checked')).toBe('true'),
    );
    await userEvent.click(screen.getByRole('combobox', { name: 'At most' }));
    await userEvent.click(screen.getByRole('option', { name: '10 an hour' }));
    await waitFor(() => expect(screen.getByRole('combobox', { name: 'At most' }).textContent).toBe('10 an hour'));
    expect(site.sent('/alert-quiet-hours')).toEqual([{ alert_quiet_hours: 1 }]);
    expect(site.sent('/alert-limit')).toEqual([{ alert_limit: 10 }]);
  });

  it.each([
    ['en-US', 'From 10:00\u00a0PM to 7:00\u00a0AM alerts wait'],
    ['de-DE', 'From 22:00 to 07:00 alerts wait'],
  ])('say the quiet hours in the format of the reader: %s', async (localeSlug, text) => {
    await openLog(site, 'weekly-reports', { localeSlug });
    await screen.findByRole('switch', { name: 'Quiet hours' });
    expect((await row('Quiet hours')).textContent).toContain(text);
  });

  it('say that a limit was not saved', async () => {
    site.replies.set('/alert-quiet-hours', () => refused(500, 'internal', 'No.'));
    await open();
    await userEvent.click(await screen.findByRole('switch', { name: 'Quiet hours' }));
    await waitFor(async () => expect((await row('Quiet hours')).textContent).toContain('We couldn’t save this.'));
    expect(screen.getByRole('switch', { name: 'Quiet hours' }).getAttribute('aria-checked')).toBe('false');
  });

  it('are loaded again on request if they could not be loaded', async () => {
    site.replies.set('/alerts', () => refused(500, 'internal', 'No.'));
    await open();
    await screen.findByText('We couldn’t load the alerts.');
    site.replies.clear();
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByRole('heading', { name: 'Webhook' })).toBeDefined();
  });

  it('say that those about users need the log', async () => {
    site.log.options.disable_activity_log = 1;
    await open();
    expect(await screen.findByText('Alerts about users, logins and plugins come once it is on.')).toBeDefined();
  });
});
