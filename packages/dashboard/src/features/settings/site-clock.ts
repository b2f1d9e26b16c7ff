import { type DateFormats, getDateFormats } from '../../i18n/date-formats.js';
import { siteNow, timeOfDay } from '../../i18n/days.js';
import { __, sprintf } from '../../i18n/translate.js';
import { useSiteTimeZone } from './use-settings.js';

/** The parameters of texts about times. */
export interface SiteClock {
  readonly formats: DateFormats;
  /** Time zone of the site. */
  readonly zone: string;
}

export function useSiteClock(): SiteClock {
  return { formats: getDateFormats(), zone: useSiteTimeZone() };
}

/** Formats day and time at the site: "28 Nov, 14:35". @param seconds Unix seconds */
export function dateTimeText(
  seconds: number,
  { formats, zone }: SiteClock,
  day: 'shortDay' | 'shortDate' | 'fullDay' = 'shortDay',
): string {
  const at = siteNow(zone, seconds * 1000);
  return `${formats[day](at.day)}, ${formats.time(timeOfDay(at.minutes))}`;
}

/** The same with "Today, 14:35" for the present day. @param seconds Unix seconds */
export function recentTimeText(seconds: number, clock: SiteClock): string {
  const { day, minutes } = siteNow(clock.zone, seconds * 1000);
  return day === siteNow(clock.zone, Date.now()).day
    ? /* translators: %s: a time of day */
      sprintf(__('Today, %s', 'security-optimizer'), clock.formats.time(timeOfDay(minutes)))
    : dateTimeText(seconds, clock);
}
