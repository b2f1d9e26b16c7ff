import { type Address, parseAddress, parseIPv4 } from './address.js';

/** A stretch of addresses, both ends inside, as 4-word keys. */
interface Range {
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

function compare(a: Address['words'], b: Address['words']): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];
}

/**
 * A frozen set of addresses and ranges, built once and asked per request. Overlapping entries are merged into sorted
 * stretches in typed arrays, so that a million entries take 8 MB (IPv4) and one question about 20 comparisons.
 */
export class AddressSet {
  static readonly empty = new AddressSet([]);

  readonly #v4From: Uint32Array;
  readonly #v4To: Uint32Array;
  /** Four words per entry. */
  readonly #v6From: Uint32Array;
  readonly #v6To: Uint32Array;

  private constructor(ranges: readonly Range[]) {
    const v4 = merge(ranges.filter(isV4));
    const v6 = merge(ranges.filter((range) => !isV4(range)));
    this.#v4From = Uint32Array.from(v4, (range) => range.from[3]);
    this.#v4To = Uint32Array.from(v4, (range) => range.to[3]);
    this.#v6From = Uint32Array.from(v6.flatMap((range) => [...range.from]));
    this.#v6To = Uint32Array.from(v6.flatMap((range) => [...range.to]));
  }

  /** Builds a set. Lines that `parseRange` does not understand are passed to `onBad` and left out. */
  static from(lines: Iterable<string>, onBad: (line: string) => void = () => {}): AddressSet {
    const ranges: Range[] = [];
    for (const line of lines) {
      const range = parseRange(line);
      if (range === null) onBad(line);
      else ranges.push(range);
    }
    return ranges.length === 0 ? AddressSet.empty : new AddressSet(ranges);
  }

  /** Number of separate stretches after merging. */
  get size(): number {
    return this.#v4From.length + this.#v6From.length / 4;
  }

  has(address: Address): boolean {
    return address.family === 4 ? this.#hasV4(address.words[3]) : this.#hasV6(address.words);
  }

  #hasV4(word: number): boolean {
    const from = this.#v4From;
    let low = 0;
    let high = from.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((from[middle] as number) <= word) low = middle + 1;
      else high = middle;
    }
    return low > 0 && word <= (this.#v4To[low - 1] as number);
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
