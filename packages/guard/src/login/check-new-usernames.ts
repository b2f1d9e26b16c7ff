import {
  DISALLOWED_USERNAMES,
  loginMessages,
  USERNAME_MAX,
  USERNAME_PATTERN,
} from '@security-optimizer/contract/login-limits';
import { messages } from '@security-optimizer/contract/messages';
import type { LoginData, RenameFault } from '../wordpress/connector-answers.js';

export interface NewName {
  readonly ID: number;
  readonly user_login: string;
}

const NO_MATCH = 'This user is not an administrator with a common username.';

/**
 * Checks new usernames (specification section 5); names compare without case. Each administrator with a common
 * username needs one, and nobody else may get one.
 *
 * @returns texts by user ID; empty when all are good
 */
export function checkNewUsernames(names: readonly NewName[], { users, matches }: LoginData): Record<string, string> {
  const fields: Record<string, string> = {};
  const taken = new Set(users.map((name) => name.toLowerCase()));
  const typed = new Set<string>();
  const given = new Set<number>();
  for (const { ID, user_login: name } of names) {
    const lower = name.toLowerCase();
    if (given.has(ID) || !matches.some((match) => match.ID === ID)) fields[ID] = NO_MATCH;
    else if (name === '') fields[ID] = messages.required;
    else if (!USERNAME_PATTERN.test(name) || name.length > USERNAME_MAX) fields[ID] = messages.invalidFormat;
    else if (typed.has(lower)) fields[ID] = usernameText('typed', name);
    // Before "exists": the old name exists too, but that is not what is wrong with it.
    else if (isDisallowed(lower)) fields[ID] = usernameText('not_allowed', name);
    else if (taken.has(lower)) fields[ID] = usernameText('exists', name);
    given.add(ID);
    typed.add(lower);
  }
  for (const { ID } of matches) if (!given.has(ID)) fields[ID] = messages.required;
  return fields;
}

/** The text for a fault that WordPress found. */
export function usernameText(fault: RenameFault, name: string): string {
  switch (fault) {
    case 'typed':
      return loginMessages.usernameTyped.replace('{name}', () => name);
    case 'exists':
      return loginMessages.usernameExists.replace('{name}', () => name);
    case 'not_allowed':
      return loginMessages.usernameNotAllowed.replace('{name}', () => name);
    case 'invalid':
      return messages.invalidFormat;
    case 'no_match':
      return NO_MATCH;
  }
}

function isDisallowed(lower: string): boolean {
  return (DISALLOWED_USERNAMES as readonly string[]).includes(lower);
}
