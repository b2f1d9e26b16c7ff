import { messages } from '@security-optimizer/contract/messages';
import { readAddresses } from '@security-optimizer/contract/typed-addresses';
import { translate, translateNamed } from '../i18n/translate.js';

/** What is wrong with addresses that were typed, with the sign or word that can't be read; null for nothing. */
export function addressFault(typed: string): string | null {
  const read = readAddresses(typed);
  if ('ranges' in read) return null;
  return read.fault === '' ? translate(messages.invalidFormat) : translateNamed(messages.invalidAddress, read.fault);
}
