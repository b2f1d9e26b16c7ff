interface Group {
  count: number;
  readonly keys: Map<string, number>;
}

/**
 * Counts what each key and each group of keys holds, for example addresses and their networks. Determines which key has
 * to release something when there is no more room for a key that holds less.
 */
export class Shares {
  readonly #groups = new Map<string, Group>();
  readonly #toGroup: (key: string) => string;

  /** @param toGroup returns the group of a key; always the same for the same key */
  constructor(toGroup: (key: string) => string) {
    this.#toGroup = toGroup;
  }

  /** Number of things that a key holds. */
  count(key: string): number {
    return this.#groups.get(this.#toGroup(key))?.keys.get(key) ?? 0;
  }

  add(key: string): void {
    const name = this.#toGroup(key);
    const group = this.#groups.get(name);
    if (group === undefined) {
      this.#groups.set(name, { count: 1, keys: new Map([[key, 1]]) });
      return;
    }
    group.count++;
    group.keys.set(key, (group.keys.get(key) ?? 0) + 1);
  }

  /** Does nothing when the key holds nothing. */
  delete(key: string): void {
    const name = this.#toGroup(key);
    const group = this.#groups.get(name);
    const count = group?.keys.get(key);
    if (group === undefined || count === undefined) return;
    group.count--;
    if (count === 1) group.keys.delete(key);
    else group.keys.set(key, count - 1);
    if (group.count === 0) this.#groups.delete(name);
  }

  /**
   * The key that has to release one thing for a newcomer: the one that holds most in the group that holds most. It must
   * still hold at least as much as the newcomer afterwards, so that two keys can't alternate for ever.
   *
   * @returns null when no key holds more
   */
  largest(newcomer: string): string | null {
    const own = this.#groups.get(this.#toGroup(newcomer));
    let largest: Group | undefined;
    for (const group of this.#groups.values())
      if (largest === undefined || group.count > largest.count) largest = group;
    if (largest !== undefined && largest !== own && largest.count > (own?.count ?? 0) + 1) return largestKey(largest);
    const neighbour = own === undefined ? null : largestKey(own);
    if (own === undefined || neighbour === null) return null;
    return (own.keys.get(neighbour) ?? 0) > (own.keys.get(newcomer) ?? 0) + 1 ? neighbour : null;
  }
}

/** The key that holds most; of several the one that was added last. */
function largestKey({ keys }: Group): string | null {
  let largest: string | null = null;
  let highest = 0;
  for (const [key, count] of keys) {
    if (count < highest) continue;
    largest = key;
    highest = count;
  }
  return largest;
}
