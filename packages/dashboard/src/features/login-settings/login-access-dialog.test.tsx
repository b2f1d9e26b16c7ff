import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../../test/fake-site/server.js';
import { type FakeSite, startFakeSite } from '../../../test/fake-site/site.js';
import { errorsIn, openDialog, wrongFields } from '../../../test/pages/login-settings.js';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

const row = (dialog: HTMLElement, number: number) =>
  within(dialog).getByLabelText<HTMLInputElement>(`IP address ${number}`);
const values = (dialog: HTMLElement): string[] =>
  within(dialog)
    .getAllByRole<HTMLInputElement>('textbox')
    .map(({ value }) => value);
const save = (dialog: HTMLElement) => userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));

describe('Manage Login Access', () => {
  it('adds the owner’s address with one click, and omits empty rows', async () => {
    const dialog = await openDialog(site, 'Login Access');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Add 203.0.113.10, your own address' }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Add another' }));
    await waitFor(() => expect(document.activeElement).toBe(row(dialog, 2)));
    await save(dialog);
    await waitFor(() => expect(site.sent('/login-access')).toEqual([{ entries: ['203.0.113.10'] }]));
    await waitFor(() => expect(screen.getByText('1 address')).toBeDefined());
  });

  it('warns while the owner’s address is missing, until a row contains it in any form', async () => {
    const dialog = await openDialog(site, 'Login Access');
    const warned = () => within(dialog).queryByText('Your own address is not on the list.') !== null;
    expect(warned()).toBe(false);
    await userEvent.type(row(dialog, 1), '198.51.100.22');
    expect(warned()).toBe(true);
    await userEvent.clear(row(dialog, 1));
    await userEvent.type(row(dialog, 1), '203.0.113.0/24');
    expect(warned()).toBe(false);
  });

  it('asks before the caller is locked out, and only then confirms it to the server', async () => {
    const dialog = await openDialog(site, 'Login Access');
    await userEvent.type(row(dialog, 1), '198.51.100.22{Enter}');
    const question = await screen.findByRole('alertdialog', { name: 'Shut yourself out?' });
    expect(site.calls('/login-access')).toHaveLength(0);
    await userEvent.click(within(question).getByRole('button', { name: 'Save and shut me out' }));
    await waitFor(() => expect(site.sent('/login-access')).toEqual([{ entries: ['198.51.100.22'], confirm: true }]));
  });

  it('asks also if only the server knows that the caller would be locked out', async () => {
    site.login.your_address = '';
    site.replies.set('/login-access', () =>
      refused(409, 'would_shut_you_out', 'Your own address is not in this list.'),
    );
    const dialog = await openDialog(site, 'Login Access');
    await userEvent.type(row(dialog, 1), '198.51.100.22{Enter}');
    const question = await screen.findByRole('alertdialog');
    site.replies.clear();
    await userEvent.click(within(question).getByRole('button', { name: 'Save and shut me out' }));
    await waitFor(() =>
      expect(site.sent('/login-access')).toEqual([
        { entries: ['198.51.100.22'] },
        { entries: ['198.51.100.22'], confirm: true },
      ]),
    );
  });

  it('asks before a range allows nearly all clients', async () => {
    const dialog = await openDialog(site, 'Login Access');
    await userEvent.type(row(dialog, 1), '203.0.113.10, 0.0.0.0/0{Enter}');
    const question = await screen.findByRole('alertdialog', { name: 'Let everybody try?' });
    expect(site.calls('/login-access')).toHaveLength(0);
    await userEvent.click(within(question).getByRole('button', { name: 'Save' }));
    await waitFor(() =>
      expect(site.sent('/login-access')).toEqual([{ entries: ['203.0.113.10, 0.0.0.0/0'], confirm: true }]),
    );
  });

  it('accepts several addresses in a row', async () => {
    const dialog = await openDialog(site, 'Login Access');
    await userEvent.type(row(dialog, 1), '198.51.100.22 203.0.113.0-20, 2001:db8::1 # the office{Enter}');
    await waitFor(() =>
      expect(site.sent('/login-access')).toEqual([
        { entries: ['198.51.100.22 203.0.113.0-20, 2001:db8::1 # the office'] },
      ]),
    );
  });

  it('marks each row with an invalid address and focuses the first one', async () => {
    site.login.login_access = ['203.0.113.10', '192.0.2.300', 'example.com'];
    const dialog = await openDialog(site, 'Login Access');
    await save(dialog);
    await waitFor(() =>
      expect(errorsIn(dialog)).toEqual([
        'Invalid format. Check “192.0.2.300”.',
        'Invalid format. Check “example.com”.',
      ]),
    );
    expect(wrongFields(dialog)).toEqual([row(dialog, 2), row(dialog, 3)]);
    await waitFor(() => expect(document.activeElement).toBe(row(dialog, 2)));
    expect(site.calls('/login-access')).toHaveLength(0);
  });

  it('shows the server’s error about a row at that row, not counting empty ones', async () => {
    site.replies.set('/login-access', () => ({
      status: 400,
      body: { data: null, code: 'invalid_input', message: 'No.', status: 400, fields: { 1: 'Invalid format.' } },
    }));
    site.login.login_access = ['203.0.113.10', '', '198.51.100.22'];
    const dialog = await openDialog(site, 'Login Access');
    await save(dialog);
    await waitFor(() => expect(wrongFields(dialog)).toEqual([row(dialog, 3)]));
    expect(values(dialog)).toEqual(['203.0.113.10', '', '198.51.100.22']);
  });

  it('always keeps one row: the last one is cleared', async () => {
    site.login.login_access = ['203.0.113.10', '198.51.100.22'];
    const dialog = await openDialog(site, 'Login Access');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Remove 203.0.113.10' }));
    expect(values(dialog)).toEqual(['198.51.100.22']);
    await waitFor(() => expect(document.activeElement).toBe(row(dialog, 1)));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Remove 198.51.100.22' }));
    expect(values(dialog)).toEqual(['']);
    await save(dialog);
    await waitFor(() => expect(site.sent('/login-access')).toEqual([{ entries: [] }]));
    await waitFor(() => expect(screen.getByText('Open to all')).toBeDefined());
  });
});
