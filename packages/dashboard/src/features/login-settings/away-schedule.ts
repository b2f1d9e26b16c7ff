import {
  AWAY_DAILY_MAX_SECONDS,
  AWAY_PERIOD_MAX_MONTHS,
  type AwaySchedule,
  loginMessages,
  WEEKDAYS,
  type Weekday,
} from '@security-optimizer/contract/login/limits';
import { messages } from '@security-optimizer/contract/messages';
import type { DateFormats } from '../../i18n/date-formats.js';
import { addMonths, countDays, type SiteNow, toDayParts } from '../../i18n/days.js';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import type { Messages } from '../../ui/use-form-errors.js';

export type AwayType = Exclude<AwaySchedule['type'], 'off'>;

/** Values of the form; each type keeps its own while another one is shown. */
export interface AwayForm {
  readonly type: AwayType;
  /** `YYYY-MM-DD`, or '' */
  readonly from_date: string;
  readonly to_date: string;
  readonly weekly: readonly Weekday[];
  /** `HH:MM`, or '' */
  readonly from_hour: string;
  readonly to_hour: string;
}

const EMPTY: AwayForm = { type: 'period', from_date: '', to_date: '', weekly: [], from_hour: '', to_hour: '' };

export function toAwayForm(schedule: AwaySchedule): AwayForm {
  return schedule.type === 'off' ? EMPTY : { ...EMPTY, ...schedule };
}

/** The schedule in the format of the API. */
export function toSchedule(form: AwayForm): AwaySchedule {
  switch (form.type) {
    case 'period':
      return { type: 'period', from_date: form.from_date, to_date: form.to_date };
    case 'weekly':
      return { type: 'weekly', weekly: WEEKDAYS.filter((day) => form.weekly.includes(day)) };
    case 'daily':
      return { type: 'daily', from_hour: form.from_hour, to_hour: form.to_hour };
  }
}

/** Sets From. A From after To clears To (specification section 4). */
export function withFrom(form: AwayForm, from_date: string): AwayForm {
  return { ...form, from_date, to_date: form.to_date !== '' && from_date > form.to_date ? '' : form.to_date };
}

/** Limits of From and To. */
export function dateLimits({ from_date }: AwayForm, today: string): { min: string; minTo: string; max: string } {
  return { min: today, minTo: from_date > today ? from_date : today, max: addMonths(today, AWAY_PERIOD_MAX_MONTHS) };
}

/** Errors by field (specification section 5). */
export function getAwayErrors(form: AwayForm, today: string): Messages {
  if (form.type === 'period') return periodErrors(form, today);
  if (form.type === 'daily') return dailyErrors(form);
  if (form.weekly.length === 0) return { weekly: translate(messages.required) };
  return form.weekly.length === WEEKDAYS.length ? { weekly: translate(loginMessages.everyDay) } : {};
}

function periodErrors(form: AwayForm, today: string): Messages {
  const { min, minTo, max } = dateLimits(form, today);
  const { from_date, to_date } = form;
  return {
    ...getFieldError('from_date', from_date, [
      [from_date < min, __('Choose today or a later day.', 'security-optimizer')],
      [from_date > max, __('Choose a day within the next 6 months.', 'security-optimizer')],
    ]),
    ...getFieldError('to_date', to_date, [
      [to_date < minTo, __('Choose a day that is not before From.', 'security-optimizer')],
      [to_date > max, __('Choose a day within the next 6 months.', 'security-optimizer')],
    ]),
  };
}

function dailyErrors({ from_hour, to_hour }: AwayForm): Messages {
  const known = from_hour !== '' && to_hour !== '';
  return {
    ...getFieldError('from_hour', from_hour, []),
    ...getFieldError('to_hour', to_hour, [
      [known && from_hour === to_hour, __('From and To must be different times.', 'security-optimizer')],
      [known && closedMinutes(from_hour, to_hour) * 60 > AWAY_DAILY_MAX_SECONDS, translate(loginMessages.tooLongDaily)],
    ]),
  };
}

function getFieldError(name: string, value: string, rules: readonly (readonly [boolean, string])[]): Messages {
  if (value === '') return { [name]: translate(messages.required) };
  const broken = rules.find(([isBroken]) => isBroken);
  return broken === undefined ? {} : { [name]: broken[1] };
}

/** Returns the minutes from one time to another, possibly across midnight. */
function closedMinutes(from: string, to: string): number {
  return (toMinutes(to) - toMinutes(from) + 24 * 60) % (24 * 60);
}

/** @param time `HH:MM` */
export function toMinutes(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

/** Whether Away Mode starts as soon as it is saved. */
export function startsRightAway(form: AwayForm, weekday: Weekday, now: SiteNow): boolean {
  switch (form.type) {
    case 'period':
      return form.from_date !== '' && form.from_date <= now.day && (form.to_date === '' || form.to_date >= now.day);
    case 'weekly':
      return form.weekly.includes(weekday);
    case 'daily': {
      if (form.from_hour === '' || form.to_hour === '' || form.from_hour === form.to_hour) return false;
      const since = (now.minutes - toMinutes(form.from_hour) + 24 * 60) % (24 * 60);
      return since < closedMinutes(form.from_hour, form.to_hour);
    }
  }
}

/** Number of a weekday as `Date` counts it: 0 is Sunday. */
export function weekdayNumber(day: Weekday): number {
  return (WEEKDAYS.indexOf(day) + 1) % 7;
}

/** @param day `YYYY-MM-DD` */
export function toWeekday(day: string): Weekday {
  return WEEKDAYS[(toDayParts(day).weekday + 6) % 7] as Weekday;
}

/** The schedule as a sentence. */
export function scheduleText(schedule: AwaySchedule, formats: DateFormats): string {
  switch (schedule.type) {
    case 'off':
      return '';
    case 'period':
      return sprintf(
        /* translators: 1: first day, 2: last day */
        __('Closed from %1$s to %2$s.', 'security-optimizer'),
        formats.day(schedule.from_date),
        formats.day(schedule.to_date),
      );
    case 'weekly':
      /* translators: %s: one or more weekdays */
      return sprintf(__('Closed every %s.', 'security-optimizer'), weekdayList(schedule.weekly, formats));
    case 'daily':
      return sprintf(
        /* translators: 1: time, 2: time */
        __('Closed from %1$s to %2$s every day.', 'security-optimizer'),
        formats.time(schedule.from_hour),
        formats.time(schedule.to_hour),
      );
  }
}

function weekdayList(days: readonly Weekday[], formats: DateFormats): string {
  const names = WEEKDAYS.filter((day) => days.includes(day)).map((day) => formats.weekday(weekdayNumber(day), 'long'));
  const last = names.pop() ?? '';
  /* translators: 1: one or more weekdays with commas, 2: the last weekday */
  return names.length === 0 ? last : sprintf(__('%1$s and %2$s', 'security-optimizer'), names.join(', '), last);
}

/** `28 – 30 November, 3 days`; only the first day until the last one is chosen; '' without days. */
export function periodSummary(from: string, to: string, formats: DateFormats): string {
  if (from === '') return '';
  if (to === '') return formats.day(from);
  const count = countDays(from, to);
  /* translators: %d: number of days */
  const days = sprintf(_n('%d day', '%d days', count, 'security-optimizer'), count);
  return `${formats.range(from, to)}, ${days}`;
}

/** Length of the closed hours, as a sentence. */
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
