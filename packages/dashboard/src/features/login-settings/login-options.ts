import type { LoginAttempts } from '@security-optimizer/contract/login/limits';
import { weakenedNotice } from '../../api/notices.js';
import { type Changes, type KnownLoginOptions, loginOptions, useChanges } from '../../api/options.js';
import { useServices } from '../../api/services.js';
import { translate } from '../../i18n/translate.js';
import { selectedAttempts } from '../protection/essentials.js';

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

/** Request name of an option; equals the contract's endpoint name. */
export function loginRequestName(field: LoginSwitch | 'login_attempts'): string {
  return `update:${field}`;
}

/**
 * Mutations of the rows without a dialog.
 *
 * @param askTwoFactor opens the dialog that lists the users whom two-factor authentication would log out; null if they
 *   are unknown
 */
export function useLoginChanges(
  store: (change: KnownLoginOptions) => void,
  askTwoFactor: (() => void) | null = null,
): LoginChanges {
  const { navigate, config } = useServices();
  const { changes, change } = useChanges<KnownLoginOptions>(loginOptions, store);

  function toggle(field: LoginSwitch, wanted: 0 | 1, isUndo = false): void {
    change({
      name: loginRequestName(field),
      call: { suffix: SUFFIXES[field], body: { [field]: wanted } },
      target: { [field]: wanted },
      // After Undo the owner stays on the page.
      ...(field === 'sg2fa' && !isUndo
        ? { onSuccess: (data: unknown) => leadToSetUp(data, { navigate, homeUrl: config.homeUrl }) }
        : {}),
      ...(wanted === WEAKER[field] && {
        successNotice: (_stored, message) =>
          weakenedNotice(translate(message), () => {
            if (field === 'sg2fa' && askTwoFactor !== null) askTwoFactor();
            else toggle(field, wanted === 0 ? 1 : 0, true);
          }),
      }),
    });
  }

  function setAttempts(options: KnownLoginOptions, value: number): void {
    const { login_attempts = [] } = options;
    change({
      name: loginRequestName('login_attempts'),
      call: { suffix: '/limit-login-attempts', body: { login_attempts: value as LoginAttempts } },
      target: { login_attempts: login_attempts.map((item) => ({ ...item, selected: item.value === value ? 1 : 0 })) },
      ...(isWeaker(selectedAttempts(options), value) && {
        successNotice: (_stored, message) =>
          weakenedNotice(translate(message), () => setAttempts(options, selectedAttempts(options))),
      }),
    });
  }

  return { changes, toggle, setAttempts };
}

/** The value of each switch that switches a protection off. */
const WEAKER: Readonly<Record<LoginSwitch, 0 | 1>> = { sg2fa: 0, two_factor_app_passwords: 1, disable_usernames: 0 };

/** Whether a change allows more passwords per address than before; 0 means no limit. */
function isWeaker(before: number, after: number): boolean {
  return before > 0 && (after === 0 || after > before);
}

/** After enabling two-factor authentication the owner continues with the setup at once. */
export function leadToSetUp(
  data: unknown,
  { navigate, homeUrl }: { readonly navigate: (url: string) => void; readonly homeUrl: string },
): void {
  const { sg2fa, two_factor_setup_url } = loginOptions.read(data);
  if (sg2fa === 1 && two_factor_setup_url && isSiteUrl(two_factor_setup_url, homeUrl)) navigate(two_factor_setup_url);
}

/** Whether a URL belongs to the site; only such redirects are followed. */
export function isSiteUrl(url: string, homeUrl: string): boolean {
  try {
    return new URL(url, homeUrl).host === new URL(homeUrl, window.location.href).host;
  } catch {
    return false;
  }
}

/** Props of all dialogs of the page. A dialog is drawn only while its options are known. */
export interface LoginDialogProps {
  readonly options: KnownLoginOptions;
  readonly store: (change: KnownLoginOptions) => void;
  /** Fetches the options again in the background. */
  readonly reload: () => void;
  /** The closing animation has ended. */
  readonly onClosed: () => void;
}

export type LoginDialogName = 'url' | 'two-factor' | 'access' | 'reset' | 'roles' | 'usernames' | 'away';
