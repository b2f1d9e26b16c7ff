import type { AwayState } from '@security-optimizer/contract/login';
import type { AwaySchedule } from '@security-optimizer/contract/login-limits';
import { awayAt } from './away-schedule.js';
import { localOf } from './time-zone.js';

const text = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** A moment in words, as the wall clock of the site shows it: `Monday 23 November 2026, 06:00`. */
export function localTimeText(timeZone: string, ms: number): string {
  const parts = Object.fromEntries(
    text.formatToParts(localOf(timeZone, ms)).map(({ type, value }) => [type, value]),
  ) as Record<Intl.DateTimeFormatPartTypes, string>;
  return `${parts.weekday} ${parts.day} ${parts.month} ${parts.year}, ${parts.hour}:${parts.minute}`;
}

/** Away Mode as the API tells it: the schedule, and what it does now and next. */
export function awayStateOf(schedule: AwaySchedule, timeZone: string, nowMs: number): AwayState {
  const { away, until, nextFrom } = awayAt(schedule, timeZone, nowMs);
  return {
    schedule: schedule.type === 'weekly' ? { type: 'weekly', weekly: [...schedule.weekly] } : schedule,
    away: away ? 1 : 0,
    until: until === null ? null : until / 1000,
    until_text: until === null ? null : localTimeText(timeZone, until),
    next_from: nextFrom === null ? null : nextFrom / 1000,
    next_from_text: nextFrom === null ? null : localTimeText(timeZone, nextFrom),
    timezone: timeZone,
  };
}
