import type { activityTraffic } from '@security-optimizer/contract/activity/endpoints';
import type { z } from 'zod';
import { ApiError } from '../lib/api-error.js';
import { endOfLocalDay, localDaysFrom, startOfLocalDay } from '../lib/time-zone.js';
import type { SiteId } from '../site.js';
import type { ActivityStore, TrafficHour } from './activity-store.js';

export type Traffic = z.output<typeof activityTraffic.response>;

const HOUR = 3600;
/** A period of at most two days is shown by the hour; one of them may have 25 hours. */
const HOURLY_MAX = 49 * HOUR;
/** Sums are kept for this many days; see docs/developer/activity-log.md. */
const DAYS_MAX = 35;

/** Bars from one time to the next, and where the last one ends. */
export interface TrafficPlan {
  readonly step: 'day' | 'hour';
  /** Unix seconds: the beginning of each bar, and the end of the last. */
  readonly edges: readonly number[];
}

/**
 * Which bars a period is shown in: days of the site's time zone (23 or 25 hours long when the clocks change), or hours.
 * Without a period: the days that the log is kept, today the last.
 *
 * @param query Unix seconds; `to` is outside
 * @throws ApiError invalid_input
 */
export function planTraffic(
  query: { readonly from: number | null; readonly to: number | null },
  { timeZone, now, keptDays }: { readonly timeZone: string; readonly now: number; readonly keptDays: number },
): TrafficPlan {
  if (query.from !== null && query.to !== null && query.from >= query.to) {
    throw new ApiError('invalid_input', { fields: { to: 'Use a time after from.' } });
  }
  const latest = endOfLocalDay(timeZone, now);
  const earliest = localDaysFrom(timeZone, now, 1 - DAYS_MAX);
  const from = clamp(query.from ?? localDaysFrom(timeZone, now, 1 - keptDays), earliest, latest - 1);
  const end = clamp(query.to ?? latest, from + 1, latest);
  const edges: number[] = [];
  if (end - from <= HOURLY_MAX) {
    for (let edge = from - (from % HOUR); (edges.at(-1) ?? 0) < end; edge += HOUR) edges.push(edge);
    return { step: 'hour', edges };
  }
  let edge = startOfLocalDay(timeZone, from);
  for (edges.push(edge); edge < end; edges.push(edge)) edge = endOfLocalDay(timeZone, edge);
  return { step: 'day', edges };
}

/**
 * Sums hours into bars. The store counts by hours of UTC; an hour belongs to the bar in which it begins, so in a time
 * zone that is half or three quarters of an hour off, a part of an hour counts to the day before.
 */
export function sumTraffic({ step, edges }: TrafficPlan, hours: readonly TrafficHour[]): Traffic {
  const bars = edges
    .slice(0, -1)
    .map((from, index) => ({ from, to: edges[index + 1] as number, humans: 0, bots: 0, blocked: 0 }));
  const total = { humans: 0, bots: 0, blocked: 0 };
  for (const { hour, humans, bots, blocked } of hours) {
    const bar = bars[findBar(edges, hour)];
    if (bar === undefined) continue;
    for (const sum of [bar, total]) {
      sum.humans += humans;
      sum.bots += bots;
      sum.blocked += blocked;
    }
  }
  return { bars, step, ...total };
}

/** Index of the last edge at or before a moment; -1 before the first. */
function findBar(edges: readonly number[], at: number): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((edges[middle] as number) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** From this many wrong passwords on, an address that logs in after all is no longer somebody who mistyped. */
export const GUESSES = 5;

/**
 * Counts failed logins in the hours that begin in [from, to): passwords that were compared and wrong, whether the account
 * exists or not. What a lock or a rule refuses before that is a refused request. The one definition of dashboard, lists,
 * report, export and metrics. Throws StorageError.
 */
export async function countFailedLogins(
  store: Pick<ActivityStore, 'failedLogins'>,
  site: SiteId,
  from: number,
  to: number,
): Promise<number> {
  return (await store.failedLogins(site, from, to)).reduce((sum, { count }) => sum + count, 0);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
