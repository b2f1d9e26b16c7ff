/** Calendar days as `YYYY-MM-DD`, which sort in order. The arithmetic uses UTC, where every day has 24 hours. */
const DAY_MS = 24 * 3600_000;

/** @param month 0 to 11; other numbers overflow into other years */
export function toDay(year: number, month: number, day: number): string {
  return formatDay(Date.UTC(year, month, day));
}

/** Year, month (0 to 11), day of the month, and weekday (0 is Sunday). */
export function toDayParts(day: string): { year: number; month: number; date: number; weekday: number } {
  const at = new Date(toMs(day));
  return { year: at.getUTCFullYear(), month: at.getUTCMonth(), date: at.getUTCDate(), weekday: at.getUTCDay() };
}

/** Start of the day in UTC, milliseconds. */
export function toMs(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

export function addDays(day: string, count: number): string {
  return formatDay(toMs(day) + count * DAY_MS);
}

/** Adds months; the last day of the month if the day does not exist there. */
export function addMonths(day: string, count: number): string {
  const { year, month, date } = toDayParts(day);
  const last = toDayParts(toDay(year, month + count + 1, 0)).date;
  return toDay(year, month + count, Math.min(date, last));
}

/** Number of days from `from` to `to`, both included. */
export function countDays(from: string, to: string): number {
  return Math.round((toMs(to) - toMs(from)) / DAY_MS) + 1;
}

/**
 * The weeks of a month with seven entries each; null outside the month.
 *
 * @param weekStart first day of a week, 0 is Sunday
 */
export function getWeeks(year: number, month: number, weekStart: number): (string | null)[][] {
  const first = toDay(year, month, 1);
  const before = (toDayParts(first).weekday - weekStart + 7) % 7;
  const length = toDayParts(toDay(year, month + 1, 0)).date;
  return Array.from({ length: Math.ceil((before + length) / 7) }, (_, week) =>
    Array.from({ length: 7 }, (_index, index) => {
      const date = week * 7 + index - before + 1;
      return date >= 1 && date <= length ? toDay(year, month, date) : null;
    }),
  );
}

function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Pads to two digits: `05`. */
export function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

export interface SiteNow {
  /** `YYYY-MM-DD` */
  readonly day: string;
  /** Minutes since midnight. */
  readonly minutes: number;
}

/**
 * Local day and time at the site.
 *
 * @param timeZone an IANA name, an offset such as `+05:30`, or a number of hours; otherwise UTC
 * @param ms milliseconds since 1970
 */
export function siteNow(timeZone: string, ms: number): SiteNow {
  const local = new Date(ms + getUtcOffset(timeZone, ms)).toISOString();
  return { day: local.slice(0, 10), minutes: Number(local.slice(11, 13)) * 60 + Number(local.slice(14, 16)) };
}

const HOUR_MS = 3600_000;

/** Offset of the site's time zone from UTC, milliseconds. */
function getUtcOffset(timeZone: string, ms: number): number {
  const fixed = /^([+-])(\d{1,2}):?(\d{2})$/.exec(timeZone);
  if (fixed) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    return (fixed[1] === '-' ? -minutes : minutes) * 60_000;
  }
  if (/^[+-]?\d+(?:\.\d+)?$/.test(timeZone)) return Number(timeZone) * HOUR_MS;
  try {
    // Edge 15 lacks formatToParts; the format of en-US is the same everywhere.
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

/**
 * Start of a day at the site.
 *
 * @param day `YYYY-MM-DD`
 * @returns Unix seconds
 */
export function dayStart(timeZone: string, day: string): number {
  const guess = toMs(day) - getUtcOffset(timeZone, toMs(day));
  // A change of daylight saving time may lie in between, so use the offset at the start of the day.
  return Math.floor((toMs(day) - getUtcOffset(timeZone, guess)) / 1000);
}

/** Day at the site. @param seconds Unix seconds */
export function siteDay(timeZone: string, seconds: number): string {
  return siteNow(timeZone, seconds * 1000).day;
}

/** End of a day at the site, Unix seconds. */
export function dayEnd(timeZone: string, day: string): number {
  return dayStart(timeZone, addDays(day, 1));
}
