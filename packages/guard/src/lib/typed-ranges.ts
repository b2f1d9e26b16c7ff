import type { ServerMessage } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { isEverybody, readAddresses } from '@security-optimizer/contract/typed-addresses';
import { plainText } from './plain-text.js';

/** Addresses and ranges that were parsed from a text. */
export interface TypedRanges {
  /** In the order of the text, without duplicates; `parseRange` accepts each. */
  readonly texts: readonly string[];
  /** Whether one of them covers all addresses, or nearly all. */
  readonly everybody: boolean;
}

/** Length of an excerpt in a message about a text without any address, characters. */
const SHOWN_CHARACTERS = 40;

/**
 * Parses the addresses and ranges that people enter in any field of the product, and in the configuration; see
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

/** An address or CIDR range in plain text, by far the most frequent entries, with the length of its prefix. */
const PLAIN_ENTRY = /^[\da-f.:]+(?:\/(\d{1,3}))?$/i;
/** The longest prefix of a range that covers everybody; see `isEverybody`. Those of `::ffff:0:0/96` are longer. */
const EVERYBODY_PREFIX = 3;

/** Whether one of these entries covers all addresses, or nearly all. */
export function includesEverybody(entries: readonly string[]): boolean {
  return entries.some((entry) => {
    const plain = PLAIN_ENTRY.exec(entry);
    // Thousands of sites may have long lists, so most entries are not parsed.
    if (plain !== null && (plain[1] === undefined || (Number(plain[1]) > EVERYBODY_PREFIX && !entry.startsWith('::'))))
      return false;
    const read = readTypedRanges(entry);
    return 'everybody' in read && read.everybody;
  });
}
