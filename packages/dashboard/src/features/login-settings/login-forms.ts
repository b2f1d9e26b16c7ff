import {
  DISALLOWED_USERNAMES,
  isReservedLoginPath,
  LOGIN_PATH_MAX,
  LOGIN_PATH_MIN,
  LOGIN_PATH_PATTERN,
  loginMessages,
  USERNAME_MAX,
  USERNAME_PATTERN,
} from '@security-optimizer/contract/login/limits';
import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import { messages } from '@security-optimizer/contract/messages';
import { dropUnseen, toPlainText } from '@security-optimizer/contract/typed-text';
import { __, sprintf, translate, translateNamed } from '../../i18n/translate.js';
import type { Messages } from '../../ui/use-form-errors.js';

export type LoginUrlOption = LoginOptions['login_url'][number];

export interface LoginUrlForm {
  readonly type: LoginUrlOption['type'];
  readonly login: string;
  /** null while registration is disabled. */
  readonly signup: string | null;
}

/** Switching the type resets both fields to that type's values (specification section 4). */
export function toLoginUrlForm(type: LoginUrlOption['type'], entries: readonly LoginUrlOption[]): LoginUrlForm {
  const entry = entries.find((item) => item.type === type);
  return { type, login: entry?.login ?? '', signup: entry === undefined ? null : entry.signup };
}

/** Removes the site's URL, slashes around the path, and invisible characters. */
export function toLoginPath(value: string, homeUrl: string): string {
  const text = toPlainText(value);
  const path = text.toLowerCase().startsWith(homeUrl.toLowerCase()) ? text.slice(homeUrl.length) : text;
  return path.replace(/^\/+|\/+$/g, '');
}

/** Errors by field. The default type has none. */
export function getLoginUrlErrors({ type, login, signup }: LoginUrlForm, homeUrl: string): Messages {
  if (type === 'default') return {};
  const errors: Record<string, string> = {};
  const loginPath = toLoginPath(login, homeUrl);
  const loginError = getPathError(loginPath);
  if (loginError !== null) errors.login = loginError;
  if (signup === null) return errors;
  const signupPath = toLoginPath(signup, homeUrl);
  const signupError = getPathError(signupPath);
  if (signupError !== null) errors.signup = signupError;
  else if (signupPath.toLowerCase() === loginPath.toLowerCase()) {
    errors.signup = __('The signup URL must differ from the login URL.', 'security-optimizer');
  }
  return errors;
}

function getPathError(path: string): string | null {
  if (path === '') return translate(messages.required);
  if (!LOGIN_PATH_PATTERN.test(path)) return translate(messages.invalidFormat);
  if (path.length < LOGIN_PATH_MIN || path.length > LOGIN_PATH_MAX) {
    return sprintf(
      /* translators: 1: fewest characters, 2: most characters */
      __('Use %1$d to %2$d characters.', 'security-optimizer'),
      LOGIN_PATH_MIN,
      LOGIN_PATH_MAX,
    );
  }
  return isReservedLoginPath(path)
    ? __('WordPress uses this address itself. Choose another one.', 'security-optimizer')
    : null;
}

/** 32 unambiguous characters; a power of two, so that each is equally likely. */
const CHARACTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const SUGGESTION_LENGTH = 10;

/** Creates a random login path that can't be guessed, and can be read aloud and typed. */
export function suggestLoginPath(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SUGGESTION_LENGTH));
  const path = Array.from(bytes, (byte) => CHARACTERS[byte % CHARACTERS.length]).join('');
  return isReservedLoginPath(path) ? suggestLoginPath() : path;
}

/**
 * Errors of new usernames by user ID (specification section 5). Usernames are case-insensitive.
 *
 * @param names user IDs and new names, in the order of the form
 * @param existing existing usernames
 */
export function getRenameErrors(names: readonly (readonly [string, string])[], existing: readonly string[]): Messages {
  const takenNames = new Set(existing.map((name) => name.toLowerCase()));
  const typed = new Set<string>();
  const errors: Record<string, string> = {};
  for (const [id, value] of names) {
    const name = dropUnseen(value);
    const error = getUsernameError(name, typed, takenNames);
    if (error !== null) errors[id] = error;
    if (name !== '') typed.add(name.toLowerCase());
  }
  return errors;
}

function getUsernameError(name: string, typed: ReadonlySet<string>, existing: ReadonlySet<string>): string | null {
  const key = name.toLowerCase();
  if (name === '') return translate(messages.required);
  if (!USERNAME_PATTERN.test(name) || name.length > USERNAME_MAX) return translate(messages.invalidFormat);
  if (typed.has(key)) return translateNamed(loginMessages.usernameTyped, name);
  // Checked before "exists", because a disallowed name may exist.
  if ((DISALLOWED_USERNAMES as readonly string[]).includes(key)) {
    return translateNamed(loginMessages.usernameNotAllowed, name);
  }
  return existing.has(key) ? translateNamed(loginMessages.usernameExists, name) : null;
}
