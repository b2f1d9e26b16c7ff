import type { Selectable } from 'kysely';
import { type Address, parseAddress } from '../../lib/address.js';
import type { Visitor } from '../activity-store.js';
import type { ActivitySchema } from './schema.js';

/**
 * Ids of visits and events: seconds since 2020 and a number within the second. The order of ids is the order of time,
 * so one key answers "newest first" and "between two dates", also when the clock jumps or a row comes late. Ids take
 * six bytes in SQLite until 2054 and are exact as JavaScript numbers for much longer.
 */

/** Rows of one site that one second can hold; more go into the next second. */
export const ROWS_PER_SECOND = 2 ** 17;

/** 2020-01-01T00:00:00Z in Unix seconds. */
const EPOCH = 1_577_836_800;

/** Above every id. */
export const AFTER_ALL_IDS = Number.MAX_SAFE_INTEGER;

/** First id of a second. @param second Unix seconds; times before 2020 count as its beginning */
export function toFirstId(second: number): number {
  return Math.min(Math.max(0, Math.floor(second) - EPOCH) * ROWS_PER_SECOND, AFTER_ALL_IDS);
}

/** Last id of a second. */
export function toLastId(second: number): number {
  return Math.min(toFirstId(second) + ROWS_PER_SECOND - 1, AFTER_ALL_IDS);
}

/** Unix seconds of a row. */
export function toSecond(id: number): number {
  return Math.floor(id / ROWS_PER_SECOND) + EPOCH;
}

/** Start of the hour in UTC that a second lies in, Unix seconds. */
export function toHour(second: number): number {
  return second - (second % 3600);
}

/** Key of an address: its 16 bytes, IPv4 as ::ffff:a.b.c.d. What is no address has the key of `::`. */
export function toAddressKey(address: string): Uint8Array {
  return toKey(parseAddress(address)?.words ?? [0, 0, 0, 0]);
}

/** The same of an address that is already read. Keys sort as addresses do. */
export function toKey(words: Address['words']): Uint8Array {
  const key = new Uint8Array(16);
  const view = new DataView(key.buffer);
  words.forEach((word, index) => {
    view.setUint32(index * 4, word);
  });
  return key;
}

/** Key of a user: the WordPress user id in 8 bytes, most significant first. */
export function toUserKey(id: number): Uint8Array {
  const key = new Uint8Array(8);
  new DataView(key.buffer).setBigUint64(0, BigInt(id));
  return key;
}

export function toUserId(key: Uint8Array): number {
  return Number(new DataView(key.buffer, key.byteOffset, key.byteLength).getBigUint64(0));
}

/** Bytes of a key in hexadecimal, as filters carry them. */
export function parseKey(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

export type VisitorRecord = Selectable<ActivitySchema['visitors']>;

/** A visitor as the rest of the product knows it. */
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
