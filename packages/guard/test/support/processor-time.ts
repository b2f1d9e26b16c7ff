/** Enough for one round without interference. */
const ROUNDS = 7;

/**
 * Lowest processor time of some work in several rounds, milliseconds. Other work in this process or on the processor
 * can only increase the time of a round, so the lowest one is the cost of the work itself.
 */
export function getMinProcessorTime(work: () => void): number {
  let min = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    min = Math.min(min, (user + system) / 1000);
  }
  return min;
}
