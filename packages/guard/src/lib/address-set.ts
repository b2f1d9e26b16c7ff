import { type Address, addressOf, parseAddress, parseIPv4 } from './address.js';

/** A stretch of addresses, both ends inside, as 4-word keys. */
export interface Range {
  readonly from: Address['words'];
  readonly to: Address['words'];
}

/**
 * Reads one line of an address list: an address, a CIDR range (`192.0.2.0/24`, `2001:db8::/32`), a range with a
 * hyphen (`192.0.2.1-192.0.2.9`) or wildcards (`10.1.*.*`, only at the end). Returns null for anything else.
 */
export function parseRange(line: string): Range | null {
  const text = line.trim();
  const slash = text.indexOf('/');
  if (slash !== -1) return cidr(text.slice(0, slash), text.slice(slash + 1));
  const hyphen = text.indexOf('-');
  if (hyphen !== -1) {
    const from = parseAddress(text.slice(0, hyphen).trim());
    const to = parseAddress(text.slice(hyphen + 1).trim());
    if (from === null || to === null || from.family !== to.family) return null;
    return compare(from.words, to.words) <= 0 ? { from: from.words, to: to.words } : null;
  }
  if (text.includes('*')) return wildcard(text);
  const address = parseAddress(text);
  return address === null ? null : { from: address.words, to: address.words };
}

function cidr(base: string, prefix: string): Range | null {
  const address = parseAddress(base);
  if (address === null || base.includes('%') || !/^\d{1,3}$/.test(prefix)) return null;
  const bits = Number(prefix) + (address.family === 4 && !base.includes(':') ? 96 : 0);
  if (bits > 128) return null;
  const mask = [0, 1, 2, 3].map((i) => {
    const own = Math.max(0, Math.min(32, bits - i * 32));
    return own === 0 ? 0 : (0xffffffff << (32 - own)) >>> 0;
  });
  const word = (pick: (value: number, m: number) => number): Address['words'] =>
    address.words.map((value, i) => pick(value, mask[i] as number) >>> 0) as unknown as Address['words'];
  return { from: word((value, m) => value & m), to: word((value, m) => value | ~m) };
}

function wildcard(text: string): Range | null {
  if (!/^(?:\d{1,3}|\*)(?:\.(?:\d{1,3}|\*)){3}$/.test(text) || /\*\.\d/.test(text)) return null;
  const from = parseIPv4(text.replaceAll('*', '0'));
  const to = parseIPv4(text.replaceAll('*', '255'));
  return from < 0 || to < 0 ? null : { from: [0, 0, 0xffff, from], to: [0, 0, 0xffff, to] };
}

/** A range in its shortest text: an address, a CIDR range where it is one, else a range with a hyphen. */
export function rangeText({ from, to }: Range): string {
  const first = addressOf(from);
  const last = addressOf(to);
  if (first.text === last.text) return first.text;
  for (let bits = 127; bits >= 0; bits--) {
    const prefix = first.family === 4 ? bits - 96 : bits;
    const range = prefix < 0 ? null : cidr(first.text, String(prefix));
    if (range !== null && compare(range.from, from) === 0 && compare(range.to, to) === 0)
      return `${first.text}/${prefix}`;
  }
  return `${first.text}-${last.text}`;
}

/** Whether two ranges have an address in common. */
export function overlap(a: Range, b: Range): boolean {
  return compare(a.from, b.to) <= 0 && compare(b.from, a.to) <= 0;
}

function compare(a: Address['words'], b: Address['words']): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];
}

/**
 * A frozen set of addresses and ranges, built once and asked per request. Single IPv4 addresses, by far the most, lie
 * sorted in one typed array: a million take 4 MB and one question about 20 comparisons. Ranges are merged and sorted.
 */
export class AddressSet {
  static readonly empty = new AddressSet(new Uint32Array(0), []);

  readonly #v4: Uint32Array;
  readonly #v4From: Uint32Array;
  readonly #v4To: Uint32Array;
  /** Four words per entry. */
  readonly #v6From: Uint32Array;
  readonly #v6To: Uint32Array;

  private constructor(v4: Uint32Array, ranges: readonly Range[]) {
    this.#v4 = v4;
    const v4Ranges = merge(ranges.filter(isV4));
    const v6Ranges = merge(ranges.filter((range) => !isV4(range)));
    this.#v4From = Uint32Array.from(v4Ranges, (range) => range.from[3]);
    this.#v4To = Uint32Array.from(v4Ranges, (range) => range.to[3]);
    this.#v6From = Uint32Array.from(v6Ranges.flatMap((range) => [...range.from]));
    this.#v6To = Uint32Array.from(v6Ranges.flatMap((range) => [...range.to]));
  }

  /** Builds a set. Lines that `parseRange` does not understand are passed to `onBad` and left out. */
  static from(lines: Iterable<string>, onBad: (line: string) => void = () => {}): AddressSet {
    const { singles, ranges } = new AddressLines().add(lines, onBad);
    return AddressSet.of(singles, ranges);
  }

