import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Lowers the priority of the calling thread, so that it takes the processor from nobody who proxies requests. Raising
 * it again would need the superuser. Only Linux counts priorities by thread: elsewhere they are the process's, and
 * nothing is done.
 *
 * @param nice 1 to 19; each step is worth about a tenth of the processor when others want it (see sched(7))
 */
export function giveWay(nice: number): void {
  if (process.platform !== 'linux') return;
  try {
    const thread = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1];
    if (thread !== undefined) setPriority(Number(thread), nice);
  } catch {
    // No /proc, or a container that forbids it: it is as fast as before, and everybody else a little slower.
  }
}
