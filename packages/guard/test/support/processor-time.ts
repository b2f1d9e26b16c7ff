/** Enough for one round in which nothing else came in between. */
const ROUNDS = 7;

/**
 * Least processor time that some work takes, milliseconds, of several rounds. What runs beside it in this process, or
 * crowds the processor, only ever adds to a round: the least one is what the work itself costs.
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
