import type { Locator } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { expectFocus, pressOn, tabTo } from '../../browser/keyboard.js';
import { sendFrom } from '../login/helpers.js';
import { expectLayout, ownerSuite } from './helpers.js';

const REQUIRED = 'This field is required.';
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** `YYYY-MM-DD` of a day relative to today; the site's time zone is UTC. */
const dayIn = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

ownerSuite('the dialog Configure Away Mode, by keyboard', (owner) => {
  const { stack } = owner;
  const save = () => owner.button('Turn on Away Mode');
  const press = async (...keys: string[]) => {
    for (const key of keys) await owner.page.keyboard.press(key);
  };
  const schedule = async () => (await owner.options()).away_mode.schedule;
  /** Opens the dialog and selects a type of schedule. */
  const openAt = async (steps: 0 | 1 | 2) => {
    await owner.open();
    const dialog = await owner.openDialog('away');
    await expectFocus(dialog.getByRole('radio', { name: 'Specific Period' }));
    await press(...Array.from({ length: steps }, () => 'ArrowRight'));
    return dialog;
  };
  /** Expects that the schedule is saved: the row shows when it begins, and nothing is closed until then. */
  const expectScheduled = async (dialog: Locator, words: string) => {
    await owner.isBackAt(owner.configure('away'), dialog);
    await owner.page.getByText('Scheduled', { exact: true }).waitFor();
    await owner.page.getByText(words).waitFor();
    await owner.page.getByText('It next begins on').waitFor();
    expect((await sendFrom(stack, '127.0.57.1', { target: '/wp-login.php' })).status).toBe(200);
  };
  const expectClock = async (where: Locator, time: string) => expect(await where.inputValue()).toBe(time);

  afterAll(() => owner.set('/away-mode', { type: 'off' }));

  it('accepts a period from a calendar, and turns it off before it begins', async () => {
    const { page } = owner;
    const chosen = () => ({ type: 'period', from_date: dayIn(10), to_date: dayIn(11) });
    const [chosenBefore, dialog] = [chosen(), await openAt(0)];
    const from = dialog.getByLabel('From', { exact: true });
    const to = dialog.getByLabel('To', { exact: true });
    await pressOn(page, save(), 'Enter');
    await dialog.getByText(REQUIRED).nth(1).waitFor();
    await expectFocus(from);
    await expectLayout(page, 'away-period-wrong');

    // Days before today can't be selected.
    await press('Enter');
    const today = dialog.locator('button[aria-current="date"]');
    await expectFocus(today);
    await expectLayout(page, 'away-calendar');
    await press('ArrowLeft');
    await expectFocus(today);
    await press('ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter');
    await expectFocus(from);
    await pressOn(page, to, 'Enter');
    await press('ArrowRight', 'ArrowRight', 'Enter');
    await expectFocus(to);
    await dialog.getByText(', 3 days.').waitFor();
    await expectLayout(page, 'away-period');

    // A From after To clears To.
    await pressOn(page, from, 'Enter', 'Shift+Tab');
    await press('ArrowDown', 'Enter');
    expect(await to.inputValue()).toBe('');
    await pressOn(page, save(), 'Enter');
    await dialog.getByText(REQUIRED).waitFor();
    await expectFocus(to);
    await press('Enter', 'ArrowRight', 'Enter');
    await pressOn(page, save(), 'Enter');
    await expectScheduled(dialog, 'Closed from');
    // The date may have changed before or after the calendar was opened.
    expect([chosenBefore, chosen()]).toContainEqual(await schedule());

    await press('Enter');
    await pressOn(page, owner.button('Turn off'), 'Enter');
    await owner.isBackAt(owner.configure('away'), dialog);
    await page.getByText('Scheduled', { exact: true }).waitFor({ state: 'detached' });
    expect(await schedule()).toEqual({ type: 'off' });
  });

  it('accepts weekdays, but not all of them', async () => {
    const { page } = owner;
    const dialog = await openAt(1);
    const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
    const button = (day: string) => dialog.getByRole('button', { name: day, exact: true });
    await pressOn(page, save(), 'Enter');
    await dialog.getByText(REQUIRED).waitFor();
    await expectFocus(button('Monday'));
    for (const day of days) await pressOn(page, button(day), 'Space');
    await dialog.getByText("You can't enable Away Mode for every day of the week.", { exact: true }).waitFor();
    await expectLayout(page, 'away-weekly-wrong');
    const weekday = new Date(Date.now() + 3 * DAY_MS).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
    for (const day of days.toReversed()) if (day !== weekday) await pressOn(page, button(day), 'Space', 'Shift+Tab');
    await dialog.getByText(`Closed every ${weekday}.`).waitFor();
    await expectLayout(page, 'away-weekly');
    await pressOn(page, save(), 'Enter');
    await expectScheduled(dialog, `Closed every ${weekday}.`);
    expect(await schedule()).toEqual({ type: 'weekly', weekly: [weekday.toLowerCase()] });
    await owner.set('/away-mode', { type: 'off' });
  });

  it('accepts hours of each day, 23 at most', async () => {
    const { page } = owner;
    const dialog = await openAt(2);
    const from = dialog.getByLabel('From', { exact: true });
    const to = dialog.getByLabel('To', { exact: true });
    /**
     * Hours that begin later, so that nothing is closed now; at half past, so that the hour does not change during the
     * test.
     */
    const later = (hours: number) => {
      const hour = new Date(Date.now() + hours * HOUR_MS).getUTCHours();
      return {
        hour,
        stored: `${String(hour).padStart(2, '0')}:30`,
        shown: `${hour % 12 || 12}:30\u00a0${hour < 12 ? 'AM' : 'PM'}`,
      };
    };
    const choose = async (field: Locator, { hour, shown }: { hour: number; shown: string }, by?: 'Shift+Tab') => {
      await pressOn(page, field, 'Enter', by);
      await page.keyboard.type(String(hour % 12 || 12));
      await press('ArrowRight');
      await page.keyboard.type('30');
      await press('ArrowRight', hour < 12 ? 'Home' : 'End', 'Enter');
      await expectFocus(field);
      await expectClock(field, shown);
    };
    const begin = later(4);
    await choose(from, begin);
    await choose(to, begin);
    await dialog.getByText('From and To must be different times.').waitFor();
    // 23 hours and a half.
    await press('Enter', 'ArrowRight', 'Home', 'Enter');
    await choose(from, begin, 'Shift+Tab');
    await tabTo(page, to);
    await dialog.getByText('You can enable Away Mode for maximum of 23 hours daily.', { exact: true }).waitFor();
    await expectLayout(page, 'away-daily-wrong');
    await press('Enter');
    await expectLayout(page, 'away-clock');
    await press('Escape');
    const end = later(6);
    await choose(to, end);
    await dialog.getByText('Closed for 2 hours every').waitFor();
    await expectLayout(page, 'away-daily');
    await pressOn(page, save(), 'Enter');
    await expectScheduled(dialog, `Closed from ${begin.shown} to ${end.shown} every day.`);
    expect(await schedule()).toEqual({ type: 'daily', from_hour: begin.stored, to_hour: end.stored });
  });
});
