/** A counted value. `excess` is the part of `hits` that may belong to earlier values of the counter. */
export interface TopCount<More = never> {
  hits: number;
  excess: number;
  /** Further data of the value, since it has its counter. */
  more?: More;
}

/**
 * Counts the most frequent of any number of values with a bounded number of counters (Metwally, Agrawal, El Abbadi:
 * "Efficient computation of frequent and top-k elements in data streams", 2005, algorithm Space-Saving): a value
 * without a counter takes over the smallest one. Every value with more than hits / counters of all hits has one.
 */
export class TopCounters<More = never> {
  readonly #capacity: number;
  readonly #counts: Map<string, TopCount<More>>;
  /** Values that had the smallest count at the last search, and that count. */
  #smallest: string[] = [];
  #smallestHits = 0;
  readonly #changed = new Set<string>();
  /**
   * Values that storage contains, and those of them that no longer have a counter. In a flood most values are never
   * stored.
   */
  readonly #stored: Set<string>;
  readonly #removed = new Set<string>();

  constructor(capacity: number, counts: Iterable<readonly [string, TopCount<More>]> = []) {
    this.#capacity = capacity;
    this.#counts = new Map(counts);
    this.#stored = new Set(this.#counts.keys());
  }

  /** @returns the counter of the value */
  add(value: string, hits: number): TopCount<More> {
    this.#changed.add(value);
    const known = this.#counts.get(value);
    if (known) {
      known.hits += hits;
      return known;
    }
    const excess = this.#counts.size < this.#capacity ? 0 : this.#takeSmallest();
    const count: TopCount<More> = { hits: hits + excess, excess };
    this.#counts.set(value, count);
    this.#removed.delete(value);
    return count;
  }

  /** Returns the changes since the last call, for storage. */
  takeChanges(): { changed: readonly (readonly [string, TopCount<More>])[]; removed: readonly string[] } {
    const changed: (readonly [string, TopCount<More>])[] = [];
    for (const value of this.#changed) {
      const count = this.#counts.get(value);
      if (!count) continue;
      changed.push([value, count]);
      this.#stored.add(value);
    }
    const removed = [...this.#removed];
    for (const value of removed) this.#stored.delete(value);
    this.#changed.clear();
    this.#removed.clear();
    return { changed, removed };
  }

  /**
   * Removes a counter with the smallest count.
   * @returns its hits
   */
  #takeSmallest(): number {
    for (;;) {
      const value = this.#smallest.pop();
      if (value === undefined) {
        this.#findSmallest();
        continue;
      }
      if (this.#counts.get(value)?.hits !== this.#smallestHits) continue;
      this.#counts.delete(value);
      if (this.#stored.has(value)) this.#removed.add(value);
      this.#changed.delete(value);
      return this.#smallestHits;
    }
  }

  /**
   * Finds the smallest counters. Counters only grow, so these remain the smallest until all of them were removed or
   * have grown.
   */
  #findSmallest(): void {
    this.#smallestHits = Number.POSITIVE_INFINITY;
    for (const [value, { hits }] of this.#counts) {
      if (hits < this.#smallestHits) {
        this.#smallestHits = hits;
        this.#smallest = [];
      }
      if (hits === this.#smallestHits) this.#smallest.push(value);
    }
  }
}
