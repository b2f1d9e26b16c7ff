import { localOf } from '../../login/time-zone.js';
import type { Language } from '../../texts/language.js';
import type { ReportPeriod } from './report-period.js';

/** The days of a period as people write them: `9 – 15 November`, `28 December 2026 – 3 January 2027`. */
export function periodWords(language: Language, { edges, soFar }: ReportPeriod, timeZone: string): string {
  const days = new Intl.DateTimeFormat(language.dates, { day: 'numeric', month: 'long', timeZone: 'UTC' });
  const first = wallClock(timeZone, edges[0] as number);
  const last = wallClock(timeZone, (edges.at(-1) as number) - 1);
  const period = days
    .formatRange(first, last)
    // Every language puts a dash between the days; only some put spaces around it, which keep full stops apart.
    .replace(/\s*–\s*/, ' – ')
    // Italian ranges hold `09`, though its single days are `9`.
    .replace(/\b0(?=\d)/g, '');
  return soFar ? language.translate('{period} so far', { period }) : period;
}

/** `Mon` for a day that begins at a moment. @param at Unix seconds */
export function weekdayOf({ dates }: Language, timeZone: string, at: number): string {
  return wallClock(timeZone, at).toLocaleDateString(dates, { weekday: 'short', timeZone: 'UTC' });
}

/** The wall clock of the site as a date whose UTC members show it. @param at Unix seconds */
function wallClock(timeZone: string, at: number): Date {
  return new Date(localOf(timeZone, at * 1000));
}
