import {
  DISALLOWED_USERNAMES,
  loginMessages,
  USERNAME_MAX,
  USERNAME_PATTERN,
} from '@security-optimizer/contract/login-limits';
import { messages } from '@security-optimizer/contract/messages';
import type { Messages } from '../../forms/use-form-errors.js';
import { translate, translateNamed } from '../../i18n/translate.js';

/**
 * What is wrong with new usernames, by user (specification section 5). WordPress compares usernames without case.
 *
 * @param names user IDs and new names, in the order of the form
 * @param taken names that users of the site have
 */
export function renameErrors(names: readonly (readonly [string, string])[], taken: readonly string[]): Messages {
  const takenNames = new Set(taken.map((name) => name.toLowerCase()));
  const typed = new Set<string>();
  const errors: Record<string, string> = {};
  for (const [id, value] of names) {
    const name = value.trim();
    const error = problemOf(name, typed, takenNames);
    if (error !== null) errors[id] = error;
    if (name !== '') typed.add(name.toLowerCase());
  }
  return errors;
}

function problemOf(name: string, typed: ReadonlySet<string>, taken: ReadonlySet<string>): string | null {
  const key = name.toLowerCase();
  if (name === '') return translate(messages.required);
  if (!USERNAME_PATTERN.test(name) || name.length > USERNAME_MAX) return translate(messages.invalidFormat);
  if (typed.has(key)) return translateNamed(loginMessages.usernameTyped, name);
  // Before "exists": the old name exists too, but that is not what is wrong with it.
  if ((DISALLOWED_USERNAMES as readonly string[]).includes(key)) {
    return translateNamed(loginMessages.usernameNotAllowed, name);
  }
  return taken.has(key) ? translateNamed(loginMessages.usernameExists, name) : null;
}
