import type { LoginOptions } from '@security-optimizer/contract/login';
import { LOGIN_PATH_MAX, LOGIN_PATH_MIN, LOGIN_PATH_PATTERN } from '@security-optimizer/contract/login-limits';
import { messages } from '@security-optimizer/contract/messages';
import type { Messages } from '../../forms/use-form-errors.js';
import { __, sprintf, translate } from '../../i18n/translate.js';

export type LoginUrlOption = LoginOptions['login_url'][number];

export interface LoginUrlForm {
  readonly type: LoginUrlOption['type'];
  readonly login: string;
  /** null while the site takes no sign-ups: then there is nothing to fill in. */
  readonly signup: string | null;
}

/** Switching the type resets login and signup to that type's values (specification section 4). */
export function loginUrlFormOf(type: LoginUrlOption['type'], entries: readonly LoginUrlOption[]): LoginUrlForm {
  const entry = entries.find((item) => item.type === type);
  return { type, login: entry?.login ?? '', signup: entry === undefined ? null : entry.signup };
}

/** The path alone: whoever pastes the whole address, or a slash too many, means the same. */
export function bareLoginPath(value: string, homeUrl: string): string {
  const text = value.trim();
  const path = text.toLowerCase().startsWith(homeUrl.toLowerCase()) ? text.slice(homeUrl.length) : text;
  return path.replace(/^\/+|\/+$/g, '');
}

/** What is wrong with the form, by field. The values of the default type are WordPress's own. */
export function loginUrlErrors({ type, login, signup }: LoginUrlForm, homeUrl: string): Messages {
  if (type === 'default') return {};
  const errors: Record<string, string> = {};
  const loginPath = bareLoginPath(login, homeUrl);
  const loginError = pathProblem(loginPath);
  if (loginError !== null) errors.login = loginError;
  if (signup === null) return errors;
  const signupPath = bareLoginPath(signup, homeUrl);
  const signupError = pathProblem(signupPath);
  if (signupError !== null) errors.signup = signupError;
  else if (signupPath.toLowerCase() === loginPath.toLowerCase()) {
    errors.signup = __('The signup URL must differ from the login URL.', 'security-optimizer');
  }
  return errors;
}

function pathProblem(path: string): string | null {
  if (path === '') return translate(messages.required);
  if (!LOGIN_PATH_PATTERN.test(path)) return translate(messages.invalidFormat);
  if (path.length >= LOGIN_PATH_MIN && path.length <= LOGIN_PATH_MAX) return null;
  return sprintf(
    /* translators: 1: fewest characters, 2: most characters */
    __('Use %1$d to %2$d characters.', 'security-optimizer'),
    LOGIN_PATH_MIN,
    LOGIN_PATH_MAX,
  );
}
