import { messages } from '@security-optimizer/contract/messages';
import { readAddresses } from '@security-optimizer/contract/typed-addresses';
import { translate, translateNamed } from '../i18n/translate.js';

/** Returns the error of typed addresses, with the character or word that can't be parsed; null if they are valid. */
export function addressFault(typed: string): string | null {
  const read = readAddresses(typed);
  if ('ranges' in read) return null;
  return read.fault === '' ? translate(messages.invalidFormat) : translateNamed(messages.invalidAddress, read.fault);
}
