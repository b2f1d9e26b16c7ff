import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';

/**
 * Whom a processor serves first: whoever measures, then the web server behind what is measured, then whoever makes the
 * load. Priorities of `SCHED_FIFO`, see sched(7).
 */
const TURN = { load: 1, upstream: 2, asking: 3 } as const;

export type Turn = keyof typeof TURN;

let allowed: boolean | undefined;

/**
 * The beginning of a command line for what stands for other machines, visitors and web servers: it shares one
 * processor that it gets whenever it wants it, and so measures no wait of its own. On any processor it would
 * push guard from one to the other, thousands of times a second, which no other machine does. Empty for users who may
 * not ask for that.
 */
export function goesFirst(turn: Turn): readonly string[] {
  allowed ??= spawnSync('chrt', ['--fifo', '1', 'true']).status === 0;
  if (!allowed) return [];
  return [...onItsProcessor(), 'chrt', '--fifo', String(TURN[turn])];
}

/**
 * The same for the main thread of a process that runs already. Not for its others: V8 waits for them without letting
 * go of its processor, and they would never get it.
 */
export function letGoFirst(pid: number, turn: Turn): void {
  if (goesFirst(turn).length === 0) return;
  spawnSync('chrt', ['--fifo', '--pid', String(TURN[turn]), String(pid)]);
  const [command, ...how] = onItsProcessor();
  if (command !== undefined) spawnSync(command, ['--pid', ...how, String(pid)]);
}

/** The last processor; none of its own where there is only one. */
function onItsProcessor(): readonly string[] {
  const last = cpus().length - 1;
  return last < 1 ? [] : ['taskset', '--cpu-list', String(last)];
}
