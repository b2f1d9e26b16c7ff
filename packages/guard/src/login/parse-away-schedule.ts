import {
  AWAY_DAILY_MAX_SECONDS,
  AWAY_PERIOD_MAX_MONTHS,
  type AwaySchedule,
  loginMessages,
  WEEKDAYS,
  type Weekday,
} from '@security-optimizer/contract/login-limits';
import { messages } from '@security-optimizer/contract/messages';
import { ApiError } from '../lib/api-error.js';
import { localOf } from './time-zone.js';

const DAY = 24 * 3600_000;
/** Unix seconds between the years 2001 and 2286: ten digits. */
const UNIX_SECONDS = /^\d{10}$/;

const awayTexts = {
  type: 'Use off, period, weekly or daily.',
  weekday: 'Use the names of weekdays: monday to sunday.',
  fromPast: 'Choose today or a later day.',
  toBeforeFrom: 'Choose a day that is not before From.',
  toTooLate: 'Choose a day within the next 6 months.',
  sameTimes: 'From and To must be different times.',
} as const;

/** What a client may send; `from`, `to` and `value` are names that the original client uses. */
export type AwayInput = Readonly<Record<string, unknown>>;

/**
 * Reads and checks a schedule (specification section 5). Dates and times are in the site's time zone; Unix seconds
 * are turned into them.
 *
 * @param current the schedule that is stored: saving it again succeeds, also when its days have gone by
 * @throws ApiError invalid_input with a text per field
 */
export function parseAwaySchedule(
  input: AwayInput,
  at: { readonly timeZone: string; readonly nowMs: number; readonly current: AwaySchedule },
): AwaySchedule {
  const { timeZone } = at;
  switch (input.type) {
    case 'off':
      return { type: 'off' };
    case 'period':
      return period(
        pick(input, 'from_date', 'from', (ms) => dateText(localOf(timeZone, ms))),
        pick(input, 'to_date', 'to', (ms) => dateText(localOf(timeZone, ms))),
        at,
      );
    case 'daily':
      return daily(
        pick(input, 'from_hour', 'from', (ms) => timeText(localOf(timeZone, ms))),
        pick(input, 'to_hour', 'to', (ms) => timeText(localOf(timeZone, ms))),
      );
    case 'weekly':
      return weekly(input.weekly ?? input.value);
    default:
      throw invalid({ type: isMissing(input.type) ? messages.required : awayTexts.type });
  }
}

function period(
  from: unknown,
  to: unknown,
  { timeZone, nowMs, current }: { timeZone: string; nowMs: number; current: AwaySchedule },
): AwaySchedule {
  check({ from_date: from, to_date: to }, isDate);
  const schedule = { type: 'period', from_date: from as string, to_date: to as string } as const;
  if (JSON.stringify(schedule) === JSON.stringify(current)) return schedule;
  const today = dateText(localOf(timeZone, nowMs));
  const fields: Record<string, string> = {};
  // Dates of this form compare as texts.
  if (schedule.from_date < today) fields.from_date = awayTexts.fromPast;
  if (schedule.to_date < schedule.from_date) fields.to_date = awayTexts.toBeforeFrom;
  else if (schedule.to_date > monthsAfter(today, AWAY_PERIOD_MAX_MONTHS)) fields.to_date = awayTexts.toTooLate;
  if (Object.keys(fields).length > 0) throw invalid(fields);
  return schedule;
}

function daily(from: unknown, to: unknown): AwaySchedule {
  check({ from_hour: from, to_hour: to }, isTime);
  const schedule = { type: 'daily', from_hour: from as string, to_hour: to as string } as const;
  if (from === to) throw invalid({ to_hour: awayTexts.sameTimes });
  const seconds = (minutesOf(schedule.to_hour) - minutesOf(schedule.from_hour)) * 60;
  if ((seconds + DAY / 1000) % (DAY / 1000) > AWAY_DAILY_MAX_SECONDS) {
    throw invalid({ to_hour: loginMessages.tooLongDaily });
  }
  return schedule;
}

function weekly(value: unknown): AwaySchedule {
  const list = typeof value === 'string' && value !== '' ? [value] : value;
  if (isMissing(list) || (Array.isArray(list) && list.length === 0)) throw invalid({ weekly: messages.required });
  if (!Array.isArray(list) || !list.every(isWeekday)) throw invalid({ weekly: awayTexts.weekday });
  const chosen = WEEKDAYS.filter((day) => list.includes(day));
  if (chosen.length === WEEKDAYS.length) throw invalid({ weekly: loginMessages.everyDay });
  return { type: 'weekly', weekly: chosen };
}

/** The value under its own name, or the one under the original client's name; Unix seconds become text. */
function pick(input: AwayInput, name: string, otherName: string, textOf: (ms: number) => string): unknown {
  const value = isMissing(input[name]) ? input[otherName] : input[name];
  const isUnix = (typeof value === 'number' || typeof value === 'string') && UNIX_SECONDS.test(String(value));
  return isUnix ? textOf(Number(value) * 1000) : value;
}

function check(values: Readonly<Record<string, unknown>>, isValid: (value: unknown) => boolean): void {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    if (isMissing(value)) fields[name] = messages.required;
    else if (!isValid(value)) fields[name] = messages.invalidFormat;
  }
  if (Object.keys(fields).length > 0) throw invalid(fields);
}

function invalid(fields: Readonly<Record<string, string>>): ApiError {
  return new ApiError('invalid_input', { fields });
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function isWeekday(value: unknown): value is Weekday {
  return (WEEKDAYS as readonly unknown[]).includes(value);
}

/** A day that the calendar has: 2026-02-30 would come back as another one. */
function isDate(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const ms = Date.parse(value);
  return !Number.isNaN(ms) && dateText(ms) === value;
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(value);
}

function dateText(local: number): string {
  return new Date(local).toISOString().slice(0, 10);
}

function timeText(local: number): string {
  return new Date(local).toISOString().slice(11, 16);
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

/** The same day some months later, or the last day of that month when it is shorter. */
function monthsAfter(date: string, months: number): string {
  const day = new Date(date);
  const target = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + months, 1));
  const last = new Date(Date.UTC(target.getUTCFullYear(), target.getUTCMonth() + 1, 0)).getUTCDate();
  target.setUTCDate(Math.min(day.getUTCDate(), last));
  return dateText(target.getTime());
}
