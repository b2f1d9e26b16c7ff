import type { Selectable } from 'kysely';
import { type Address, parseAddress } from '../../lib/address.js';
import type { Range } from '../../lib/address-set.js';
import type { KeyRange, Visitor } from '../activity-store.js';
import type { ActivitySchema } from './schema.js';

/**
 * Ids of visits and events: seconds since 2020 and a number within the second. Ids sort by time, so that one key serves
 * "newest first" and "between two dates", also when the clock jumps or a row is late. Ids take six bytes in SQLite
 * until 2054 and are exact as JavaScript numbers for much longer.
 */

/** Maximum number of rows of one site in one second; further ones are in the next second. */
export const ROWS_PER_SECOND = 2 ** 17;

/** 2020-01-01T00:00:00Z in Unix seconds. */
const EPOCH = 1_577_836_800;

/** Greater than every id. */
export const AFTER_ALL_IDS = Number.MAX_SAFE_INTEGER;

/**
 * Returns the first id of a second.
 * @param second Unix seconds; times before 2020 count as its beginning
 */
export function toFirstId(second: number): number {
  return Math.min(Math.max(0, Math.floor(second) - EPOCH) * ROWS_PER_SECOND, AFTER_ALL_IDS);
}

/** Returns the last id of a second. */
export function toLastId(second: number): number {
  return Math.min(toFirstId(second) + ROWS_PER_SECOND - 1, AFTER_ALL_IDS);
}

/** Returns the time of a row, Unix seconds. */
export function toSecond(id: number): number {
  return Math.floor(id / ROWS_PER_SECOND) + EPOCH;
}

/** Returns the start of the UTC hour of a second, Unix seconds. */
export function toHour(second: number): number {
  return second - (second % 3600);
}

/**
 * Returns the key of an address: its 16 bytes, IPv4 as ::ffff:a.b.c.d. A text that is no address has the key of `::`.
 */
export function toAddressKey(address: string): Uint8Array {
  return toKey(parseAddress(address)?.words ?? [0, 0, 0, 0]);
}

/** Returns the key of a parsed address. Keys sort like addresses. */
export function toKey(words: Address['words']): Uint8Array {
  const key = new Uint8Array(16);
  const view = new DataView(key.buffer);
  words.forEach((word, index) => {
    view.setUint32(index * 4, word);
  });
  return key;
}

/** Returns the key of a user: the WordPress user id in 8 bytes, most significant first. */
export function toUserKey(id: number): Uint8Array {
  const key = new Uint8Array(8);
  new DataView(key.buffer).setBigUint64(0, BigInt(id));
  return key;
}

export function toUserId(key: Uint8Array): number {
  return Number(new DataView(key.buffer, key.byteOffset, key.byteLength).getBigUint64(0));
}

/** Parses the hexadecimal key of a filter. */
export function parseKey(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

export type VisitorRecord = Selectable<ActivitySchema['visitors']>;

/** Converts a record to a visitor. */
export function toVisitor(record: VisitorRecord): Visitor {
  return {
    id: record.id,
    kind: record.kind,
    name: record.name,
    userId: record.kind === 'user' ? toUserId(record.key) : null,
    hostname: record.hostname,
    verifiedBot: record.verified_bot,
    firstSeen: record.first_seen,
    lastSeen: record.last_seen,
  };
}

/** Returns a range of addresses as the filters of the log contain it. */
export function toKeyRange({ from, to }: Range): KeyRange {
  return { low: toAddressKeyHex(from), high: toAddressKeyHex(to) };
}

/** Converts an address to 16 bytes in hexadecimal, in the store's sort order. */
function toAddressKeyHex(words: readonly number[]): string {
  return words.map((word) => word.toString(16).padStart(8, '0')).join('');
}
