import type { FactorTries } from '../../storage/factor-tries-store.js';

/** Wrong codes that end a log-in, and that bring a pause for the account. */
export const MAX_TRIES = 10;

const MINUTE_MS = 60_000;
/** How long an account waits after 10, 20, 30 … wrong codes; the last one stays. */
export const PAUSES_MS: readonly number[] = [1, 5, 15, 60, 240, 1440].map((minutes) => minutes * MINUTE_MS);

/** A pause that ends later than this was noted by a clock that has been set back since, and is over. */
const FARTHEST_MS = 2 * Math.max(...PAUSES_MS);

/**
 * Counts a code before it is checked, so that codes tried at the same time can't outrun the limit.
 *
 * @returns the state to store before the check, or null while the account is paused
 */
export function countTry(state: FactorTries, now: number): FactorTries | null {
  if (state.pausedUntil > now && state.pausedUntil <= now + FARTHEST_MS) return null;
  const tries = state.tries + 1;
  if (tries % MAX_TRIES !== 0) return { tries, pausedUntil: 0 };
  const pause = PAUSES_MS[Math.min(tries / MAX_TRIES, PAUSES_MS.length) - 1] as number;
  return { tries, pausedUntil: now + pause };
}
