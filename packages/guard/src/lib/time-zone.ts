import { createHash } from 'node:crypto';

/**
 * Wall-clock time in the site's time zone. "Local" values are milliseconds that would be the epoch time if the wall
 * clock showed UTC: plain numbers that can be compared and added like times of a wall clock.
 */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** No zone is farther from UTC than this: slightly more than a day on both sides of any wall-clock time. */
const REACH = 27 * HOUR;
/** Few zones are in use: one per site. */
const MAX_ZONES = 500;

type Offset = (ms: number) => number;
const zones = new Map<string, Offset>();

/**
 * Offset of the wall clock from UTC, milliseconds.
 *
 * @param timeZone an IANA name, `+05:30`, or a number of hours such as `5.5`, as WordPress stores them
 *   (`timezone_string`, `gmt_offset`); an unknown zone counts as UTC
 */
export function offsetAt(timeZone: string, ms: number): number {
  return getOffset(timeZone)(ms);
}

/**
 * A time zone in which guard computes the time that the site's clock shows: WordPress's own, unless guard's table of
 * zones lacks it or has other rules for it (PHP's may be newer). In that case it is the current offset of the site's
 * clock; the site is queried again soon, so a clock change is noticed soon after it.
 *
 * @param clock a moment, Unix seconds, and the offset of the site's clock at that moment, seconds
 */
export function toKnownTimeZone(timeZone: string, clock: { readonly time: number; readonly offset: number }): string {
  if (offsetAt(timeZone, clock.time * 1000) === clock.offset * 1000) return timeZone;
  const minutes = Math.round(Math.abs(clock.offset) / 60);
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${clock.offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}

/** The wall-clock time of an instant. */
export function toLocalTime(timeZone: string, ms: number): number {
  return ms + offsetAt(timeZone, ms);
}

/** The first instant at which the wall clock shows `local` or later. In a gap (spring) that is the gap's end. */
export function firstInstant(timeZone: string, local: number): number {
  const { before, after, change } = around(timeZone, local);
  return local - before < change ? local - before : Math.max(change, local - after);
}

/**
 * The instant after which the wall clock never again shows less than `local`. In a repeated hour, the second
 * occurrence.
 */
export function lastInstant(timeZone: string, local: number): number {
  const { before, after, change } = around(timeZone, local);
  return local - after > change ? local - after : Math.min(change, local - before);
}

/** Offsets before and after the clock change near a wall-clock time; without a clock change both are equal. */
function around(timeZone: string, local: number): { before: number; after: number; change: number } {
  const offset = getOffset(timeZone);
  let low = local - REACH;
  let high = local + REACH;
  const before = offset(low);
  const after = offset(high);
  if (before === after) return { before, after, change: high };
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offset(middle) === before) low = middle;
    else high = middle;
  }
  return { before, after, change: high };
}

function getOffset(timeZone: string): Offset {
  let offset = zones.get(timeZone);
  if (offset === undefined) {
    offset = fixedOffset(timeZone) ?? namedOffset(timeZone) ?? (() => 0);
    if (zones.size >= MAX_ZONES) zones.clear();
    zones.set(timeZone, offset);
  }
  return offset;
}

const FIXED = /^(?:UTC)?([+-]?)(\d{1,2})(?::([0-5]\d)|\.(\d{1,4}))?$/;

function fixedOffset(timeZone: string): Offset | null {
  const [, sign, hours, minutes, fraction] = FIXED.exec(timeZone) ?? [];
  if (hours === undefined || Number(hours) > 14) return null;
  const size = Number(hours) * HOUR + Number(minutes ?? 0) * MINUTE + Number(`0.${fraction ?? 0}`) * HOUR;
  const value = sign === '-' ? -size : size;
  return () => value;
}

function namedOffset(timeZone: string): Offset | null {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return null;
  }
  return (ms) => {
    const startOfSecond = Math.floor(ms / 1000) * 1000;
    // "11/24/2026, 06:00:00"
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = format
      .format(startOfSecond)
      .split(/\D+/)
      .map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second) - startOfSecond;
  };
}

/** Days and times on the wall clock of a site. Times are Unix seconds, time zones as WordPress stores them. */

const DAY_MS = 24 * 3600_000;

/** The first second of the day that contains a moment. */
export function startOfLocalDay(timeZone: string, at: number): number {
  return Math.ceil(firstInstant(timeZone, midnight(timeZone, at)) / 1000);
}

/** The first second of the following day. A day has 23 or 25 hours when the clocks change. */
export function endOfLocalDay(timeZone: string, at: number): number {
  return Math.ceil(firstInstant(timeZone, midnight(timeZone, at) + DAY_MS) / 1000);
}

/** The first second of the day that is this number of calendar days after the day of a moment. */
export function localDaysFrom(timeZone: string, at: number, days: number): number {
  return Math.ceil(firstInstant(timeZone, midnight(timeZone, at) + days * DAY_MS) / 1000);
}

/** The day of a moment, `YYYY-MM-DD`. */
export function localDate(timeZone: string, at: number): string {
  return toLocalTimestamp(timeZone, at).slice(0, 10);
}

/** `YYYY-MM-DD HH:MM`. */
export function toLocalTimestamp(timeZone: string, at: number): string {
  return new Date(at * 1000 + offsetNear(timeZone, at)).toISOString().slice(0, 16).replace('T', ' ');
}

/** Clocks change at full quarters of an hour of UTC. */
const QUARTER = 900;
/** The last result is cached: rows of a list are close together, and the lookup would be the largest cost of a row. */
let last = { timeZone: '', quarter: Number.NaN, offset: 0 };

function offsetNear(timeZone: string, at: number): number {
  const quarter = Math.floor(at / QUARTER);
  if (last.quarter !== quarter || last.timeZone !== timeZone) {
    last = { timeZone, quarter, offset: offsetAt(timeZone, quarter * QUARTER * 1000) };
  }
  return last.offset;
}

/** Midnight on the wall clock, as a local value. */
function midnight(timeZone: string, at: number): number {
  return Math.floor(toLocalTime(timeZone, at * 1000) / DAY_MS) * DAY_MS;
}

// Times of the week: milliseconds since the Unix epoch.

const DAY_MINUTES = 24 * 60;
export const WEEK_MS = 7 * DAY_MS;
/** The Unix epoch was a Thursday; weeks are counted from the Monday before it. */
const MONDAY_BEFORE_EPOCH = -3 * DAY_MS;

/**
 * A minute of the week derived from a text: it stays the same, and distributes the work of many sites.
 * @param hours range of minutes of the day
 * @returns minutes since Monday 0:00
 */
export function spreadMinute(text: string, hours: { readonly first: number; readonly minutes: number }): number {
  const number = createHash('sha256').update(text).digest().readUIntBE(0, 6);
  return (number % 7) * DAY_MINUTES + hours.first + (Math.floor(number / 7) % hours.minutes);
}

/** The last time, up to and including `now`, at which the wall clock showed a minute of the week. */
export function lastWeeklyTime(minute: number, timeZone: string, now: number): number {
  const local = toLocalTime(timeZone, now);
  const monday = local - modulo(local - MONDAY_BEFORE_EPOCH, WEEK_MS);
  const wanted = monday + minute * MINUTE;
  // In a week with a clock change, the wall clock alone does not show whether the time has been reached.
  for (const weeks of [1, 0, -1]) {
    const time = firstInstant(timeZone, wanted + weeks * WEEK_MS);
    if (time <= now) return time;
  }
  return firstInstant(timeZone, wanted - 2 * WEEK_MS);
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
