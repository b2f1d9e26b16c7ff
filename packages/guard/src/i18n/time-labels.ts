import type { Language } from '../i18n/language.js';
import { toLocalTime } from '../lib/time-zone.js';
import { perLanguage } from './language.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Unit = 'second' | 'minute' | 'hour' | 'day';

/** Formats a number of units: `1 hour`, `24 hours`. */
export function formatUnits(language: Language, count: number, unit: Unit): string {
  return formats(language).units[unit].format(count);
}

/** Formats the time left, short, rounded up: `58 min`, `23 hours`, `7 days`. */
export function formatShortTimeLeft(language: Language, ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / MINUTE));
  if (minutes < 60) return formats(language).shortMinutes.format(minutes);
  const hours = Math.ceil(minutes / 60);
  return hours < 48 ? formatUnits(language, hours, 'hour') : formatUnits(language, Math.ceil(hours / 24), 'day');
}

/** Formats the time left in its two largest units: `1 day 9 hours`, `3 hours 20 minutes`, `12 minutes`. */
export function formatTimeLeft(language: Language, ms: number): string {
  const rounded = Math.max(1, Math.ceil(ms / MINUTE)) * MINUTE;
  const days = Math.floor(rounded / DAY);
  const hours = Math.floor((rounded % DAY) / HOUR);
  const minutes = Math.floor((rounded % HOUR) / MINUTE);
  const two = (count: number, unit: Unit, more: number, smaller: Unit): string =>
    more === 0
      ? formatUnits(language, count, unit)
      : `${formatUnits(language, count, unit)} ${formatUnits(language, more, smaller)}`;
  if (days > 0) return two(days, 'day', hours, 'hour');
  return hours > 0 ? two(hours, 'hour', minutes, 'minute') : formatUnits(language, minutes, 'minute');
}

/**
 * Formats a short wait, rounded up: `1 second`, `90 seconds`, `12 minutes`, `2 hours`.
 * @param seconds at least 0
 */
export function formatWait(language: Language, seconds: number): string {
  if (seconds <= 90) return formatUnits(language, Math.max(1, Math.ceil(seconds)), 'second');
  const minutes = Math.ceil(seconds / 60);
  return minutes <= 90
    ? formatUnits(language, minutes, 'minute')
    : formatUnits(language, Math.ceil(minutes / 60), 'hour');
}

/** Whether two times are on the same day by the site's wall clock. */
export function isSameDay(timeZone: string, one: number, other: number): boolean {
  return Math.floor(toLocalTime(timeZone, one) / DAY) === Math.floor(toLocalTime(timeZone, other) / DAY);
}

/** Formats a time by the site's wall clock: `15:31`, or `3:31 PM` with a 12-hour clock. */
export function formatClockTime(language: Language, timeZone: string, at: number): string {
  return formats(language).time.format(toLocalTime(timeZone, at));
}

/** Formats a time by the site's wall clock: `Monday 23 November, 00:00`. */
export function formatDayAndTime(language: Language, timeZone: string, at: number): string {
  const day = formats(language).day.format(toLocalTime(timeZone, at));
  // Some versions of Unicode's data put a comma after the English weekday.
  const plain = language.dates === 'en-GB' ? day.replace(',', '') : day;
  return language.translate('{day}, {time}', { day: plain, time: formatClockTime(language, timeZone, at) });
}

/** Formats a time for the owner who reads a visitor's report: `21 Nov 2026, 11:04 UTC`. */
export function formatUtcTime(language: Language, at: Date): string {
  return `${formats(language).world.format(at)} UTC`;
}

const formats = perLanguage(({ tag, dates }) => {
  // The time is converted to the site's wall clock before it is formatted.
  const timeZone = 'UTC';
  const unit = (name: Unit, unitDisplay: 'long' | 'short' = 'long') =>
    new Intl.NumberFormat(tag, { style: 'unit', unit: name, unitDisplay });
  const is12Hours = new Intl.DateTimeFormat(dates, { hour: 'numeric' }).resolvedOptions().hour12 === true;
  const clock = { hour: is12Hours ? 'numeric' : '2-digit', minute: '2-digit' } as const;
  return {
    units: { second: unit('second'), minute: unit('minute'), hour: unit('hour'), day: unit('day') },
    shortMinutes: unit('minute', 'short'),
    time: new Intl.DateTimeFormat(dates, { timeZone, ...clock }),
    day: new Intl.DateTimeFormat(dates, { timeZone, weekday: 'long', day: 'numeric', month: 'long' }),
    world: new Intl.DateTimeFormat(dates, {
      ...{ timeZone, day: 'numeric', month: 'short', year: 'numeric' },
      ...clock,
    }),
  };
});
