import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ok, refused } from '../../../test/fake-site/server.js';
import { type FakeSite, startFakeSite } from '../../../test/fake-site/site.js';
import { errorsIn, openDialog } from '../../../test/pages/login-settings.js';
import { choose, listOptions } from '../../../test/select-option.js';

let site: FakeSite;
beforeEach(async () => {
  // Saturday morning. Only the date is fixed; timers run.
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T10:00:00Z') });
  site = await startFakeSite();
});
afterEach(() => void vi.useRealTimers());

const open = () => openDialog(site, 'Away Mode', { localeSlug: 'en-GB' });
const field = (dialog: HTMLElement, label: string) => within(dialog).getByLabelText<HTMLInputElement>(label);
const submit = (dialog: HTMLElement) =>
  userEvent.click(within(dialog).getByRole('button', { name: /^(?:Turn on Away Mode|Save)$/ }));
const type = (dialog: HTMLElement, name: string) => userEvent.click(within(dialog).getByRole('radio', { name }));

async function chooseDay(dialog: HTMLElement, label: string, day: RegExp): Promise<void> {
  await userEvent.click(field(dialog, label));
  await userEvent.click(
    within(await screen.findByRole('dialog', { name: 'Choose a day' })).getByRole('button', { name: day }),
  );
}

it('Configure Away Mode explains what is closed, and who can still use the site', async () => {
  const dialog = await open();
  for (const text of [
    'Nobody can log in while Away Mode is on, not even you.',
    'The admin area is closed. People who work on the site can’t change anything, even if they are still logged in.',
    'Visitors go on as usual. Customers and members who are logged in already can still buy and comment, but can’t log in again.',
  ]) {
    expect(within(dialog).getByText(text)).toBeDefined();
  }
});

describe('Configure Away Mode for a period', () => {
  it('requires both days', async () => {
    const dialog = await open();
    await submit(dialog);
    await waitFor(() => expect(errorsIn(dialog)).toEqual(['This field is required.', 'This field is required.']));
    await waitFor(() => expect(document.activeElement).toBe(field(dialog, 'From')));
  });

  it('sends the chosen days, and the row shows them', async () => {
    const dialog = await open();
    await chooseDay(dialog, 'From', /28 November/);
    await waitFor(() => expect(document.activeElement).toBe(field(dialog, 'From')));
    await chooseDay(dialog, 'To', /30 November/);
    expect(field(dialog, 'To').value).toBe('30 November 2026');
    expect(within(dialog).getByText('28 – 30 November, 3 days.')).toBeDefined();
    await submit(dialog);
    await waitFor(() =>
      expect(site.sent('/away-mode')).toEqual([{ type: 'period', from_date: '2026-11-28', to_date: '2026-11-30' }]),
    );
    expect(
      await screen.findByText(/Closed from 28 November 2026 to 30 November 2026\. It next begins on/),
    ).toBeDefined();
  });

  it('clears To if From moves after it', async () => {
    const dialog = await open();
    await chooseDay(dialog, 'From', /23 November/);
    await chooseDay(dialog, 'To', /24 November/);
    await chooseDay(dialog, 'From', /26 November/);
    expect(field(dialog, 'To').value).toBe('');
  });

  it('offers no past day, none before From, and none after six months', async () => {
    const dialog = await open();
    const isOff = (day: RegExp): boolean =>
      within(screen.getByRole('dialog', { name: 'Choose a day' })).getByRole<HTMLButtonElement>('button', { name: day })
        .disabled;
    await userEvent.click(field(dialog, 'From'));
    expect([isOff(/20 November/), isOff(/21 November/)]).toEqual([true, false]);
    await userEvent.keyboard('{Escape}');
    await chooseDay(dialog, 'From', /25 November/);
    await userEvent.click(field(dialog, 'To'));
    expect([isOff(/24 November/), isOff(/25 November/)]).toEqual([true, false]);
    await choose(screen.getByLabelText('Year'), '2027');
    await choose(screen.getByLabelText('Month'), 'May');
    expect([isOff(/21 May/), isOff(/22 May/)]).toEqual([false, true]);
    expect(await listOptions(screen.getByLabelText('Year'))).toHaveLength(101);
  });

  it('works with the keyboard alone; Escape closes the calendar, not the dialog', async () => {
    const dialog = await open();
    field(dialog, 'From').focus();
    await userEvent.keyboard('{Enter}');
    await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toMatch(/21 November 2026/));
    await userEvent.keyboard('{ArrowDown}{ArrowRight}{PageDown}{Home}{Enter}');
    // A week and a day later, then the next month, then Monday of that week.
    expect(field(dialog, 'From').value).toBe('28 December 2026');
    await userEvent.keyboard('{Enter}{Escape}');
    expect(screen.queryByRole('dialog', { name: 'Choose a day' })).toBeNull();
    await waitFor(() => expect(document.activeElement).toBe(field(dialog, 'From')));
    expect(screen.queryByRole('alertdialog')).toBeNull();
  });

  it('says that it starts at once', async () => {
    const dialog = await open();
    await chooseDay(dialog, 'From', /21 November/);
    expect(within(dialog).getByText(/starts right away/)).toBeDefined();
    await chooseDay(dialog, 'From', /22 November/);
    expect(within(dialog).queryByText(/starts right away/)).toBeNull();
  });
});

