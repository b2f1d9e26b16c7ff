/**
 * Days of the calendar as texts `YYYY-MM-DD`, which compare like the days they name. All arithmetic is done in UTC,
 * where every day has 24 hours.
 */
const DAY_MS = 24 * 3600_000;

/** @param month 0 to 11; other numbers lead into other years */
export function dayOf(year: number, month: number, day: number): string {
  return textOf(Date.UTC(year, month, day));
}

/** Year, month (0 to 11), day of the month, and weekday (0 is Sunday). */
export function partsOf(day: string): { year: number; month: number; date: number; weekday: number } {
  const at = new Date(msOf(day));
  return { year: at.getUTCFullYear(), month: at.getUTCMonth(), date: at.getUTCDate(), weekday: at.getUTCDay() };
}

/** Milliseconds of the day's beginning, as if the calendar were that of UTC. */
export function msOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

export function addDays(day: string, count: number): string {
  return textOf(msOf(day) + count * DAY_MS);
}

/** The same day some months later, or the last day of that month when it is shorter. */
export function addMonths(day: string, count: number): string {
  const { year, month, date } = partsOf(day);
  const last = partsOf(dayOf(year, month + count + 1, 0)).date;
  return dayOf(year, month + count, Math.min(date, last));
}

/** Days from `from` to `to`, both counted. */
export function countDays(from: string, to: string): number {
  return Math.round((msOf(to) - msOf(from)) / DAY_MS) + 1;
}

/**
 * The weeks of a month, seven places each; null where the month has no day.
 *
 * @param weekStart first weekday of a week, 0 is Sunday
 */
export function weeksOf(year: number, month: number, weekStart: number): (string | null)[][] {
  const first = dayOf(year, month, 1);
  const before = (partsOf(first).weekday - weekStart + 7) % 7;
  const length = partsOf(dayOf(year, month + 1, 0)).date;
  return Array.from({ length: Math.ceil((before + length) / 7) }, (_, week) =>
    Array.from({ length: 7 }, (_place, place) => {
      const date = week * 7 + place - before + 1;
      return date >= 1 && date <= length ? dayOf(year, month, date) : null;
    }),
  );
}

function textOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
