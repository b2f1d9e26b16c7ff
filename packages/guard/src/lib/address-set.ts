import { type Address, parseAddress, parseIPv4, toAddress } from './address.js';

/** A range of addresses, including both ends, as 4-word keys. */
export interface Range {
  readonly from: Address['words'];
  readonly to: Address['words'];
}

/**
 * Reads one line of an address list: an address, a CIDR range (`192.0.2.0/24`, `2001:db8::/32`), a range with a hyphen
 * (`192.0.2.1-192.0.2.9`) or wildcards (`10.1.*.*`, only at the end). Returns null for anything else.
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

/** The shortest text of a range: an address, a CIDR range if it is one, else a range with a hyphen. */
export function rangeText({ from, to }: Range): string {
  const first = toAddress(from);
  const last = toAddress(to);
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

/** Whether a range is inside another one. */
export function isWithin(range: Range, outer: Range): boolean {
  return compare(outer.from, range.from) <= 0 && compare(range.to, outer.to) <= 0;
}

function compare(a: Address['words'], b: Address['words']): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];
}

/** The contents of a set in a form that can be passed between threads. */
export interface PackedAddresses {
  /** Single IPv4 addresses, sorted, without duplicates. */
  readonly v4: Uint32Array;
  /** Ranges, sorted, without overlaps, including both ends. Those of IPv6 have four words per entry. */
  readonly v4From: Uint32Array;
  readonly v4To: Uint32Array;
  readonly v6From: Uint32Array;
  readonly v6To: Uint32Array;
}

/**
 * An immutable set of addresses and ranges, built once and queried for each request. Single IPv4 addresses, by far the
 * most frequent entries, are sorted in one typed array: a million take 4 MB, and a lookup about 20 comparisons. Ranges
 * are merged and sorted.
 */
export class AddressSet {
  static readonly empty = new AddressSet(packed(new Uint32Array(0), []));

  readonly #v4: Uint32Array;
  readonly #v4From: Uint32Array;
  readonly #v4To: Uint32Array;
  readonly #v6From: Uint32Array;
  readonly #v6To: Uint32Array;

  private constructor({ v4, v4From, v4To, v6From, v6To }: PackedAddresses) {
    this.#v4 = v4;
    this.#v4From = v4From;
    this.#v4To = v4To;
    this.#v6From = v6From;
    this.#v6To = v6To;
  }

  /** Builds a set. Lines that `parseRange` rejects are passed to `onBad` and omitted. */
  static from(lines: Iterable<string>, onBad: (line: string) => void = () => {}): AddressSet {
    const read = new AddressListReader();
    for (const line of lines) if (!read.add(line)) onBad(line);
    return AddressSet.unpack(read.pack());
  }

  /** Builds the set that `AddressLines` has packed, perhaps in another thread. */
  static unpack(read: PackedAddresses): AddressSet {
    const set = new AddressSet(read);
    return set.size === 0 ? AddressSet.empty : set;
  }

