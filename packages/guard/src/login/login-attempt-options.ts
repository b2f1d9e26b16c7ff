import type { LoginOptions } from '@security-optimizer/contract/login';
import { LOGIN_ATTEMPT_VALUES, type LoginAttempts } from '@security-optimizer/contract/login-limits';

/** The choices of Limit Login Attempts, the present one selected. */
export function loginAttemptOptions(present: LoginAttempts): LoginOptions['login_attempts'] {
  return LOGIN_ATTEMPT_VALUES.map((value) => ({
    value,
    label: value === 0 ? 'OFF' : String(value),
    selected: value === present ? 1 : 0,
  }));
}
