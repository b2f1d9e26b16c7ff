import {
  AWAY_DAILY_MAX_SECONDS,
  AWAY_PERIOD_MAX_MONTHS,
  type AwaySchedule,
  loginMessages,
  WEEKDAYS,
  type Weekday,
} from '@security-optimizer/contract/login-limits';
import { messages } from '@security-optimizer/contract/messages';
import { addMonths } from '../../dates/day.js';
import type { SiteNow } from '../../dates/site-now.js';
import type { Messages } from '../../forms/use-form-errors.js';
import { __, translate } from '../../i18n/translate.js';

export type AwayType = Exclude<AwaySchedule['type'], 'off'>;

/** What the form holds; each type keeps its own values while another one is shown. */
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

export function awayFormOf(schedule: AwaySchedule): AwayForm {
  return schedule.type === 'off' ? EMPTY : { ...EMPTY, ...schedule };
}

/** The schedule as it is sent. */
export function scheduleOf(form: AwayForm): AwaySchedule {
  switch (form.type) {
    case 'period':
      return { type: 'period', from_date: form.from_date, to_date: form.to_date };
    case 'weekly':
      return { type: 'weekly', weekly: WEEKDAYS.filter((day) => form.weekly.includes(day)) };
    case 'daily':
      return { type: 'daily', from_hour: form.from_hour, to_hour: form.to_hour };
  }
}

/** Changing From to a value after To clears To (specification section 4). */
export function withFrom(form: AwayForm, from_date: string): AwayForm {
  return { ...form, from_date, to_date: form.to_date !== '' && from_date > form.to_date ? '' : form.to_date };
}

/** The days that From and To may lie on. */
export function dateLimits({ from_date }: AwayForm, today: string): { min: string; minTo: string; max: string } {
  return { min: today, minTo: from_date > today ? from_date : today, max: addMonths(today, AWAY_PERIOD_MAX_MONTHS) };
}

/** What is wrong with the form, by field (specification section 5). */
export function awayErrors(form: AwayForm, today: string): Messages {
  if (form.type === 'period') return periodErrors(form, today);
  if (form.type === 'daily') return dailyErrors(form);
  if (form.weekly.length === 0) return { weekly: translate(messages.required) };
  return form.weekly.length === WEEKDAYS.length ? { weekly: translate(loginMessages.everyDay) } : {};
}

function periodErrors(form: AwayForm, today: string): Messages {
  const { min, minTo, max } = dateLimits(form, today);
  const { from_date, to_date } = form;
  return {
    ...problem('from_date', from_date, [
      [from_date < min, __('Choose today or a later day.', 'security-optimizer')],
      [from_date > max, __('Choose a day within the next 6 months.', 'security-optimizer')],
    ]),
    ...problem('to_date', to_date, [
      [to_date < minTo, __('Choose a day that is not before From.', 'security-optimizer')],
      [to_date > max, __('Choose a day within the next 6 months.', 'security-optimizer')],
    ]),
  };
}

function dailyErrors({ from_hour, to_hour }: AwayForm): Messages {
  const known = from_hour !== '' && to_hour !== '';
  return {
    ...problem('from_hour', from_hour, []),
    ...problem('to_hour', to_hour, [
      [known && from_hour === to_hour, __('From and To must be different times.', 'security-optimizer')],
      [known && closedMinutes(from_hour, to_hour) * 60 > AWAY_DAILY_MAX_SECONDS, translate(loginMessages.tooLongDaily)],
    ]),
  };
}

function problem(name: string, value: string, rules: readonly (readonly [boolean, string])[]): Messages {
  if (value === '') return { [name]: translate(messages.required) };
  const broken = rules.find(([isBroken]) => isBroken);
  return broken === undefined ? {} : { [name]: broken[1] };
}

/** Minutes from one time to another, over midnight if need be. */
export function closedMinutes(from: string, to: string): number {
  return (minutesOf(to) - minutesOf(from) + 24 * 60) % (24 * 60);
}

/** @param time `HH:MM` */
export function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

/** Whether Away Mode would be on as soon as it is saved. */
export function startsRightAway(form: AwayForm, weekday: Weekday, now: SiteNow): boolean {
  switch (form.type) {
    case 'period':
      return form.from_date !== '' && form.from_date <= now.day && (form.to_date === '' || form.to_date >= now.day);
    case 'weekly':
      return form.weekly.includes(weekday);
    case 'daily': {
      if (form.from_hour === '' || form.to_hour === '' || form.from_hour === form.to_hour) return false;
      const since = (now.minutes - minutesOf(form.from_hour) + 24 * 60) % (24 * 60);
      return since < closedMinutes(form.from_hour, form.to_hour);
    }
  }
}
