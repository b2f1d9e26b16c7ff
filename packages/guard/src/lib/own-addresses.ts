import { networkInterfaces } from 'node:os';
import { parseRange, type Range } from './address-set.js';
import type { Clock } from './clock.js';

/** The ranges of a list; invalid lines are ignored. */
export function toRanges(lines: Iterable<string>): Range[] {
  return [...lines].map(parseRange).filter((range) => range !== null);
}

const LOOPBACK = toRanges(['127.0.0.0/8', '::1']);

/** The machine's own addresses may change while guard runs. They are read again after this time, milliseconds. */
const OWN_ADDRESSES_MS = 5000;

/** Loopback and the current addresses of this machine; cached briefly. */
export function createOwnAddresses(clock: Clock): () => readonly Range[] {
  let ranges: readonly Range[] | null = null;
  let readAt = 0;
  return () => {
    if (ranges === null || Math.abs(clock() - readAt) > OWN_ADDRESSES_MS) {
      const own = Object.values(networkInterfaces()).flatMap((cards) => (cards ?? []).map(({ address }) => address));
      ranges = [...LOOPBACK, ...toRanges(own)];
      readAt = clock();
    }
    return ranges;
  };
}
