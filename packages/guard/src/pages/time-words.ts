import { localOf } from '../login/time-zone.js';
import type { Language } from '../texts/language.js';
import { perLanguage } from '../texts/per-language.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Unit = 'second' | 'minute' | 'hour' | 'day';

/** A number of units in words: `1 hour`, `24 hours`. */
export function inUnits(language: Language, count: number, unit: Unit): string {
  return formats(language).units[unit].format(count);
}

/** Time left, short, rounded up: `58 min`, `23 hours`, `7 days`. */
export function shortTimeLeft(language: Language, ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / MINUTE));
  if (minutes < 60) return formats(language).shortMinutes.format(minutes);
  const hours = Math.ceil(minutes / 60);
  return hours < 48 ? inUnits(language, hours, 'hour') : inUnits(language, Math.ceil(hours / 24), 'day');
}

/** Time left in its two largest units: `1 day 9 hours`, `3 hours 20 minutes`, `12 minutes`. */
export function timeLeft(language: Language, ms: number): string {
  const whole = Math.max(1, Math.ceil(ms / MINUTE)) * MINUTE;
  const days = Math.floor(whole / DAY);
  const hours = Math.floor((whole % DAY) / HOUR);
  const minutes = Math.floor((whole % HOUR) / MINUTE);
  const two = (count: number, unit: Unit, more: number, smaller: Unit): string =>
    more === 0
      ? inUnits(language, count, unit)
      : `${inUnits(language, count, unit)} ${inUnits(language, more, smaller)}`;
  if (days > 0) return two(days, 'day', hours, 'hour');
  return hours > 0 ? two(hours, 'hour', minutes, 'minute') : inUnits(language, minutes, 'minute');
}

/** A short wait, rounded up: `1 second`, `90 seconds`, `12 minutes`, `2 hours`. @param seconds at least 0 */
export function waitInWords(language: Language, seconds: number): string {
  if (seconds <= 90) return inUnits(language, Math.max(1, Math.ceil(seconds)), 'second');
  const minutes = Math.ceil(seconds / 60);
  return minutes <= 90 ? inUnits(language, minutes, 'minute') : inUnits(language, Math.ceil(minutes / 60), 'hour');
}

/** Whether two moments are on the same day of the site's wall clock. */
export function isSameDay(timeZone: string, one: number, other: number): boolean {
  return Math.floor(localOf(timeZone, one) / DAY) === Math.floor(localOf(timeZone, other) / DAY);
}

/** A moment on the site's wall clock: `15:31`, or `3:31 PM` where the clock has twelve hours. */
export function clockTime(language: Language, timeZone: string, at: number): string {
  return formats(language).time.format(localOf(timeZone, at));
}

/** A moment on the site's wall clock: `Monday 23 November, 00:00`. */
export function dayAndTime(language: Language, timeZone: string, at: number): string {
  const day = formats(language).day.format(localOf(timeZone, at));
  // Unicode's data had a comma behind the English weekday for some years.
  const plain = language.dates === 'en-GB' ? day.replace(',', '') : day;
  return language.translate('{day}, {time}', { day: plain, time: clockTime(language, timeZone, at) });
}

/** A moment for whoever reads a report of a visitor: `21 Nov 2026, 11:04 UTC`. */
export function worldTime(language: Language, at: Date): string {
  return `${formats(language).world.format(at)} UTC`;
}

const formats = perLanguage(({ tag, dates }) => {
  // The wall clock is reckoned before it comes here.
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
