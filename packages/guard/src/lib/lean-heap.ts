import { setFlagsFromString } from 'node:v8';

/** How much a heap grows before V8 looks for garbage in all of it again, percent of what was alive then. */
const GROWTH_PERCENT = 50;

/**
 * Keeps the heaps of this process small: those of the present thread and of threads that are started later. V8 lets a
 * heap of a few megabytes grow to four times what is alive in it, which suits a program that ends soon; a flood of
 * requests fills a service up to that. To be called once, before there is work (docs/decisions/0011).
 */
export function keepHeapsLean(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
