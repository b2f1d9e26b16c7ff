import type { AwaySchedule, LoginAttempts } from '@security-optimizer/contract/login-limits';
import { DEFAULT_LOGIN_ATTEMPTS } from '@security-optimizer/contract/login-limits';

/** The settings of Login Security as guard works with them. Stored one row per member, under the API's names. */
export interface LoginSettings {
  readonly login_attempts: LoginAttempts;
  /** Lines that `parseRange` understands; empty lets everyone try. */
  readonly login_access: readonly string[];
  /** Paths without slashes at the ends; kept while the type is `default`. */
  readonly login_url: { readonly type: 'default' | 'custom'; readonly login: string; readonly signup: string };
  readonly disable_usernames: 0 | 1;
  readonly sg2fa: 0 | 1;
  readonly two_factor_app_passwords: 0 | 1;
  readonly away_mode: AwaySchedule;
}

/** The settings of a site whose owner has changed nothing. */
export const defaultLoginSettings: LoginSettings = Object.freeze({
  login_attempts: DEFAULT_LOGIN_ATTEMPTS,
  login_access: [],
  login_url: { type: 'default', login: '', signup: '' },
  disable_usernames: 1,
  sg2fa: 0,
  two_factor_app_passwords: 0,
  away_mode: { type: 'off' },
} as const);
