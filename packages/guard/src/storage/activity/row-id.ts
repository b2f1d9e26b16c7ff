/**
 * Ids of visits and events: seconds since 2020 and a number within the second. The order of ids is the order of time,
 * so one key answers "newest first" and "between two dates", also when the clock jumps or a row comes late. Ids take
 * six bytes in SQLite until 2054 and are exact as JavaScript numbers for much longer.
 */

/** Rows of one site that one second can hold; more go into the next second. */
export const ROWS_PER_SECOND = 2 ** 17;

/** 2020-01-01T00:00:00Z in Unix seconds. */
const EPOCH = 1_577_836_800;

/** Above every id. */
export const AFTER_ALL_IDS = Number.MAX_SAFE_INTEGER;

/** First id of a second. @param second Unix seconds; times before 2020 count as its beginning */
export function firstIdOf(second: number): number {
  return Math.min(Math.max(0, Math.floor(second) - EPOCH) * ROWS_PER_SECOND, AFTER_ALL_IDS);
}

/** Last id of a second. */
export function lastIdOf(second: number): number {
  return Math.min(firstIdOf(second) + ROWS_PER_SECOND - 1, AFTER_ALL_IDS);
}

/** Unix seconds of a row. */
export function secondOf(id: number): number {
  return Math.floor(id / ROWS_PER_SECOND) + EPOCH;
}

/** Start of the hour in UTC that a second lies in, Unix seconds. */
export function hourOf(second: number): number {
  return second - (second % 3600);
}
