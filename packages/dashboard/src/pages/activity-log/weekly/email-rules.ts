import { messages } from '@security-optimizer/contract/messages';
import { translate } from '../../../i18n/translate.js';

/** Looks like an address: something, an at sign, and a domain with a dot. Guard checks it again, and closer. */
const EMAIL = /^[^\s@<>(),;:"\\[\]]+@[^\s@<>(),;:"\\[\].]+(?:\.[^\s@<>(),;:"\\[\].]+)+$/;

function isEmail(text: string): boolean {
  return EMAIL.test(text);
}

/**
 * What is wrong with a new address (specification section 5).
 *
 * @param others the addresses that are on the list already
 * @returns null when nothing is
 */
export function emailError(email: string, others: readonly string[]): string | null {
  if (email === '') return translate(messages.required);
  if (!isEmail(email)) return translate(messages.invalidEmail);
  if (others.some((other) => other.toLowerCase() === email.toLowerCase())) {
    return translate(messages.emailExists).replace('%(name)s', () => email);
  }
  return null;
}
