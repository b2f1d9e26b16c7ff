import { Buffer } from 'node:buffer';
import type { SiteId } from '../site.js';
import type { NumberedVisit, Visit } from './visit.js';

/**
 * Visits as bytes, one record after the other: plain data for the writer thread. In a flood, ten thousand visits a
 * second wait for their batch and for their repeats. As objects they would outlive two garbage collections, and the
 * proxying thread would pause for milliseconds, again and again, while they are moved. Bytes are not moved.
 */
export interface PackedVisits {
  readonly bytes: Uint8Array;
  /** Number of records. */
  readonly rows: number;
  /** Number of visits that the records represent. */
  readonly hits: number;
  /** Size in memory, in visits: the rows, and more for those that contain many other addresses. */
  readonly weight: number;
}

/** What a visit and its repeats have in common. All texts have one byte per character. */
export type VisitKey = Pick<Visit, 'address' | 'status' | 'rule' | 'target' | 'method' | 'failedLogins' | 'tried'>;

/** The other fields of a stored visit. */
export type VisitFacts = Omit<NumberedVisit, keyof VisitKey>;

/**
 * Offsets of the fields of a record. The texts follow (address, rule, target, tried login, agent, referer, origin),
 * then the other addresses.
 */
const AT = 0;
const COUNT = 8;
const NUMBER = 12;
const REPEATS = 16;
const STATUS = 20;
const TARGET_LENGTH = 22;
const AGENT_LENGTH = 24;
const ADDRESS_LENGTH = 26;
const RULE_LENGTH = 27;
const MORE = 28;
const OTHERS_LENGTH = 32;
const MORE_BITS = 36;
const METHOD = 37;
const FAILED = 38;
const TRIED_LENGTH = 40;
const ORIGIN_LENGTH = 41;
const REFERER_LENGTH = 42;
const REFERENCE = 44;
const LAST_REFERENCE = 52;
const TEXTS = 60;
/** Methods by their number in a record, from 1 on; 0 for any other. */
const METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'CONNECT', 'TRACE', 'PROPFIND', 'REPORT'];
/** Length of a missing agent. */
const NONE = 0xffff;
/** Prefix length where there is no network. */
const NO_NETWORK = 0xff;

const SMALLEST = 512;
/** Bytes of other addresses that weigh as much as a visit. */
const VISIT_BYTES = 200;
const NOTHING = Buffer.alloc(0);
const NOBODY = new Uint8Array();

/** Fields of a visit without folded visits. */
export const NOT_FOLDED = { more: 0, moreBits: null, others: NOBODY } as const;

/** Builds a batch of visits. */
export class PackedVisitBuilder {
  readonly site: SiteId;
  readonly #room: number;
  #bytes = NOTHING;
  #used = 0;
  #rows = 0;
  #hits = 0;
  #othersBytes = 0;
  #open = true;

  /** @param room initial capacity in bytes once there is a visit; it grows */
  constructor(site: SiteId, room = SMALLEST) {
    this.site = site;
    this.#room = Math.max(room, SMALLEST);
  }

