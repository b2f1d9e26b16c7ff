import { toDay, toMs } from './days.js';
import { getLanguage } from './locale.js';

/** Formats of days and times in one language. */
export interface DateFormats {
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
  /** The time in the language's format. @param time `HH:MM` */
  readonly time: (time: string) => string;
  /** The same with seconds. @param time `HH:MM:SS` */
  readonly fullTime: (time: string) => string;
  /** Whether the language uses a 12-hour clock. */
  readonly is12Hours: boolean;
  /** The language's words for AM and PM. */
  readonly halves: readonly [string, string];
}

let last: { readonly locale: string; readonly formats: DateFormats } | null = null;

/**
 * Returns the formats of a language. Formatters are slow to create, so each is created on first use and the last language
 * is cached.
 *
 * @param locale BCP 47, default: the language of the page; unknown ones mean English
 */
export function getDateFormats(locale: string = getLanguage()): DateFormats {
  if (last?.locale !== locale) last = { locale, formats: createDateTexts(locale) };
  return last.formats;
}

function createDateTexts(locale: string): DateFormats {
  const formatter = (options: Intl.DateTimeFormatOptions): (() => Intl.DateTimeFormat) =>
    once(() => createFormatter(locale, { ...options, timeZone: 'UTC' }));
  const format = (options: Intl.DateTimeFormatOptions): ((day: string) => string) => {
    const made = formatter(options);
    return (day) => made().format(toMs(day));
  };
  const dayOfMonth = formatter({ day: 'numeric', month: 'long' });
  const month = format({ month: 'long' });
  const weekdays = { long: format({ weekday: 'long' }), short: format({ weekday: 'short' }) };
  const hour = formatter({ hour: 'numeric', minute: '2-digit' });
  const second = formatter({ hour: 'numeric', minute: '2-digit', second: '2-digit' });
  const is12Hours = once(() => hour().resolvedOptions().hour12 === true);
  const months = once(() => Array.from({ length: 12 }, (_, index) => month(toDay(2024, index, 1))));
  const at = (time: string): number =>
    Date.UTC(2024, 0, 7, Number(time.slice(0, 2)), Number(time.slice(3, 5)), Number(time.slice(6, 8)));
  const half = (time: string): string =>
    hour()
      .format(at(time))
      .replace(/[\d٠-٩۰-۹०-९০-৯]+/g, '')
      .replace(/[:.\s\u200e\u200f\u202f\u00a0]+/g, ' ')
      .trim();
  return {
    day: format({ day: 'numeric', month: 'long', year: 'numeric' }),
    fullDay: format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
    range: (from, to) => rangeText(dayOfMonth(), toMs(from), toMs(to)),
    shortDay: format({ day: 'numeric', month: 'short' }),
    shortDate: format({ day: 'numeric', month: 'short', year: 'numeric' }),
    dayOfMonth: (value) => dayOfMonth().format(toMs(value)),
    get months() {
      return months();
    },
    // 7 January 2024 is a Sunday.
    weekday: (weekday, form) => weekdays[form](toDay(2024, 0, 7 + weekday)),
    time: (time) => (is12Hours() ? unbroken(hour().format(at(time))) : time),
    fullTime: (time) => (is12Hours() ? unbroken(second().format(at(time))) : time),
    get is12Hours() {
      return is12Hours();
    },
    get halves(): [string, string] {
      return [half('09:00'), half('21:00')];
    },
  };
}

/** Keeps "AM" and "PM" on the line of their time. */
function unbroken(time: string): string {
  return time.replace(/ /g, '\u00a0');
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Missing in the oldest browsers, which show both ends in full. */
function rangeText(formatter: Intl.DateTimeFormat, from: number, to: number): string {
  if (from === to) return formatter.format(from);
  return typeof formatter.formatRange === 'function'
    ? formatter.formatRange(from, to)
    : `${formatter.format(from)} – ${formatter.format(to)}`;
}

function createFormatter(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, { ...options, calendar: 'gregory' } as Intl.DateTimeFormatOptions);
  } catch {
    return new Intl.DateTimeFormat('en', options);
  }
}
