import { localDate, localDaysFrom, startOfLocalDay } from '../local-days.js';

/** What a report is about. Unix seconds, the ends outside. */
export interface ReportPeriod {
  /** The beginning of each of the seven days, and the end of the last. */
  readonly edges: readonly number[];
  /** The first day and the last, `YYYY-MM-DD`. */
  readonly days: readonly [first: string, last: string];
  /** The same stretch of the week before, for comparing. */
  readonly before: { readonly from: number; readonly to: number };
  /** The last day is not over. */
  readonly soFar: boolean;
}

const DAYS = 7;

/** The seven days before the one in which a report is sent, on the wall clock of the site. @param at Unix seconds */
export function weekBefore(timeZone: string, at: number): ReportPeriod {
  const edges = daysUpTo(timeZone, at, 0);
  const before = { from: localDaysFrom(timeZone, at, -2 * DAYS), to: edges[0] as number };
  return { edges, days: datesOf(timeZone, edges), before, soFar: false };
}

/** Today up to now and the six days before, so that an example shows what has just happened. @param now Unix seconds */
export function weekSoFar(timeZone: string, now: number): ReportPeriod {
  const days = daysUpTo(timeZone, now, 1);
  const from = localDaysFrom(timeZone, now, 1 - 2 * DAYS);
  // As much of that day as has passed of today.
  const to = localDaysFrom(timeZone, now, -DAYS) + (now - startOfLocalDay(timeZone, now));
  const edges = [...days.slice(0, -1), now + 1];
  return { edges, days: datesOf(timeZone, edges), before: { from, to }, soFar: true };
}

function datesOf(timeZone: string, edges: readonly number[]): ReportPeriod['days'] {
  return [localDate(timeZone, edges[0] as number), localDate(timeZone, (edges.at(-1) as number) - 1)];
}

/** Beginnings of days: the eighth is that many days after the one of `at`. */
function daysUpTo(timeZone: string, at: number, last: number): number[] {
  return Array.from({ length: DAYS + 1 }, (_, index) => localDaysFrom(timeZone, at, index - DAYS + last));
}
