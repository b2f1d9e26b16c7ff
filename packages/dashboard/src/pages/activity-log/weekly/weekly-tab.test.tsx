import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../../../test/api-server.js';
import { type FakeSite, startFakeSite } from '../../../../test/fake-site.js';
import { openLog, tableTexts } from '../../../../test/log-page.js';
import { toastTexts } from '../../../../test/open-page.js';

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
  it('are listed, with how many places are used', async () => {
    await open();
    expect((await tableTexts('Recipients')).map(([email]) => email)).toEqual([
      'Email',
      'owner@example.com',
      'agency@example.net',
    ]);
    expect(screen.getByText('2 of 5 used')).toBeDefined();
  });

  it('keep whom another tab has added once this one is shown again', async () => {
    await open();
    const input = await field();
    site.log.emails = ['owner@example.com', 'elsewhere@example.com', 'agency@example.net'];
    fireEvent(document, new Event('visibilitychange'));
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

  it('are added several at a time: split, lower-cased, without brackets, each once', async () => {
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

  it('need not be ended by a separator, and Enter alone sends them', async () => {
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

  it('show what is wrong half a second after typing, and mark the bad one', async () => {
    await open();
    await userEvent.type(await field(), 'bad good@example.com ');
    expect(within(screen.getByRole('tabpanel')).queryByRole('alert')).toBeNull();
    expect((await within(screen.getByRole('tabpanel')).findByRole('alert')).textContent).toBe('Invalid email address.');
    expect(Array.from(document.querySelectorAll('.so-chip.is-bad'), (chip) => chip.textContent)).toEqual(['bad']);
    await userEvent.click(screen.getByRole('button', { name: 'Remove bad' }));
    expect(within(screen.getByRole('tabpanel')).queryByRole('alert')).toBeNull();
    expect(document.activeElement).toBe(await field());
  });

  it('are taken back with Backspace: the first goes to the last one, the second deletes it', async () => {
    await open();
    await userEvent.type(await field(), 'a@example.com b@example.com ');
    await userEvent.keyboard('{Backspace}');
    await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Remove b@example.com'));
    await userEvent.keyboard('{Backspace}');
    expect(chips()).toEqual(['a@example.com']);
  });

  it('go on being typed in the field when a chip has the focus', async () => {
    await open();
    await userEvent.type(await field(), 'a@example.com ');
    await userEvent.keyboard('{Backspace}');
    await userEvent.keyboard('b@');
    expect(((await field()) as HTMLInputElement).value).toBe('b@');
    expect(chips()).toEqual(['a@example.com']);
  });

  it('cannot be added once all places are taken, and a note says so', async () => {
    site.log.maxEmails = 2;
    await open();
    expect(await screen.findByText('All 2 places are taken. Delete one to add another.')).toBeDefined();
    expect((screen.getByRole('button', { name: 'Create' }) as HTMLButtonElement).disabled).toBe(true);
    expect(((await field()) as HTMLInputElement).disabled).toBe(true);
  });

  it('keep what was typed when the server refuses it, with its words at the field', async () => {
    const answer = {
      data: null,
      code: 'invalid_input',
      message: 'Check it.',
      status: 400,
      fields: { 2: 'Invalid email address.' },
    };
    site.replies.set('/notification-emails', () => ({ status: 400, body: answer }));
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

  it('are deleted after a question, whose focus is on the way out', async () => {
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

  it('stay as they are when deleting fails, and the dialog says so', async () => {
    site.replies.set('/notification-emails', () => refused(500, 'internal', 'No.'));
    await open();
    await userEvent.click(await screen.findByRole('button', { name: 'Delete agency@example.net' }));
    await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
    expect((await screen.findByText('We couldn’t save this.')).closest('[role="alertdialog"]')).not.toBeNull();
  });

  it('are asked for again when they could not be read', async () => {
    site.replies.set('/weekly-report', () => refused(500, 'internal', 'No.'));
    await open();
    await screen.findByText('We couldn’t load the recipients.');
    site.replies.clear();
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('owner@example.com')).toBeDefined();
  });
});

describe('the weekly report', () => {
  it('is shown as an example in a frame without rights', async () => {
    await open();
    await userEvent.click(await screen.findByRole('button', { name: 'See an example' }));
    await screen.findByRole('dialog', { name: 'Weekly report for example.com' });
    const frame = document.querySelector('iframe');
    expect(frame?.getAttribute('sandbox')).toBe('');
    expect(frame?.getAttribute('srcdoc')).toBe('<h1>A quiet week</h1>');
  });

  it('is sent to the owner as a test, who is told where it went', async () => {
    await open();
    await userEvent.click(await screen.findByRole('button', { name: 'Send me a test' }));
    await waitFor(() => expect(toastTexts()).toEqual(['A test report is on its way to owner@example.com.']));
  });

  it('is paused with fewer than 8 days, and the page says so with the way to change that', async () => {
    for (const item of site.log.options.log_lifetime) item.selected = item.value === 7 ? 1 : 0;
    await open();
    expect(await screen.findByText('Weekly reports are paused.')).toBeDefined();
    await userEvent.click(screen.getByRole('button', { name: 'Log Settings' }));
    expect(await screen.findByText('Keep 8 days or more to get them again.')).toBeDefined();
  });
});
