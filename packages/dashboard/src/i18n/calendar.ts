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
