import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Growth of a heap before V8 collects garbage in all of it again, percent of what was alive then. */
const GROWTH_PERCENT = 50;

/**
 * Keeps the heaps of this process small, for the present thread and for threads that are started later. V8 lets a heap
 * of a few megabytes grow to four times its live data, which suits a short-lived program; in a service a flood of
 * requests fills it up to that size. Must be called once, before there is work (docs/decisions/0011).
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/**
 * Makes the `resourceLimits` of threads hold for threads that are started later. If Node was started with
 * `--max-semi-space-size`, as guard is for its main thread, V8 ignores the limit of a thread in favour of the option: a
 * busy storage thread then had 32 MB for new objects instead of 8 (docs/decisions/0057).
 */
export function letThreadsLimitThemselves(): void {
  setFlagsFromString('--max-semi-space-size=0');
}

/** After this time a start is over, milliseconds. */
const START_MS = 10_000;

/**
 * Collects the garbage that the start of the calling thread leaves, once, some seconds later. An idle V8 of Node 22 and
 * newer never does so by itself: it keeps the garbage, and the space that the start needed for it, until there is work
 * (docs/decisions/0057). Blocks the thread for some 20 milliseconds.
 */
export function collectStartGarbage(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
  }, START_MS).unref();
}

/**
 * Lowers the priority of the calling thread, so that it does not compete with threads that proxy requests. Raising it
 * again would need the superuser. Only Linux has a priority for each thread. On other systems the priority is the
 * process's, and this function does nothing.
 *
 * @param nice 1 to 19; each step is worth about a tenth of the processor while others need it (see sched(7))
 */
export function lowerPriority(nice: number): void {
  if (process.platform !== 'linux') return;
  try {
    const thread = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1];
    if (thread !== undefined) setPriority(Number(thread), nice);
  } catch {
    // There is no /proc, or a container forbids it: the thread keeps its priority, and the others are a little slower.
  }
}
