/**
 * Wall-clock time in the site's time zone. "Local" values are milliseconds that would be the epoch time if the wall
 * clock showed UTC: plain numbers that compare and add like times on a clock face.
 */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** No zone is further from UTC than this; a day and a little more on both sides of any wall-clock time. */
const REACH = 27 * HOUR;
/** Zones in use are few: one per site. */
const MAX_ZONES = 500;

type Offset = (ms: number) => number;
const zones = new Map<string, Offset>();

/**
 * How far the wall clock is ahead of UTC, milliseconds.
 *
 * @param timeZone an IANA name, `+05:30`, or a number of hours such as `5.5`, as WordPress stores them
 *   (`timezone_string`, `gmt_offset`); what nobody knows counts as UTC
 */
export function offsetAt(timeZone: string, ms: number): number {
  return offsetOf(timeZone)(ms);
}

/** What the wall clock shows at an instant. */
export function localOf(timeZone: string, ms: number): number {
  return ms + offsetAt(timeZone, ms);
}

/** The first instant at which the wall clock shows `local` or later. In a gap (spring) that is the gap's end. */
export function firstInstant(timeZone: string, local: number): number {
  const { before, after, change } = around(timeZone, local);
  return local - before < change ? local - before : Math.max(change, local - after);
}

/** The instant from which on the wall clock never again shows less than `local`. In a repeated hour, the second one. */
export function lastInstant(timeZone: string, local: number): number {
  const { before, after, change } = around(timeZone, local);
  return local - after > change ? local - after : Math.min(change, local - before);
}

/** Offsets before and after the change of the clocks that is near a wall-clock time; without one both are the same. */
function around(timeZone: string, local: number): { before: number; after: number; change: number } {
  const offset = offsetOf(timeZone);
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

function offsetOf(timeZone: string): Offset {
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
    const whole = Math.floor(ms / 1000) * 1000;
    // "11/24/2026, 06:00:00"
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = format
      .format(whole)
      .split(/\D+/)
      .map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
  };
}
