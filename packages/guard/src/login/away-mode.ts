import {
  AWAY_DAILY_MAX_SECONDS,
  AWAY_PERIOD_MAX_MONTHS,
  type AwaySchedule,
  loginMessages,
  WEEKDAYS,
  type Weekday,
} from '@security-optimizer/contract/login/limits';
import type { AwayState } from '@security-optimizer/contract/login/schemas';
import { messages } from '@security-optimizer/contract/messages';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { toPlainText } from '@security-optimizer/contract/typed-text';
import { ApiError } from '../lib/api-error.js';
import { toLocalTime, toLocalTimestamp } from '../lib/time-zone.js';
import { getAwayStatus } from '../rules/away-schedule.js';
import type { Actor } from '../settings/audit-store.js';
import { changeSettings, type SettingChangeContext } from '../settings/change-settings.js';
import type { SiteConfig, SiteId } from '../site.js';

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

/** Fields of the request; `from`, `to` and `value` are names that the original client uses. */
export type AwayInput = Readonly<Record<string, unknown>>;

/**
 * Parses and validates a schedule (specification section 5). Dates and times are in the site's time zone; Unix seconds
 * are converted to them.
 *
 * @param current the stored schedule: saving it again succeeds, even when its days have passed
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
        pick(input, 'from_date', 'from', (ms) => dateText(toLocalTime(timeZone, ms))),
        pick(input, 'to_date', 'to', (ms) => dateText(toLocalTime(timeZone, ms))),
        at,
      );
    case 'daily':
      return daily(
        pick(input, 'from_hour', 'from', (ms) => timeText(toLocalTime(timeZone, ms))),
        pick(input, 'to_hour', 'to', (ms) => timeText(toLocalTime(timeZone, ms))),
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
  const today = dateText(toLocalTime(timeZone, nowMs));
  const fields: Record<string, string> = {};
  // Dates in this format sort as strings.
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
  const seconds = (toMinutes(schedule.to_hour) - toMinutes(schedule.from_hour)) * 60;
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

/** The value of `name`, or of `otherName`, which the original client sends. Unix seconds are converted to text. */
function pick(input: AwayInput, name: string, otherName: string, toText: (ms: number) => string): unknown {
  const sent = isMissing(input[name]) ? input[otherName] : input[name];
  const value = typeof sent === 'string' ? toPlainText(sent) : sent;
  const isUnix = (typeof value === 'number' || typeof value === 'string') && UNIX_SECONDS.test(String(value));
  return isUnix ? toText(Number(value) * 1000) : value;
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

/** Whether the calendar has this day: `Date.parse` converts 2026-02-30 to another day. */
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

function toMinutes(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

/** The same day `months` later, or the last day of that month when the month is shorter. */
function monthsAfter(date: string, months: number): string {
  const day = new Date(date);
  const target = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + months, 1));
  const last = new Date(Date.UTC(target.getUTCFullYear(), target.getUTCMonth() + 1, 0)).getUTCDate();
  target.setUTCDate(Math.min(day.getUTCDate(), last));
  return dateText(target.getTime());
}

/** Created at its first use: that takes 20 ms or more, and every start loads this file. */
let format: Intl.DateTimeFormat | undefined;

/** A time in the site's time zone as text: `Monday 23 November 2026, 06:00`. */
export function localTimeText(timeZone: string, ms: number): string {
  format ??= new Intl.DateTimeFormat('en-GB', {
    timeZone: 'UTC',
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const parts = Object.fromEntries(
    format.formatToParts(toLocalTime(timeZone, ms)).map(({ type, value }) => [type, value]),
  ) as Record<Intl.DateTimeFormatPartTypes, string>;
  return `${parts.weekday} ${parts.day} ${parts.month} ${parts.year}, ${parts.hour}:${parts.minute}`;
}

/** Away Mode as the API returns it: the schedule, its current state and the next change. */
export function getAwayState(schedule: AwaySchedule, timeZone: string, nowMs: number): AwayState {
  const { away, until, nextFrom } = getAwayStatus(schedule, timeZone, nowMs);
  return {
    schedule: schedule.type === 'weekly' ? { type: 'weekly', weekly: [...schedule.weekly] } : schedule,
    away: away ? 1 : 0,
    until: until === null ? null : until / 1000,
    until_text: until === null ? null : localTimeText(timeZone, until),
    next_from: nextFrom === null ? null : nextFrom / 1000,
    next_from_text: nextFrom === null ? null : localTimeText(timeZone, nextFrom),
    timezone: timeZone,
  };
}

export interface AwayModeContext extends SettingChangeContext {
  readonly timeZone: (site: SiteId) => string;
}

/**
 * Sets the schedule of Away Mode. While Away Mode is on, the schedule can't be changed or switched off. A schedule that
 * starts at once logs everyone out of the admin area, so it needs the caller's confirmation (`confirm` in the input).
 *
 * @throws ApiError away_mode_on, away_starts_at_once, or invalid_input naming the fields; StorageError
 */
export async function setAwayMode(
  deps: AwayModeContext,
  { site, actor, input }: { readonly site: SiteConfig; readonly actor: Actor; readonly input: AwayInput },
): Promise<{ readonly state: AwayState; readonly message: ServerText }> {
  const timeZone = deps.timeZone(site.id);
  const { after } = await changeSettings(deps, { site, actor }, ({ login }) => {
    const nowMs = deps.clock();
    const { until } = getAwayStatus(login.away_mode, timeZone, nowMs);
    if (until !== null) {
      throw new ApiError('away_mode_on', {
        message: serverMessage('away_until', { time: { time: toLocalTimestamp(timeZone, until / 1000) } }),
      });
    }
    const schedule = parseAwaySchedule(input, { timeZone, nowMs, current: login.away_mode });
    const { until: end } = getAwayStatus(schedule, timeZone, nowMs);
    if (end !== null && input.confirm !== 1) {
      throw new ApiError('away_starts_at_once', {
        message: serverMessage('away_starts_at_once', { time: { time: toLocalTimestamp(timeZone, end / 1000) } }),
      });
    }
    return { away_mode: schedule };
  });
  const state = getAwayState(after.login.away_mode, timeZone, deps.clock());
  return { state, message: toMessage(state, timeZone) };
}

function toMessage({ until, next_from }: AwayState, timeZone: string): ServerText {
  if (until !== null) return serverMessage('away_until', { time: { time: toLocalTimestamp(timeZone, until) } });
  return next_from === null
    ? 'Away Mode is off.'
    : serverMessage('away_from', { time: { time: toLocalTimestamp(timeZone, next_from) } });
}
