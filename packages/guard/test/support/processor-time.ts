/** Enough for one round without interference. */
const ROUNDS = 7;

/**
 * Lowest processor time of some work in several rounds, milliseconds. Other work in this process or on the processor
 * can only increase the time of a round, so the lowest one is the cost of the work itself.
 */
export function leastProcessorTime(work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
