import { spawnSync } from 'node:child_process';

const REAL_TIME = ['chrt', '--fifo', '1'];
let allowed: boolean | undefined;

/**
 * The beginning of a command line for what stands for other machines, visitors and web servers: it gets a processor
 * whenever it wants one (SCHED_FIFO, see sched(7)), as it would there, and so measures no wait of its own. Empty for
 * users who may not ask for that.
 */
export function goesFirst(): readonly string[] {
  allowed ??= spawnSync(REAL_TIME[0] as string, [...REAL_TIME.slice(1), 'true']).status === 0;
  return allowed ? REAL_TIME : [];
}

/** The same for a process that runs already, with all its threads. */
export function letGoFirst(pid: number): void {
  const [command, ...how] = goesFirst();
  if (command !== undefined) spawnSync(command, ['--all-tasks', how[0] as string, '--pid', '1', String(pid)]);
}