  /** As `from`, of lines that arrive in pieces; between two of them other work gets its turn. */
  static async fromPieces(pieces: AsyncIterable<Iterable<string>>): Promise<AddressSet> {
    const read = new AddressLines();
    for await (const lines of pieces) read.add(lines);
    return AddressSet.of(read.singles, read.ranges);
  }

  private static of(singles: Uint32Array, ranges: readonly Range[]): AddressSet {
    if (singles.length === 0 && ranges.length === 0) return AddressSet.empty;
    return new AddressSet(sortedUnique(singles), ranges);
  }

  /** The same set with or without a single IPv4 address, in a millisecond also among a million. */
  withSingle(address: Address, present: boolean): AddressSet {
    const word = address.words[3];
    const before = countUpTo(this.#v4, word);
    const at = before > 0 && this.#v4[before - 1] === word ? before - 1 : -1;
    if (present === (at !== -1)) return this;
    const singles = new Uint32Array(this.#v4.length + (present ? 1 : -1));
    singles.set(this.#v4.subarray(0, present ? before : at));
    if (present) singles[before] = word;
    singles.set(this.#v4.subarray(before), present ? before + 1 : at);
    return new AddressSet(singles, this.#ranges());
  }

  /** The same single IPv4 addresses with these ranges and IPv6 addresses in place of the present ones. */
  async withRanges(pieces: AsyncIterable<Iterable<string>>): Promise<AddressSet> {
    const read = new AddressLines();
    for await (const lines of pieces) read.add(lines);
    return new AddressSet(this.#v4, read.ranges);
  }

  #ranges(): Range[] {
    const words = (all: Uint32Array, i: number) => [...all.subarray(i * 4, i * 4 + 4)] as unknown as Address['words'];
    const v4 = Array.from(this.#v4From, (from, i): Range => {
      return { from: [0, 0, 0xffff, from], to: [0, 0, 0xffff, this.#v4To[i] as number] };
    });
    const v6 = Array.from({ length: this.#v6From.length / 4 }, (_, i): Range => {
      return { from: words(this.#v6From, i), to: words(this.#v6To, i) };
    });
    return [...v4, ...v6];
  }

  /** Number of separate entries after merging. */
  get size(): number {
    return this.#v4.length + this.#v4From.length + this.#v6From.length / 4;
  }

  has(address: Address): boolean {
    return address.family === 4 ? this.#hasV4(address.words[3]) : this.#hasV6(address.words);
  }

  #hasV4(word: number): boolean {
    const single = countUpTo(this.#v4, word);
    if (single > 0 && this.#v4[single - 1] === word) return true;
    const range = countUpTo(this.#v4From, word);
    return range > 0 && word <= (this.#v4To[range - 1] as number);
  }

  #hasV6(words: Address['words']): boolean {
    const entry = (array: Uint32Array, i: number): Address['words'] =>
      array.subarray(i * 4, i * 4 + 4) as unknown as Address['words'];
    let low = 0;
    let high = this.#v6From.length / 4;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compare(entry(this.#v6From, middle), words) <= 0) low = middle + 1;
      else high = middle;
    }
    return low > 0 && compare(words, entry(this.#v6To, low - 1)) <= 0;
  }
}

/** Lines of a list as they are read. */
class AddressLines {
  readonly ranges: Range[] = [];
  #singles = new Uint32Array(1024);
  #count = 0;

  /** Single IPv4 addresses, in no order. */
  get singles(): Uint32Array {
    return this.#singles.subarray(0, this.#count);
  }

  add(lines: Iterable<string>, onBad: (line: string) => void = () => {}): this {
    for (const line of lines) {
      const v4 = parseIPv4(line);
      if (v4 >= 0) {
        if (this.#count === this.#singles.length) this.#singles = grown(this.#singles);
        this.#singles[this.#count++] = v4;
        continue;
      }
      const range = parseRange(line);
      if (range === null) onBad(line);
      else this.ranges.push(range);
    }
    return this;
  }
}

/** How many entries of a sorted array are at most `word`. */
function countUpTo(sorted: Uint32Array, word: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= word) low = middle + 1;
    else high = middle;
  }
  return low;
}

function grown(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}

function sortedUnique(words: Uint32Array): Uint32Array {
  words.sort();
  let kept = 0;
  for (let i = 0; i < words.length; i++) {
    if (i === 0 || words[i] !== words[i - 1]) words[kept++] = words[i] as number;
  }
  return words.slice(0, kept);
}

function isV4(range: Range): boolean {
  return range.from[0] === 0 && range.from[1] === 0 && range.from[2] === 0xffff;
}

function merge(ranges: Range[]): Range[] {
  ranges.sort((a, b) => compare(a.from, b.from));
  const merged: Range[] = [];
  for (const range of ranges) {
    const last = merged[merged.length - 1];
    if (last !== undefined && compare(range.from, last.to) <= 0) {
      if (compare(range.to, last.to) > 0) merged[merged.length - 1] = { from: last.from, to: range.to };
    } else merged.push(range);
  }
  return merged;
}