  /** The contents, for `unpack` in another thread or process. */
  pack(): PackedAddresses {
    return { v4: this.#v4, v4From: this.#v4From, v4To: this.#v4To, v6From: this.#v6From, v6To: this.#v6To };
  }

  /** Returns the set with or without a single IPv4 address. Takes a millisecond for a million addresses. */
  withSingle(address: Address, present: boolean): AddressSet {
    const word = address.words[3];
    const before = countUpTo(this.#v4, word);
    const at = before > 0 && this.#v4[before - 1] === word ? before - 1 : -1;
    if (present === (at !== -1)) return this;
    const singles = new Uint32Array(this.#v4.length + (present ? 1 : -1));
    singles.set(this.#v4.subarray(0, present ? before : at));
    if (present) singles[before] = word;
    singles.set(this.#v4.subarray(before), present ? before + 1 : at);
    return this.withSingles(singles);
  }

  /** Returns a set with the same single IPv4 addresses, and the ranges and IPv6 addresses of another set. */
  withRangesFrom(other: AddressSet): AddressSet {
    return other.withSingles(this.#v4);
  }

  private withSingles(v4: Uint32Array): AddressSet {
    return new AddressSet({
      v4,
      v4From: this.#v4From,
      v4To: this.#v4To,
      v6From: this.#v6From,
      v6To: this.#v6To,
    });
  }

  /** Number of separate entries after merging. */
  get size(): number {
    return this.#v4.length + this.#v4From.length + this.#v6From.length / 4;
  }

  /** Whether an address, or the IPv6 address that carried it, is in the set. */
  has(address: Address): boolean {
    if (address.family === 6) return this.#hasV6(address.words);
    return this.#hasV4(address.words[3]) || (address.seen !== undefined && this.#hasV6(address.seen.words));
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

/** Reads the lines of a list. */
export class AddressListReader {
  readonly #ranges: Range[] = [];
  #singles = new Uint32Array(1024);
  #count = 0;

  /** @param findOther returns a range that is added together with an IPv6 range, or null */
  constructor(private readonly findOther: (range: Range) => Range | null = () => null) {}

  /** Adds a line. @returns false when `parseRange` rejects it */
  add(line: string): boolean {
    return this.#addPart(line, 0, line.length);
  }

  /** Adds many lines, separated by line feeds. Lines that `parseRange` rejects are omitted. */
  addText(text: string): void {
    for (let from = 0; from < text.length; ) {
      const end = text.indexOf('\n', from);
      const to = end === -1 ? text.length : end;
      this.#addPart(text, from, to);
      from = to + 1;
    }
  }

  /** The contents for `AddressSet.unpack`. Nothing may be added afterwards. */
  pack(): PackedAddresses {
    return packed(sortedUnique(this.#singles.subarray(0, this.#count)), this.#ranges);
  }

  #addPart(text: string, from: number, to: number): boolean {
    const v4 = parseIPv4(text, from, to);
    if (v4 >= 0) {
      if (this.#count === this.#singles.length) this.#singles = grown(this.#singles);
      this.#singles[this.#count++] = v4;
      return true;
    }
    const range = parseRange(text.slice(from, to));
    if (range === null) return false;
    this.#ranges.push(range);
    const other = this.findOther(range);
    if (other !== null) this.#ranges.push(other);
    return true;
  }
}

function packed(v4: Uint32Array, ranges: readonly Range[]): PackedAddresses {
  const v4Ranges = merge(ranges.filter(isV4));
  const v6Ranges = merge(ranges.filter((range) => !isV4(range)));
  return {
    v4,
    v4From: Uint32Array.from(v4Ranges, (range) => range.from[3]),
    v4To: Uint32Array.from(v4Ranges, (range) => range.to[3]),
    v6From: Uint32Array.from(v6Ranges.flatMap((range) => [...range.from])),
    v6To: Uint32Array.from(v6Ranges.flatMap((range) => [...range.to])),
  };
}

/** Number of entries in a sorted array that are at most `word`. */
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
  const sorted = words.length < RADIX_FROM ? words.sort() : radixSorted(words);
  let length = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[length++] = sorted[i] as number;
  }
  return sorted.slice(0, length);
}

/** Length from which radix sort is faster than comparing: a million entries take a quarter of the time. */
const RADIX_FROM = 50_000;
const DIGIT = 0xffff;

/** Sorts by the lower half of each word, then by the upper one. Also changes the given array. */
function radixSorted(words: Uint32Array): Uint32Array {
  const other = new Uint32Array(words.length);
  placeByDigit(words, other, 0);
  placeByDigit(other, words, 16);
  return words;
}

/** Sorts words by one digit; words with the same digit keep their order. */
function placeByDigit(from: Uint32Array, to: Uint32Array, shift: number): void {
  const next = new Uint32Array(DIGIT + 2);
  const digitAt = (i: number) => ((from[i] as number) >>> shift) & DIGIT;
  for (let i = 0; i < from.length; i++) (next[digitAt(i) + 1] as number)++;
  for (let digit = 1; digit <= DIGIT; digit++) next[digit] = (next[digit] as number) + (next[digit - 1] as number);
  for (let i = 0; i < from.length; i++) to[(next[digitAt(i)] as number)++] = from[i] as number;
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

/** Networks that are not on the Internet (RFC 1918, 4193, 6598, 3927, 4291), loopback and multicast. */
export const privateNetworks = AddressSet.from([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['224.0.0.0/3', '::/127', 'fc00::/7', 'fe80::/10', 'ff00::/8'],
]);
