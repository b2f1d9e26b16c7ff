/**
 * Processor time that some work takes, milliseconds. What runs beside the tests makes them late, but adds nothing here.
 */
export function processorTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
