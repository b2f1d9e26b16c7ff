import { createHash } from 'node:crypto';
import { firstInstant, toLocalTime } from './time-zone.js';

/** Times of the week on the wall clock of a site. Milliseconds since the Unix epoch. */

const MINUTE = 60_000;
const DAY_MINUTES = 24 * 60;
const DAY = DAY_MINUTES * MINUTE;
export const WEEK_MS = 7 * DAY;
/** The Unix epoch was a Thursday; weeks are counted from the Monday before. */
const MONDAY_BEFORE_EPOCH = -3 * DAY;

/**
 * A minute of the week that is made of a text, so it stays the same, and many sites do not work at once.
 * @param hours minutes of the day between which it lies
 * @returns counted from Monday 0:00
 */
export function spreadMinute(text: string, hours: { readonly first: number; readonly minutes: number }): number {
  const number = createHash('sha256').update(text).digest().readUIntBE(0, 6);
  return (number % 7) * DAY_MINUTES + hours.first + (Math.floor(number / 7) % hours.minutes);
}

/** The last time at which the wall clock showed a minute of the week, at `now` itself too. */
export function lastWeeklyTime(minute: number, timeZone: string, now: number): number {
  const local = toLocalTime(timeZone, now);
  const monday = local - modulo(local - MONDAY_BEFORE_EPOCH, WEEK_MS);
  const wanted = monday + minute * MINUTE;
  // In the week of the clocks' change the wall clock alone does not say whether the time has come.
  for (const weeks of [1, 0, -1]) {
    const time = firstInstant(timeZone, wanted + weeks * WEEK_MS);
    if (time <= now) return time;
  }
  return firstInstant(timeZone, wanted - 2 * WEEK_MS);
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
