/** An owner is asked for a review after this much use, milliseconds. */
export const RATE_AFTER_MS = 7 * 24 * 3600_000;

/** Whether to ask for a review now. Times are milliseconds since the Unix epoch. */
export function asksForReview(facts: {
  readonly link: string;
  readonly dismissed: boolean;
  readonly firstStart: number;
  readonly now: number;
}): boolean {
  return facts.link !== '' && !facts.dismissed && facts.now - facts.firstStart >= RATE_AFTER_MS;
}
