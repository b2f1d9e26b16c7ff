import { type AwaySchedule, WEEKDAYS } from '@security-optimizer/contract/login-limits';
import { firstInstant, lastInstant, localOf } from './time-zone.js';

const DAY = 24 * 3600_000;

/** What Away Mode does at one moment. Times are milliseconds since the Unix epoch. */
export interface AwayNow {
  readonly away: boolean;
  /** When it ends; null while it is not on. */
  readonly until: number | null;
  /** When it begins the next time after now; null when it never does. */
  readonly nextFrom: number | null;
}

/** From inside, to outside. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/**
 * Whether a schedule is away at a moment, until when, and when next. Pure.
 *
 * Where the clocks change, a stretch lasts from the first moment at which the wall clock has reached its beginning to
 * the last at which it is still before its end: an hour that the clock shows twice is away both times, and a
 * beginning that the clock skips counts from the moment it is skipped. Days that follow each other are one stretch.
 *
 * @param timeZone as WordPress stores it, see `offsetAt`
 */
export function awayAt(schedule: AwaySchedule, timeZone: string, nowMs: number): AwayNow {
  const stretches = merged(stretchesNear(schedule, timeZone, nowMs));
  const present = stretches.find(({ from, to }) => from <= nowMs && nowMs < to);
  const next = stretches.find(({ from }) => from > nowMs);
  return { away: present !== undefined, until: present?.to ?? null, nextFrom: next?.from ?? null };
}

/** `awayAt` for the path of every request: the answer is worked out again only when the next change has come. */
export function awayRule(schedule: AwaySchedule, timeZone: string): (nowMs: number) => AwayNow {
  const never: AwayNow = Object.freeze({ away: false, until: null, nextFrom: null });
  if (schedule.type === 'off') return () => never;
  let known: { readonly now: AwayNow; readonly from: number; readonly to: number } | null = null;
  return (nowMs) => {
    if (known === null || nowMs < known.from || nowMs >= known.to) {
      const now = awayAt(schedule, timeZone, nowMs);
      known = { now, from: nowMs, to: now.until ?? now.nextFrom ?? Number.POSITIVE_INFINITY };
    }
    return known.now;
  };
}

/** Every stretch that can contain now or be the next one, in order of their beginning. */
function stretchesNear(schedule: AwaySchedule, timeZone: string, nowMs: number): Stretch[] {
  const today = Math.floor(localOf(timeZone, nowMs) / DAY) * DAY;
  const stretch = (from: number, to: number): Stretch => ({
    from: firstInstant(timeZone, from),
    to: lastInstant(timeZone, to),
  });
  switch (schedule.type) {
    case 'off':
      return [];
    case 'period':
      return [stretch(Date.parse(schedule.from_date), Date.parse(schedule.to_date) + DAY)];
    case 'daily': {
      const from = timeOfDay(schedule.from_hour);
      const length = (timeOfDay(schedule.to_hour) - from + DAY) % DAY;
      return days(today, -2, 3).map((day) => stretch(day + from, day + from + length));
    }
    case 'weekly':
      // A week back for a stretch that is on, two ahead because a country may skip a day of its calendar.
      return days(today, -8, 16)
        .filter((day) => schedule.weekly.includes(weekdayOf(day)))
        .map((day) => stretch(day, day + DAY));
  }
}

function days(today: number, first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => today + (first + index) * DAY);
}

function weekdayOf(day: number) {
  return WEEKDAYS[(new Date(day).getUTCDay() + 6) % 7] as (typeof WEEKDAYS)[number];
}

/** Milliseconds since midnight of `HH:MM`. */
function timeOfDay(text: string): number {
  return (Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5))) * 60_000;
}

/** Stretches that touch or overlap become one; empty ones, which the clock skipped, are left out. */
function merged(stretches: readonly Stretch[]): Stretch[] {
  const result: Stretch[] = [];
  for (const next of stretches) {
    if (next.from >= next.to) continue;
    const last = result[result.length - 1];
    if (last !== undefined && next.from <= last.to) {
      result[result.length - 1] = { from: last.from, to: Math.max(last.to, next.to) };
    } else result.push(next);
  }
  return result;
}
