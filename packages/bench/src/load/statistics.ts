/** The middle value; of an even number of values the mean of the two in the middle. Throws for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error('no values to take the median of');
  return (lower + upper) / 2;
}

/** The value below which the given share of the values lies (nearest rank). Throws for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  if (value === undefined) throw new Error('no values to take a percentile of');
  return value;
}

/**
 * Median of what two contenders' results of the same round make together. Each round is its own comparison, so that a
 * machine that grows slower or faster from round to round does not count for or against anyone.
 */
export function medianOfPairs(
  ours: readonly number[],
  theirs: readonly number[],
  together: (our: number, their: number) => number,
): number {
  if (ours.length !== theirs.length) throw new Error('every round needs both contenders');
  return median(ours.map((our, round) => together(our, theirs[round] as number)));
}
