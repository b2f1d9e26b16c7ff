import { twoDigits } from './two-digits.js';

export interface SiteNow {
  /** `YYYY-MM-DD` */
  readonly day: string;
  /** Minutes since midnight. */
  readonly minutes: number;
}

/**
 * What calendar and clock show at the site.
 *
 * @param timeZone an IANA name, or an offset such as `+05:30` or a number of hours; UTC when it is not understood
 * @param ms the moment, milliseconds since 1970
 */
export function siteNow(timeZone: string, ms: number): SiteNow {
  const local = new Date(ms + offsetOf(timeZone, ms)).toISOString();
  return { day: local.slice(0, 10), minutes: Number(local.slice(11, 13)) * 60 + Number(local.slice(14, 16)) };
}

const HOUR_MS = 3600_000;

/** How far the site's clock is ahead of UTC, milliseconds. */
export function offsetOf(timeZone: string, ms: number): number {
  const fixed = /^([+-])(\d{1,2}):?(\d{2})$/.exec(timeZone);
  if (fixed) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    return (fixed[1] === '-' ? -minutes : minutes) * 60_000;
  }
  if (/^[+-]?\d+(?:\.\d+)?$/.test(timeZone)) return Number(timeZone) * HOUR_MS;
  try {
    // Not formatToParts, which Edge 15 lacks; the form of en-US is the same everywhere.
    const text = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hour12: false,
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    }).format(ms);
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (text.match(/\d+/g) ?? []).map(Number);
    // Some browsers write midnight as 24.
    return Date.UTC(year, month - 1, day, hour % 24, minute) - Math.floor(ms / 60_000) * 60_000;
  } catch {
    return 0;
  }
}

/** Minutes since midnight as `HH:MM`. */
export function timeOfDay(minutes: number): string {
  return `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}
