import { Buffer } from 'node:buffer';
import type { SiteId } from '../site.js';
import type { NumberedVisit, Visit } from './visit.js';

/**
 * Visits as bytes, one record after the other. Plain data, handed to the activity thread. In a flood ten thousand
 * visits a second wait for their batch and for their repeats: as objects they outlive two collections of garbage, and
 * the thread that proxies requests stands still for milliseconds to move them, again and again. Bytes are not moved.
 */
export interface PackedVisits {
  readonly bytes: Uint8Array;
  /** How many records there are. */
  readonly rows: number;
  /** The visits that they stand for. */
  readonly hits: number;
  /** What they take in memory, in visits: rows, and for those that name many other addresses more. */
  readonly weight: number;
}

/** What a visit has in common with its repeats. All texts have one byte per character. */
export type VisitKey = Pick<Visit, 'address' | 'status' | 'rule' | 'target'>;

/** What else there is to write down. */
export type VisitFacts = Omit<NumberedVisit, keyof VisitKey>;

/** Where things stand in a record; its texts follow (address, rule, target, agent), then the other addresses. */
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
const TEXTS = 37;
/** Length of an agent that was not sent. */
const NONE = 0xffff;
/** Bits of a network where there is none. */
const NO_NETWORK = 0xff;

const SMALLEST = 512;
/** Bytes of other addresses that weigh as much as a visit. */
const VISIT_BYTES = 200;
const NOTHING = Buffer.alloc(0);
const NOBODY = new Uint8Array();

/** What a visit has that no others were folded into. */
export const NOT_FOLDED = { more: 0, moreBits: null, others: NOBODY } as const;

/** A batch of visits in the making. */
export class VisitPack {
  readonly site: SiteId;
  readonly #room: number;
  #bytes = NOTHING;
  #used = 0;
  #rows = 0;
  #hits = 0;
  #othersBytes = 0;
  #open = true;

  /** @param room bytes that its first visit makes room for; it grows */
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

  /** Whether repeats may be counted in it: until it is handed over. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Writes a visit down, and tells where. */
  append({ address, status, rule, target }: VisitKey, facts: VisitFacts): number {
    const { at, agent, count, number, repeats, more, moreBits, others } = facts;
    const text = `${address}${rule ?? ''}${target}${agent ?? ''}`;
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
    bytes.write(text, offset + TEXTS, 'latin1');
    if (others.length > 0) bytes.set(others, textEnd);
    this.#used = end;
    this.#rows++;
    this.#hits += hitsOf(facts);
    this.#othersBytes += others.length;
    return offset;
  }

  /** When the visit that was written down there was answered, milliseconds since the Unix epoch. */
  timeAt(offset: number): number {
    return this.#bytes.readDoubleLE(offset + AT);
  }

  numberAt(offset: number): number {
    return this.#bytes.readUInt32LE(offset + NUMBER);
  }

  addHit(offset: number): void {
    this.#bytes.writeUInt32LE(this.#bytes.readUInt32LE(offset + COUNT) + 1, offset + COUNT);
    this.#hits++;
  }

  /** Whether the visit that was written down there is one like this. */
  isAt(offset: number, { address, status, rule, target }: VisitKey): boolean {
    const bytes = this.#bytes;
    const like =
      bytes.readUInt16LE(offset + STATUS) === status &&
      bytes.readUInt8(offset + ADDRESS_LENGTH) === address.length &&
      bytes.readUInt8(offset + RULE_LENGTH) === (rule?.length ?? 0) &&
      bytes.readUInt16LE(offset + TARGET_LENGTH) === target.length;
    if (!like) return false;
    const text = `${address}${rule ?? ''}${target}`;
    const from = offset + TEXTS;
    return bytes.toString('latin1', from, from + text.length) === text;
  }

  /** What was written down. The pack takes nothing more, but still knows what is in it. */
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

/** How many visits a row stands for. `count` holds those of its own address. */
export function hitsOf({ count, more, moreBits }: Pick<NumberedVisit, 'count' | 'more' | 'moreBits'>): number {
  return moreBits === null ? count : count + more;
}

export function packVisits(visits: Iterable<Visit & Partial<NumberedVisit>>): PackedVisits {
  const pack = new VisitPack('');
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
      agent: agentLength === NONE ? null : text(agentLength),
      more: bytes.readUInt32LE(offset + MORE),
      moreBits: moreBits === NO_NETWORK ? null : moreBits,
    };
    const othersEnd = end + bytes.readUInt32LE(offset + OTHERS_LENGTH);
    yield { ...visit, others: end === othersEnd ? NOBODY : bytes.subarray(end, othersEnd) };
    offset = othersEnd;
  }
}
