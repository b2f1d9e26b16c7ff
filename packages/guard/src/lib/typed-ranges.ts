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

/** Whether one of these entries is everybody, or nearly so. */
export function includesEverybody(entries: readonly string[]): boolean {
  return entries.some((entry) => {
    const read = readTypedRanges(entry);
    return 'everybody' in read && read.everybody;
  });
}
