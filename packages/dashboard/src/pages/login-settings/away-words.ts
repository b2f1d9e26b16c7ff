import { type AwaySchedule, WEEKDAYS, type Weekday } from '@security-optimizer/contract/login-limits';
import type { DateTexts } from '../../dates/date-texts.js';
import { countDays, partsOf } from '../../dates/day.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { closedMinutes } from './away-form.js';

/** Number of a weekday as `Date` counts it: 0 is Sunday. */
export function weekdayNumber(day: Weekday): number {
  return (WEEKDAYS.indexOf(day) + 1) % 7;
}

/** @param day `YYYY-MM-DD` */
export function weekdayOf(day: string): Weekday {
  return WEEKDAYS[(partsOf(day).weekday + 6) % 7] as Weekday;
}

/** When the site is closed, as a sentence. */
export function scheduleText(schedule: AwaySchedule, texts: DateTexts): string {
  switch (schedule.type) {
    case 'off':
      return '';
    case 'period':
      return sprintf(
        /* translators: 1: first day, 2: last day */
        __('Closed from %1$s to %2$s.', 'security-optimizer'),
        texts.day(schedule.from_date),
        texts.day(schedule.to_date),
      );
    case 'weekly':
      /* translators: %s: one or more weekdays */
      return sprintf(__('Closed every %s.', 'security-optimizer'), weekdayList(schedule.weekly, texts));
    case 'daily':
      return sprintf(
        /* translators: 1: time, 2: time */
        __('Closed from %1$s to %2$s every day.', 'security-optimizer'),
        texts.time(schedule.from_hour),
        texts.time(schedule.to_hour),
      );
  }
}

function weekdayList(days: readonly Weekday[], texts: DateTexts): string {
  const names = WEEKDAYS.filter((day) => days.includes(day)).map((day) => texts.weekday(weekdayNumber(day), 'long'));
  const last = names.pop() ?? '';
  /* translators: 1: one or more weekdays with commas, 2: the last weekday */
  return names.length === 0 ? last : sprintf(__('%1$s and %2$s', 'security-optimizer'), names.join(', '), last);
}

/** `28 – 30 November, 3 days`; the first day alone while the last one is not chosen; '' without days. */
export function periodSummary(from: string, to: string, texts: DateTexts): string {
  if (from === '') return '';
  if (to === '') return texts.day(from);
  const count = countDays(from, to);
  /* translators: %d: number of days */
  const days = sprintf(_n('%d day', '%d days', count, 'security-optimizer'), count);
  return `${texts.range(from, to)}, ${days}`;
}

/** For how long the site is closed each day. */
export function dailyLength(from: string, to: string): string {
  const minutes = closedMinutes(from, to);
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  /* translators: %d: number of hours */
  const hoursText = sprintf(_n('%d hour', '%d hours', hours, 'security-optimizer'), hours);
  /* translators: %d: number of minutes */
  const restText = sprintf(_n('%d minute', '%d minutes', rest, 'security-optimizer'), rest);
  const length = [hours > 0 ? hoursText : '', rest > 0 ? restText : ''].filter(Boolean).join(' ');
  return from > to
    ? /* translators: %s: a length of time such as "8 hours" */
      sprintf(__('Closed for %s every night.', 'security-optimizer'), length)
    : /* translators: %s: a length of time such as "8 hours" */
      sprintf(__('Closed for %s every day.', 'security-optimizer'), length);
}
