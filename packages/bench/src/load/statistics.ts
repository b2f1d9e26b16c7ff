/** The median; for an even number of values the mean of the two in the middle. Throws for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error('no values to take the median of');
  return (lower + upper) / 2;
}

/** The percentile by nearest rank; `share` is from 0 to 1. Throws for an empty list. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  if (value === undefined) throw new Error('no values to take a percentile of');
  return value;
}

/**
 * Compares the results of two contenders round by round. Returns the median of the comparisons, which a machine that
 * becomes slower or faster between rounds does not change.
 */
export function medianOfPairs(
  ours: readonly number[],
  theirs: readonly number[],
  compare: (our: number, their: number) => number,
): number {
  if (ours.length !== theirs.length) throw new Error('every round needs both contenders');
  return median(ours.map((our, round) => compare(our, theirs[round] as number)));
}
