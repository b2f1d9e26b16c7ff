import { type Address, parseIPv4 } from './address.js';
import { AddressSet, parseRange, type Range } from './address-set.js';
import { findCarriedRange } from './carried-address.js';

/** An address or range, and the end of its block. */
export interface TimedAddress {
  /** Text that `parseRange` accepts. */
  readonly value: string;
  /** Milliseconds since the Unix epoch. */
  readonly until: number;
}

/** The contents of a set in a form that can be passed between processes. */
export interface PackedTimedAddresses {
  /** Single IPv4 addresses, sorted, and the end of each block. */
  readonly singles: Uint32Array;
  readonly ends: Float64Array;
  readonly ranges: readonly (Range & TimedAddress)[];
}

/**
 * An immutable set of addresses and ranges, each with its own end time. Single IPv4 addresses are sorted in typed
 * arrays; ranges are few, and only searched for an address that is in one of them.
 */
export class TimedAddresses {
  static readonly empty = new TimedAddresses({ singles: new Uint32Array(), ends: new Float64Array(), ranges: [] });

  readonly #singles: Uint32Array;
  readonly #ends: Float64Array;
  readonly #ranges: PackedTimedAddresses['ranges'];
  readonly #inRange: AddressSet;

  private constructor({ singles, ends, ranges }: PackedTimedAddresses) {
    this.#singles = singles;
    this.#ends = ends;
    this.#ranges = ranges;
    this.#inRange = AddressSet.from(ranges.map(({ value }) => value));
  }

  /** @param blocks at most one for each address; values that `parseRange` rejects are omitted */
  static from(blocks: Iterable<TimedAddress>): TimedAddresses {
    const singles: { word: number; until: number }[] = [];
    const ranges: (Range & TimedAddress)[] = [];
    for (const { value, until } of blocks) {
      const word = parseIPv4(value);
      if (word >= 0) singles.push({ word, until });
      else {
        const range = parseRange(value);
        if (range === null) continue;
        ranges.push({ ...range, until, value });
        const carried = findCarriedRange(range);
        if (carried !== null) singles.push({ word: carried.from[3], until });
      }
    }
    // Several blocks may name one address, some of them as a carried one. The block that ends last is found first.
    singles.sort((a, b) => a.word - b.word || b.until - a.until);
    return TimedAddresses.unpack({
      singles: Uint32Array.from(singles, ({ word }) => word),
      ends: Float64Array.from(singles, ({ until }) => until),
      ranges,
    });
  }

  /** Builds the set that `pack` has packed, perhaps in another process. */
  static unpack(packed: PackedTimedAddresses): TimedAddresses {
    return packed.singles.length + packed.ranges.length === 0 ? TimedAddresses.empty : new TimedAddresses(packed);
  }

  pack(): PackedTimedAddresses {
    return { singles: this.#singles, ends: this.#ends, ranges: this.#ranges };
  }

  get size(): number {
    return this.#singles.length + this.#ranges.length;
  }

  /** Whether an address is in the set at a time, milliseconds since the Unix epoch. */
  has(address: Address, now: number): boolean {
    if (address.family === 4 && this.#hasSingle(address.words[3], now)) return true;
    if (!this.#inRange.has(address)) return false;
    const { words, seen } = address;
    return this.#ranges.some(
      (range) => range.until > now && (isIn(words, range) || (seen !== undefined && isIn(seen.words, range))),
    );
  }

  #hasSingle(word: number, now: number): boolean {
    let low = 0;
    let high = this.#singles.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#singles[middle] as number) < word) low = middle + 1;
      else high = middle;
    }
    return this.#singles[low] === word && (this.#ends[low] as number) > now;
  }
}

function isIn(words: Address['words'], { from, to }: Range): boolean {
  return compare(from, words) <= 0 && compare(words, to) <= 0;
}

function compare(a: Address['words'], b: Address['words']): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];
}
