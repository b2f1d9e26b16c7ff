import type { ServerMessage } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { isEverybody, readAddresses } from '@security-optimizer/contract/typed-addresses';
import { plainText } from './plain-text.js';

/** Addresses and ranges that were read from a text. */
export interface TypedRanges {
  /** In the order of the text, none twice; `parseRange` understands each. */
  readonly texts: readonly string[];
  /** Whether one of them is everybody, or nearly so. */
  readonly everybody: boolean;
}

/** Characters that a message shows of a text without any address. */
const SHOWN_CHARACTERS = 40;

/**
 * Reads the addresses and ranges that people type or paste into any field of the product, and into the configuration; see
 * `readAddresses`. `fault` names the sign or word that can't be read.
 */
export function readTypedRanges(typed: string): TypedRanges | { readonly fault: ServerMessage } {
  const read = readAddresses(typed);
  if ('ranges' in read) {
    const texts = [...new Set(read.ranges.map(({ text }) => text))];
    return { texts, everybody: read.ranges.some(isEverybody) };
  }
  const name = plainText(read.fault === '' ? typed.trim() : read.fault, SHOWN_CHARACTERS);
  return { fault: serverMessage('address_unreadable', { name }) };
}

/** An address or CIDR range in plain text, by far the most entries, and the length of its prefix. */
const PLAIN_ENTRY = /^[\da-f.:]+(?:\/(\d{1,3}))?$/i;
/** The longest prefix of a range that is everybody; see `isEverybody`. Those of `::ffff:0:0/96` are longer. */
const EVERYBODY_PREFIX = 3;

/** Whether one of these entries is everybody, or nearly so. */
export function includesEverybody(entries: readonly string[]): boolean {
  return entries.some((entry) => {
    const plain = PLAIN_ENTRY.exec(entry);
    // Thousands of sites may have long lists, so most entries are not read.
    if (plain !== null && (plain[1] === undefined || (Number(plain[1]) > EVERYBODY_PREFIX && !entry.startsWith('::'))))
      return false;
    const read = readTypedRanges(entry);
    return 'everybody' in read && read.everybody;
  });
}
