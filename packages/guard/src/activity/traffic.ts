import type { activityTraffic } from '@security-optimizer/contract/activity/endpoints';
import type { z } from 'zod';
import { ApiError } from '../lib/api-error.js';
import { endOfLocalDay, localDaysFrom, startOfLocalDay } from '../lib/time-zone.js';
import type { TrafficHour } from './activity-store.js';

export type Traffic = z.output<typeof activityTraffic.response>;

const HOUR = 3600;
/** A period of at most two days is displayed in hours; one of the days may have 25 hours. */
const HOURLY_MAX = 49 * HOUR;
/** Number of days that counts are kept; see docs/developer/activity-log.md. */
const DAYS_MAX = 35;

/** The bars of a chart. */
export interface TrafficPlan {
  readonly step: 'day' | 'hour';
  /** Unix seconds: the beginning of each bar, and the end of the last. */
  readonly edges: readonly number[];
}

/**
 * Returns the bars of a period: days of the site's time zone (23 or 25 hours long when the clocks change), or hours.
 * Default: the days that the log is kept, with today as the last.
 *
 * @param query Unix seconds; `to` is exclusive
 * @throws ApiError invalid_input
 */
export function planTraffic(
  query: { readonly from: number | null; readonly to: number | null },
  { timeZone, now, retentionDays }: { readonly timeZone: string; readonly now: number; readonly retentionDays: number },
): TrafficPlan {
  if (query.from !== null && query.to !== null && query.from >= query.to) {
    throw new ApiError('invalid_input', { fields: { to: 'Use a time after from.' } });
  }
  const latest = endOfLocalDay(timeZone, now);
  const earliest = localDaysFrom(timeZone, now, 1 - DAYS_MAX);
  const from = clamp(query.from ?? localDaysFrom(timeZone, now, 1 - retentionDays), earliest, latest - 1);
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
 * Sums hours into bars. The store counts by hours of UTC, and an hour belongs to the bar in which it begins. In a time
 * zone that is half or three quarters of an hour off, part of an hour therefore counts for the day before.
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

/** Returns the index of the last edge at or before a time; -1 before the first. */
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

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
