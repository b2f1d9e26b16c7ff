/** Repeatable random choices. */
export interface Random {
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  pick<T>(list: readonly T[]): T;
  chance(probability: number): boolean;
  bytes(count: number): Buffer;
}

/**
 * A generator that answers the same sequence for the same seed (mulberry32). `stream` gives each worker a sequence of
 * its own, so that what one of them chooses does not depend on how fast the others are.
 */
export function createRandom(seed: number, stream = 0): Random {
  let state = (seed ^ Math.imul(stream + 1, 0x9e3779b9)) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    between,
    pick: (list) => list[between(0, list.length - 1)] as never,
    chance: (probability) => next() < probability,
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => between(0, 255))),
  };
}
