import { addDays, msOf } from './day.js';
import { offsetOf, siteNow } from './site-now.js';

/**
 * The moment when a day begins at the site.
 *
 * @param day `YYYY-MM-DD`
 * @returns Unix seconds
 */
export function dayStart(timeZone: string, day: string): number {
  const guess = msOf(day) - offsetOf(timeZone, msOf(day));
  // The clock may be changed between the guess and the day; the second offset is that of the day itself.
  return Math.floor((msOf(day) - offsetOf(timeZone, guess)) / 1000);
}

/** The day of a moment at the site. @param seconds Unix seconds */
export function siteDay(timeZone: string, seconds: number): string {
  return siteNow(timeZone, seconds * 1000).day;
}

/** The moment when a day is over at the site, Unix seconds. */
export function dayEnd(timeZone: string, day: string): number {
  return dayStart(timeZone, addDays(day, 1));
}
