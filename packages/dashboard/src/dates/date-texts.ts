import { dayOf, msOf } from './day.js';

/** Words and forms of one language for days and times. */
export interface DateTexts {
  /** `28 November 2026` */
  readonly day: (day: string) => string;
  /** `Saturday 28 November 2026` */
  readonly fullDay: (day: string) => string;
  /** `28 – 30 November`; `28 November` when both are the same day. */
  readonly range: (from: string, to: string) => string;
  /** `28 November` */
  readonly dayOfMonth: (day: string) => string;
  /** `28 Nov` */
  readonly shortDay: (day: string) => string;
  /** `28 Nov 2026` */
  readonly shortDate: (day: string) => string;
  /** Names of the months, January first. */
  readonly months: readonly string[];
  /** @param weekday 0 is Sunday */
  readonly weekday: (weekday: number, form: 'long' | 'short') => string;
  /** The time in the language's own form. @param time `HH:MM` */
  readonly time: (time: string) => string;
  /** The same with seconds. @param time `HH:MM:SS` */
  readonly fullTime: (time: string) => string;
  /** The clock has twice twelve hours. */
  readonly is12Hours: boolean;
  /** Words of such a clock for before and after noon. */
  readonly halves: readonly [string, string];
}

/** @param locale BCP 47; a language that the browser does not know means English */
export function dateTexts(locale: string): DateTexts {
  const format = (options: Intl.DateTimeFormatOptions): ((ms: number) => string) => {
    const formatter = formatterOf(locale, { ...options, timeZone: 'UTC' });
    return (ms) => formatter.format(ms);
  };
  const day = format({ day: 'numeric', month: 'long', year: 'numeric' });
  const fullDay = format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
  const dayOfMonth = formatterOf(locale, { day: 'numeric', month: 'long', timeZone: 'UTC' });
  const shortDay = format({ day: 'numeric', month: 'short' });
  const shortDate = format({ day: 'numeric', month: 'short', year: 'numeric' });
  const month = format({ month: 'long' });
  const weekdays = { long: format({ weekday: 'long' }), short: format({ weekday: 'short' }) };
  const hour = formatterOf(locale, { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' });
  const second = formatterOf(locale, { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZone: 'UTC' });
  const is12Hours = hour.resolvedOptions().hour12 === true;
  const at = (time: string): number =>
    Date.UTC(2024, 0, 7, Number(time.slice(0, 2)), Number(time.slice(3, 5)), Number(time.slice(6, 8)));
  const half = (time: string): string =>
    hour
      .format(at(time))
      .replace(/[\d٠-٩۰-۹०-९০-৯]+/g, '')
      .replace(/[:.\s\u200e\u200f\u202f\u00a0]+/g, ' ')
      .trim();
  return {
    day: (value) => day(msOf(value)),
    fullDay: (value) => fullDay(msOf(value)),
    range: (from, to) => rangeText(dayOfMonth, msOf(from), msOf(to)),
    shortDay: (value) => shortDay(msOf(value)),
    shortDate: (value) => shortDate(msOf(value)),
    dayOfMonth: (value) => dayOfMonth.format(msOf(value)),
    months: Array.from({ length: 12 }, (_, index) => month(msOf(dayOf(2024, index, 1)))),
    // 7 January 2024 is a Sunday.
    weekday: (weekday, form) => weekdays[form](msOf(dayOf(2024, 0, 7 + weekday))),
    time: (time) => (is12Hours ? hour.format(at(time)) : time),
    fullTime: (time) => (is12Hours ? second.format(at(time)) : time),
    is12Hours,
    halves: [half('09:00'), half('21:00')],
  };
}

/** Languages differ in what they leave out of a range, and where; the oldest browsers leave nothing out. */
function rangeText(formatter: Intl.DateTimeFormat, from: number, to: number): string {
  if (from === to) return formatter.format(from);
  return typeof formatter.formatRange === 'function'
    ? formatter.formatRange(from, to)
    : `${formatter.format(from)} – ${formatter.format(to)}`;
}

function formatterOf(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, { ...options, calendar: 'gregory' } as Intl.DateTimeFormatOptions);
  } catch {
    return new Intl.DateTimeFormat('en', options);
  }
}
