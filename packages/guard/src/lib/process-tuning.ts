import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** How much a heap grows before V8 looks for garbage in all of it again, percent of what was alive then. */
const GROWTH_PERCENT = 50;

/**
 * Keeps the heaps of this process small: those of the present thread and of threads that are started later. V8 lets a
 * heap of a few megabytes grow to four times what is alive in it, which suits a program that ends soon; a flood of
 * requests fills a service up to that. To be called once, before there is work (docs/decisions/0011).
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/**
 * Lowers the priority of the calling thread, so that it takes the processor from nobody who proxies requests. Raising
 * it again would need the superuser. Only Linux counts priorities by thread: elsewhere they are the process's, and
 * nothing is done.
 *
 * @param nice 1 to 19; each step is worth about a tenth of the processor when others want it (see sched(7))
 */
export function lowerPriority(nice: number): void {
  if (process.platform !== 'linux') return;
  try {
    const thread = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1];
    if (thread !== undefined) setPriority(Number(thread), nice);
  } catch {
    // No /proc, or a container that forbids it: it is as fast as before, and everybody else a little slower.
  }
}