  get rows(): number {
    return this.#rows;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether repeats can still be counted, which is until `close`. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Appends a visit and returns its offset. */
  append(key: VisitKey, facts: VisitFacts): number {
    const { address, status, rule, target, method, failedLogins = 0, tried = '' } = key;
    const { at, agent, count, number, repeats, more, moreBits, others, referer = '', origin = '' } = facts;
    const { reference = 0, lastReference = reference } = facts;
    const text = `${address}${rule ?? ''}${target}${tried}${agent ?? ''}${referer}${origin}`;
    const offset = this.#used;
    const textEnd = offset + TEXTS + text.length;
    const end = textEnd + others.length;
    if (end > this.#bytes.length) this.#grow(end);
    const bytes = this.#bytes;
    bytes.writeDoubleLE(at, offset + AT);
    bytes.writeUInt32LE(count, offset + COUNT);
    bytes.writeUInt32LE(number, offset + NUMBER);
    bytes.writeUInt32LE(repeats, offset + REPEATS);
    bytes.writeUInt16LE(status, offset + STATUS);
    bytes.writeUInt16LE(target.length, offset + TARGET_LENGTH);
    bytes.writeUInt16LE(agent?.length ?? NONE, offset + AGENT_LENGTH);
    bytes.writeUInt8(address.length, offset + ADDRESS_LENGTH);
    bytes.writeUInt8(rule?.length ?? 0, offset + RULE_LENGTH);
    bytes.writeUInt32LE(more, offset + MORE);
    bytes.writeUInt32LE(others.length, offset + OTHERS_LENGTH);
    bytes.writeUInt8(moreBits ?? NO_NETWORK, offset + MORE_BITS);
    bytes.writeUInt8(toMethodNumber(method), offset + METHOD);
    bytes.writeUInt16LE(failedLogins, offset + FAILED);
    bytes.writeUInt8(tried.length, offset + TRIED_LENGTH);
    bytes.writeUInt8(origin.length, offset + ORIGIN_LENGTH);
    bytes.writeUInt16LE(referer.length, offset + REFERER_LENGTH);
    bytes.writeDoubleLE(reference, offset + REFERENCE);
    bytes.writeDoubleLE(lastReference, offset + LAST_REFERENCE);
    bytes.write(text, offset + TEXTS, 'latin1');
    if (others.length > 0) bytes.set(others, textEnd);
    this.#used = end;
    this.#rows++;
    this.#hits += countHits(facts);
    this.#othersBytes += others.length;
    return offset;
  }

  /** Returns when the visit at an offset was answered, milliseconds since the Unix epoch. */
  timeAt(offset: number): number {
    return this.#bytes.readDoubleLE(offset + AT);
  }

  numberAt(offset: number): number {
    return this.#bytes.readUInt32LE(offset + NUMBER);
  }

  /**
   * Counts a repeat of the visit at an offset.
   * @param reference of the repeat; 0 for none
   */
  addHit(offset: number, reference = 0): void {
    this.#bytes.writeUInt32LE(this.#bytes.readUInt32LE(offset + COUNT) + 1, offset + COUNT);
    if (reference !== 0) this.#bytes.writeDoubleLE(reference, offset + LAST_REFERENCE);
    this.#hits++;
  }

  /** Whether the visit at an offset has this key. */
  isAt(offset: number, { address, status, rule, target, method, failedLogins = 0, tried = '' }: VisitKey): boolean {
    const bytes = this.#bytes;
    const like =
      bytes.readUInt16LE(offset + STATUS) === status &&
      bytes.readUInt8(offset + ADDRESS_LENGTH) === address.length &&
      bytes.readUInt8(offset + RULE_LENGTH) === (rule?.length ?? 0) &&
      bytes.readUInt16LE(offset + TARGET_LENGTH) === target.length &&
      bytes.readUInt8(offset + METHOD) === toMethodNumber(method) &&
      bytes.readUInt16LE(offset + FAILED) === failedLogins &&
      bytes.readUInt8(offset + TRIED_LENGTH) === tried.length;
    if (!like) return false;
    const text = `${address}${rule ?? ''}${target}${tried}`;
    const from = offset + TEXTS;
    return bytes.toString('latin1', from, from + text.length) === text;
  }

  /** Returns the records. Nothing can be appended or counted any more, but the visits can still be read. */
  close(): PackedVisits {
    this.#open = false;
    const bytes = new Uint8Array(this.#bytes.subarray(0, this.#used));
    const weight = this.#rows + Math.floor(this.#othersBytes / VISIT_BYTES);
    return { bytes, rows: this.#rows, hits: this.#hits, weight };
  }

  #grow(atLeast: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(atLeast, this.#room, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}

function toMethodNumber(method: string | undefined): number {
  return method === undefined ? 0 : METHODS.indexOf(method) + 1;
}

/** Returns the number of visits of a row. `count` contains those of its own address. */
export function countHits({ count, more, moreBits }: Pick<NumberedVisit, 'count' | 'more' | 'moreBits'>): number {
  return moreBits === null ? count : count + more;
}

export function packVisits(visits: Iterable<Visit & Partial<NumberedVisit>>): PackedVisits {
  const pack = new PackedVisitBuilder('');
  for (const visit of visits) pack.append(visit, { number: 0, repeats: 0, ...NOT_FOLDED, ...visit });
  return pack.close();
}

export function* unpackVisits({ bytes: { buffer, byteOffset, byteLength } }: PackedVisits): Generator<NumberedVisit> {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  for (let offset = 0; offset < bytes.length; ) {
    let end = offset + TEXTS;
    const text = (length: number): string => {
      end += length;
      return bytes.toString('latin1', end - length, end);
    };
    const agentLength = bytes.readUInt16LE(offset + AGENT_LENGTH);
    const moreBits = bytes.readUInt8(offset + MORE_BITS);
    const visit = {
      at: bytes.readDoubleLE(offset + AT),
      count: bytes.readUInt32LE(offset + COUNT),
      number: bytes.readUInt32LE(offset + NUMBER),
      repeats: bytes.readUInt32LE(offset + REPEATS),
      status: bytes.readUInt16LE(offset + STATUS),
      address: text(bytes.readUInt8(offset + ADDRESS_LENGTH)),
      rule: text(bytes.readUInt8(offset + RULE_LENGTH)) || null,
      target: text(bytes.readUInt16LE(offset + TARGET_LENGTH)),
      tried: text(bytes.readUInt8(offset + TRIED_LENGTH)),
      agent: agentLength === NONE ? null : text(agentLength),
      referer: text(bytes.readUInt16LE(offset + REFERER_LENGTH)),
      origin: text(bytes.readUInt8(offset + ORIGIN_LENGTH)),
      method: METHODS[bytes.readUInt8(offset + METHOD) - 1] ?? '',
      failedLogins: bytes.readUInt16LE(offset + FAILED),
      reference: bytes.readDoubleLE(offset + REFERENCE),
      lastReference: bytes.readDoubleLE(offset + LAST_REFERENCE),
      more: bytes.readUInt32LE(offset + MORE),
      moreBits: moreBits === NO_NETWORK ? null : moreBits,
    };
    const othersEnd = end + bytes.readUInt32LE(offset + OTHERS_LENGTH);
    yield { ...visit, others: end === othersEnd ? NOBODY : bytes.subarray(end, othersEnd) };
    offset = othersEnd;
  }
}

/** The number of hits of an address. */
export interface AddressHits {
  readonly address: string;
  readonly hits: number;
}

/** Offsets of the fields of an entry; the address follows, one byte per character. */
const HITS = 0;
const LENGTH = 4;
const TEXT = 5;
const TALLY_SMALLEST = 256;

/**
 * Counts hits of addresses as bytes. In a flood there are ten thousand addresses a second; as objects they would burden
 * the garbage collector (decision 14). Only consecutive hits share an entry, so an address may occur more than once.
 */
export class AddressCounter {
  #bytes = Buffer.alloc(0);
  #used = 0;
  #last = '';
  #lastAt = 0;

  /** Bytes in use. */
  get used(): number {
    return this.#used;
  }

  add(address: string): void {
    if (address === this.#last) {
      this.#bytes.writeUInt32LE(this.#bytes.readUInt32LE(this.#lastAt) + 1, this.#lastAt);
      return;
    }
    const end = this.#used + TEXT + address.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, TALLY_SMALLEST, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    this.#last = address;
    this.#lastAt = this.#used + HITS;
    this.#bytes.writeUInt32LE(1, this.#lastAt);
    this.#bytes.writeUInt8(address.length, this.#used + LENGTH);
    this.#bytes.write(address, this.#used + TEXT, 'latin1');
    this.#used = end;
  }

  /** Returns the counts, for `readAddressCounts`. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#used);
  }
}

/** Reads the counts of an `AddressCounter`, in their order. */
export function* readAddressCounts({ buffer, byteOffset, byteLength }: Uint8Array): Generator<AddressHits> {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  for (let at = 0; at < bytes.length; ) {
    const end = at + TEXT + bytes.readUInt8(at + LENGTH);
    yield { address: bytes.toString('latin1', at + TEXT, end), hits: bytes.readUInt32LE(at + HITS) };
    at = end;
  }
}

/** Slots of each table. At most half of them are used, so that a search is short. */
const SLOTS = 32_768;
const FULL = SLOTS / 2;
/** Slots that are probed for one visit, which bounds the cost of many visits with the same hash. */
const PROBES = 8;

/**
 * Finds where a visit of the last second or two was packed, so that repeats are counted instead of packed again. There
 * are two tables of numbers. Each rotation clears the older one; entries that were found since are in the newer one. A
 * hash finds a visit, and its bytes are compared. An entry without a free slot is dropped: that costs a row, but never
 * a visit.
 */
export class RecentVisits {
  #newer = new Table();
  #older = new Table();

  /**
   * Finds a visit with this key.
   * @param hash from `visitHash`
   * @returns its position, valid until the next call; -1 when there is none
   */
  find(hash: number, site: SiteId, key: VisitKey): number {
    const position = this.#newer.find(hash, site, key);
    if (position !== -1) return position;
    const before = this.#older.find(hash, site, key);
    return before === -1 ? -1 : this.put(hash, this.#older.packAt(before), this.#older.offsetAt(before));
  }

  packAt(position: number): PackedVisitBuilder {
    return this.#newer.packAt(position);
  }

  offsetAt(position: number): number {
    return this.#newer.offsetAt(position);
  }

  /** Stores where a visit was packed. Returns its position. */
  put(hash: number, pack: PackedVisitBuilder, offset: number): number {
    if (this.#newer.size >= FULL) this.rotate();
    return this.#newer.put(hash, pack, offset);
  }

  /** Stores where the visit at a position was packed again. */
  move(position: number, pack: PackedVisitBuilder, offset: number): void {
    this.#newer.set(position, pack, offset);
  }

  /** Drops the entries that were not found since the last rotation. */
  rotate(): void {
    const emptied = this.#older;
    emptied.clear();
    this.#older = this.#newer;
    this.#newer = emptied;
  }
}

class Table {
  readonly #hashes = new Uint32Array(SLOTS);
  readonly #offsets = new Uint32Array(SLOTS);
  /** Number of the builder, from 1 on; 0 for a free slot. */
  readonly #numbers = new Uint32Array(SLOTS);
  readonly #packs: PackedVisitBuilder[] = [];
  readonly #packNumbers = new Map<PackedVisitBuilder, number>();
  size = 0;

  find(hash: number, site: SiteId, key: VisitKey): number {
    for (let step = 0; step < PROBES; step++) {
      const position = (hash + step) % SLOTS;
      if (this.#numbers[position] === 0) return -1;
      if (this.#hashes[position] !== hash) continue;
      const pack = this.packAt(position);
      if (pack.site === site && pack.isAt(this.offsetAt(position), key)) return position;
    }
    return -1;
  }

  packAt(position: number): PackedVisitBuilder {
    return this.#packs[(this.#numbers[position] as number) - 1] as PackedVisitBuilder;
  }

  offsetAt(position: number): number {
    return this.#offsets[position] as number;
  }

  put(hash: number, pack: PackedVisitBuilder, offset: number): number {
    let position = hash % SLOTS;
    for (let step = 1; step < PROBES && this.#numbers[position] !== 0; step++) position = (hash + step) % SLOTS;
    if (this.#numbers[position] === 0) this.size++;
    this.#hashes[position] = hash;
    this.set(position, pack, offset);
    return position;
  }

  set(position: number, pack: PackedVisitBuilder, offset: number): void {
    let number = this.#packNumbers.get(pack);
    if (number === undefined) {
      number = this.#packs.push(pack);
      this.#packNumbers.set(pack, number);
    }
    this.#numbers[position] = number;
    this.#offsets[position] = offset;
  }

  clear(): void {
    if (this.size === 0) return;
    this.#numbers.fill(0);
    this.#packs.length = 0;
    this.#packNumbers.clear();
    this.size = 0;
  }
}

/**
 * Returns the hash of a visit: 32 bits, FNV-1a over its key. Two visits may have the same.
 * @param seed 32 bits that clients don't know
 */
export function visitHash({ address, status, rule, target, tried, method }: VisitKey, seed: number): number {
  let hash = hashText(address, seed ^ status ^ (toMethodNumber(method) << 16));
  if (rule !== null) hash = hashText(rule, hash);
  hash = hashText(target, hash);
  if (tried !== undefined && tried !== '') hash = hashText(tried, hash);
  // The lowest bits of FNV depend only on the lowest bits of the characters.
  return (hash ^ (hash >>> 15)) >>> 0;
}

function hashText(text: string, start: number): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
