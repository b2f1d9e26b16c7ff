import type { Endpoint } from '@security-optimizer/contract/endpoint';
import { disableAdminUsername, twoFactor } from '@security-optimizer/contract/login/endpoints';
import { settingEndpoint } from '@security-optimizer/contract/settings/endpoints';
import { useSite } from '../../api/site-context.js';
import { translate } from '../../i18n/translate.js';
import { weakenedToast } from '../../ui/toast-store.js';
import { type Changes, toSettingCall, useChanges } from '../settings/change-setting.js';
import { selectedAttempts } from '../settings/essentials.js';
import { type LoginSettings, loginSettings } from '../settings/settings-query.js';

export type LoginSwitch = 'sg2fa' | 'two_factor_app_passwords' | 'disable_usernames';

const ENDPOINTS: Readonly<Record<LoginSwitch, Endpoint>> = {
  sg2fa: twoFactor,
  two_factor_app_passwords: settingEndpoint('two_factor_app_passwords'),
  disable_usernames: disableAdminUsername,
};

export interface LoginChanges {
  readonly changes: Changes<LoginSettings>;
  readonly toggle: (field: LoginSwitch, wanted: 0 | 1) => void;
  readonly setAttempts: (settings: LoginSettings, value: number) => void;
}

/**
 * Mutations of the rows without a dialog.
 *
 * @param askTwoFactor opens the dialog that lists the users whom two-factor authentication would log out; null if they
 *   are unknown
 */
export function useLoginChanges(
  store: (change: LoginSettings) => void,
  askTwoFactor: (() => void) | null = null,
): LoginChanges {
  const { navigate, config } = useSite();
  const { changes, change } = useChanges<LoginSettings>(loginSettings, store);

  function toggle(field: LoginSwitch, wanted: 0 | 1, isUndo = false): void {
    change({
      call: { endpoint: ENDPOINTS[field], request: { [field]: wanted } },
      target: { [field]: wanted },
      // After Undo the owner stays on the page.
      ...(field === 'sg2fa' && !isUndo
        ? { onSuccess: (data: unknown) => leadToSetUp(data, { navigate, homeUrl: config.homeUrl }) }
        : {}),
      ...(wanted === WEAKER[field] && {
        successToast: (_stored, message) =>
          weakenedToast(translate(message), () => {
            if (field === 'sg2fa' && askTwoFactor !== null) askTwoFactor();
            else toggle(field, wanted === 0 ? 1 : 0, true);
          }),
      }),
    });
  }

  function setAttempts(settings: LoginSettings, value: number): void {
    const { login_attempts = [] } = settings;
    change({
      call: toSettingCall('login_attempts', value),
      target: { login_attempts: login_attempts.map((item) => ({ ...item, selected: item.value === value ? 1 : 0 })) },
      ...(isWeaker(selectedAttempts(settings), value) && {
        successToast: (_stored, message) =>
          weakenedToast(translate(message), () => setAttempts(settings, selectedAttempts(settings))),
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
  const { sg2fa, two_factor_setup_url } = loginSettings.read(data);
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

/** Props of all dialogs of the page. A dialog is drawn only while its settings are known. */
export interface LoginDialogProps {
  readonly settings: LoginSettings;
  readonly store: (change: LoginSettings) => void;
  /** Fetches the settings again in the background. */
  readonly reload: () => void;
  /** The closing animation has ended. */
  readonly onClosed: () => void;
}

export type LoginDialogName = 'url' | 'two-factor' | 'access' | 'reset' | 'roles' | 'usernames' | 'away';