describe('Configure Away Mode for weekdays', () => {
  const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

  it('requires at least one day and at most six', async () => {
    const dialog = await open();
    await type(dialog, 'Weekly');
    await submit(dialog);
    await waitFor(() => expect(errorsIn(dialog)).toEqual(['This field is required.']));
    for (const day of days) await userEvent.click(within(dialog).getByRole('button', { name: day }));
    await submit(dialog);
    await waitFor(() => expect(errorsIn(dialog)).toEqual(["You can't enable Away Mode for every day of the week."]));
    await waitFor(() => expect(document.activeElement?.textContent).toContain('Monday'));
    expect(site.calls('/away-mode')).toHaveLength(0);
  });

  it('says what the days mean today, and sends them in the order of the week', async () => {
    const dialog = await open();
    await type(dialog, 'Weekly');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Sunday' }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Saturday' }));
    expect(within(dialog).getByText('Closed every Saturday and Sunday.', { exact: false })).toBeDefined();
    expect(within(dialog).getByText('Today is Saturday, so it starts right away.')).toBeDefined();
    await submit(dialog);
    const question = await screen.findByRole('alertdialog', { name: 'Close the admin area now?' });
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Go back'));
    expect(site.calls('/away-mode')).toHaveLength(0);
    await userEvent.click(within(question).getByRole('button', { name: 'Turn on now' }));
    await waitFor(() =>
      expect(site.sent('/away-mode')).toEqual([{ type: 'weekly', weekly: ['saturday', 'sunday'], confirm: true }]),
    );
  });

  it('asks if the server says that it would start at once', async () => {
    site.replies.set('/away-mode', (call) =>
      call.body.includes('confirm') ? ok(site.login, 'Saved.') : refused(409, 'away_starts_at_once', 'It would start.'),
    );
    const dialog = await open();
    await type(dialog, 'Weekly');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Sunday' }));
    await submit(dialog);
    await userEvent.click(await screen.findByRole('button', { name: 'Turn on now' }));
    await waitFor(() => expect(site.sent('/away-mode')).toHaveLength(2));
    expect(site.sent('/away-mode')[1]).toEqual({ type: 'weekly', weekly: ['sunday'], confirm: true });
  });
});

describe('Configure Away Mode for hours', () => {
  async function chooseTime(dialog: HTMLElement, label: string, hour: string, minute: string): Promise<void> {
    await userEvent.click(field(dialog, label));
    await userEvent.keyboard(`${hour}{ArrowRight}${minute}{Enter}`);
  }

  it.each([
    ['', '', ['This field is required.', 'This field is required.']],
    ['22:00', '22:00', ['From and To must be different times.']],
    ['06:00', '05:01', ['You can enable Away Mode for maximum of 23 hours daily.']],
  ])('refuses %j to %j', async (from, to, expected) => {
    const dialog = await open();
    await type(dialog, 'Daily');
    if (from !== '') await chooseTime(dialog, 'From', from.slice(0, 2), from.slice(3));
    if (to !== '') await chooseTime(dialog, 'To', to.slice(0, 2), to.slice(3));
    await submit(dialog);
    await waitFor(() => expect(errorsIn(dialog)).toEqual(expected));
    expect(site.calls('/away-mode')).toHaveLength(0);
  });

  it('may cross midnight and last 23 hours', async () => {
    const dialog = await open();
    await type(dialog, 'Daily');
    await chooseTime(dialog, 'From', '06', '00');
    await chooseTime(dialog, 'To', '05', '00');
    expect(within(dialog).getByText(/^Closed for 23 hours every night\./)).toBeDefined();
    expect(within(dialog).getByRole('img', { name: 'Closed from 06:00 to 05:00' })).toBeDefined();
    await submit(dialog);
    await userEvent.click(await screen.findByRole('button', { name: 'Turn on now' }));
    await waitFor(() =>
      expect(site.sent('/away-mode')).toEqual([{ type: 'daily', from_hour: '06:00', to_hour: '05:00', confirm: true }]),
    );
  });
});

describe('turning Away Mode off', () => {
  it('is offered while it is scheduled', async () => {
    site.login.away_mode.schedule = { type: 'weekly', weekly: ['monday'] };
    const dialog = await open();
    await userEvent.click(within(dialog).getByRole('button', { name: 'Turn off' }));
    await waitFor(() => expect(site.sent('/away-mode')).toEqual([{ type: 'off' }]));
  });

  it('is not possible while it is on', async () => {
    site.login.away_mode.schedule = { type: 'weekly', weekly: ['saturday'] };
    site.login.away_mode.away = 1;
    const dialog = await open();
    expect(within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Turn off' }).disabled).toBe(true);
    expect(within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
  });
});
