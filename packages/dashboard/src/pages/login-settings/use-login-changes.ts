import type { LoginAttempts } from '@security-optimizer/contract/login-limits';
import { loginOptions } from '../../options/options-source.js';
import type { KnownLoginOptions } from '../../options/read-login-options.js';
import { type Changes, useChanges } from '../../options/use-changes.js';
import { useServices } from '../../services.js';

export type LoginSwitch = 'sg2fa' | 'two_factor_app_passwords' | 'disable_usernames';

const SUFFIXES: Readonly<Record<LoginSwitch, string>> = {
  sg2fa: '/2fa',
  two_factor_app_passwords: '/two-factor-app-passwords',
  disable_usernames: '/disable-admin-username',
};

export interface LoginChanges {
  readonly changes: Changes<KnownLoginOptions>;
  readonly toggle: (field: LoginSwitch, wanted: 0 | 1) => void;
  readonly setAttempts: (options: KnownLoginOptions, value: number) => void;
}

/** Name under which the change of an option is tracked; the same as in the contract's table of endpoints. */
export function loginRequestName(field: LoginSwitch | 'login_attempts'): string {
  return `update:${field}`;
}

/** The changes that rows make without a dialog. */
export function useLoginChanges(store: (change: KnownLoginOptions) => void): LoginChanges {
  const { navigate, config } = useServices();
  const { changes, change } = useChanges<KnownLoginOptions>(loginOptions, store);

  /** Who switches the second factor on sets up the own one at once. */
  function leadToSetUp(data: unknown): void {
    const { sg2fa, two_factor_setup_url } = loginOptions.read(data);
    if (sg2fa === 1 && two_factor_setup_url && isOfSite(two_factor_setup_url, config.homeUrl)) {
      navigate(two_factor_setup_url);
    }
  }

  return {
    changes,
    toggle: (field, wanted) =>
      change({
        name: loginRequestName(field),
        call: { suffix: SUFFIXES[field], body: { [field]: wanted } },
        wanted: { [field]: wanted },
        ...(field === 'sg2fa' ? { onSuccess: leadToSetUp } : {}),
      }),
    setAttempts: ({ login_attempts = [] }, value) =>
      change({
        name: loginRequestName('login_attempts'),
        call: { suffix: '/limit-login-attempts', body: { login_attempts: value as LoginAttempts } },
        wanted: { login_attempts: login_attempts.map((item) => ({ ...item, selected: item.value === value ? 1 : 0 })) },
      }),
  };
}

/** Only an address of the site itself is followed. */
export function isOfSite(url: string, homeUrl: string): boolean {
  try {
    return new URL(url, homeUrl).host === new URL(homeUrl, window.location.href).host;
  } catch {
    return false;
  }
}
