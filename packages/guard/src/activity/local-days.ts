import { firstInstant, localOf, offsetAt } from '../login/time-zone.js';

/** Days and times as the wall clock of a site shows them. Times are Unix seconds, time zones as WordPress stores them. */

const DAY_MS = 24 * 3600_000;

/** The first second of the day in which a moment lies. */
export function startOfLocalDay(timeZone: string, at: number): number {
  return Math.ceil(firstInstant(timeZone, midnight(timeZone, at)) / 1000);
}

/** The first second of the day after. A day has 23 or 25 hours when the clocks change. */
export function endOfLocalDay(timeZone: string, at: number): number {
  return Math.ceil(firstInstant(timeZone, midnight(timeZone, at) + DAY_MS) / 1000);
}

/** The first second of the day that many calendar days from the one in which a moment lies. */
export function localDaysFrom(timeZone: string, at: number, days: number): number {
  return Math.ceil(firstInstant(timeZone, midnight(timeZone, at) + days * DAY_MS) / 1000);
}

/** The day in which a moment lies, `YYYY-MM-DD`. */
export function localDate(timeZone: string, at: number): string {
  return localTimestamp(timeZone, at).slice(0, 10);
}

/** `YYYY-MM-DD HH:MM`. */
export function localTimestamp(timeZone: string, at: number): string {
  return new Date(at * 1000 + offsetNear(timeZone, at)).toISOString().slice(0, 16).replace('T', ' ');
}

/** Clocks change at full quarters of an hour of UTC. */
const QUARTER = 900;
/** The last answer: rows of a list lie close together, and asking costs more than all the rest of a row. */
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
  return Math.floor(localOf(timeZone, at * 1000) / DAY_MS) * DAY_MS;
}
