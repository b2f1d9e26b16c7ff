import { type AwaySchedule, WEEKDAYS } from '@security-optimizer/contract/login/limits';
import { firstInstant, lastInstant, toLocalTime } from '../lib/time-zone.js';

const DAY = 24 * 3600_000;

/** The state of Away Mode at one moment. Times are milliseconds since the Unix epoch. */
export interface AwayStatus {
  readonly away: boolean;
  /** End of the current interval; null while it is off. */
  readonly until: number | null;
  /** Next beginning after now; null if there is none. */
  readonly nextFrom: number | null;
}

/** A half-open interval: `from` is included, `to` is not. */
interface Interval {
  readonly from: number;
  readonly to: number;
}

/**
 * Whether a schedule is on at a moment, until when, and when it begins next. Pure.
 *
 * At clock changes, an interval lasts from the first moment at which local time has reached its beginning to the last
 * one at which local time is before its end. An hour that the clock repeats is included both times. A beginning that
 * the clock skips counts from the moment of the change. Consecutive days are one interval.
 *
 * @param timeZone as WordPress stores it, see `offsetAt`
 */
export function getAwayStatus(schedule: AwaySchedule, timeZone: string, nowMs: number): AwayStatus {
  const intervals = merged(intervalsNear(schedule, timeZone, nowMs));
  const present = intervals.find(({ from, to }) => from <= nowMs && nowMs < to);
  const next = intervals.find(({ from }) => from > nowMs);
  return { away: present !== undefined, until: present?.to ?? null, nextFrom: next?.from ?? null };
}

/** `getAwayStatus` for every request: the status is computed again only after the next change. */
export function compileAwaySchedule(schedule: AwaySchedule, timeZone: string): (nowMs: number) => AwayStatus {
  const never: AwayStatus = Object.freeze({ away: false, until: null, nextFrom: null });
  if (schedule.type === 'off') return () => never;
  let known: { readonly now: AwayStatus; readonly from: number; readonly to: number } | null = null;
  return (nowMs) => {
    if (known === null || nowMs < known.from || nowMs >= known.to) {
      const now = getAwayStatus(schedule, timeZone, nowMs);
      known = { now, from: nowMs, to: now.until ?? now.nextFrom ?? Number.POSITIVE_INFINITY };
    }
    return known.now;
  };
}

/** All intervals that can contain now or be the next one, ordered by their beginning. */
function intervalsNear(schedule: AwaySchedule, timeZone: string, nowMs: number): Interval[] {
  const today = Math.floor(toLocalTime(timeZone, nowMs) / DAY) * DAY;
  const interval = (from: number, to: number): Interval => ({
    from: firstInstant(timeZone, from),
    to: lastInstant(timeZone, to),
  });
  switch (schedule.type) {
    case 'off':
      return [];
    case 'period':
      return [interval(Date.parse(schedule.from_date), Date.parse(schedule.to_date) + DAY)];
    case 'daily': {
      const from = timeOfDay(schedule.from_hour);
      const length = (timeOfDay(schedule.to_hour) - from + DAY) % DAY;
      return days(today, -2, 3).map((day) => interval(day + from, day + from + length));
    }
    case 'weekly':
      // A week back for an interval that is on, and two weeks ahead because a time zone may skip a day.
      return days(today, -8, 16)
        .filter((day) => schedule.weekly.includes(toWeekday(day)))
        .map((day) => interval(day, day + DAY));
  }
}

function days(today: number, first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => today + (first + index) * DAY);
}

function toWeekday(day: number) {
  return WEEKDAYS[(new Date(day).getUTCDay() + 6) % 7] as (typeof WEEKDAYS)[number];
}

/** Milliseconds since midnight of `HH:MM`. */
function timeOfDay(text: string): number {
  return (Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5))) * 60_000;
}

/** Merges intervals that touch or overlap, and drops empty ones, which a clock change skipped. */
function merged(intervals: readonly Interval[]): Interval[] {
  const result: Interval[] = [];
  for (const next of intervals) {
    if (next.from >= next.to) continue;
    const last = result[result.length - 1];
    if (last !== undefined && next.from <= last.to) {
      result[result.length - 1] = { from: last.from, to: Math.max(last.to, next.to) };
    } else result.push(next);
  }
  return result;
}
