import { formatRole } from '@security-optimizer/contract/activity/event-values';
import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import { useSite } from '../../api/site-context.js';
import { translate } from '../../i18n/translate.js';
import type { ChangeOptions } from '../settings/change-setting.js';
import { loginSettings } from '../settings/settings-query.js';

/**
 * What follows a change of two-factor authentication: after it was switched on the owner continues with the setup at
 * once, but stays on the page after Undo.
 *
 * @param ask opens the dialog that lists the users whom it would log out; null if they are unknown
 */
export function useTwoFactorChange(ask: (() => void) | null): ChangeOptions {
  const leadToSetUp = useLeadToSetUp();
  return {
    onStored: (data, { isUndo }) => {
      if (!isUndo) leadToSetUp(data);
    },
    onUndo: ask ?? undefined,
  };
}

/** Returns a function that opens the setup, if the response to a change has its address. */
export function useLeadToSetUp(): (data: unknown) => void {
  const { navigate, config } = useSite();
  return (data) => {
    const { sg2fa, two_factor_setup_url: url } = loginSettings.read(data);
    if (sg2fa === 1 && url && isSiteUrl(url, config.homeUrl)) navigate(url);
  };
}

/** Whether a URL belongs to the site; only such redirects are followed. */
export function isSiteUrl(url: string, homeUrl: string): boolean {
  try {
    return new URL(url, homeUrl).host === new URL(homeUrl, window.location.href).host;
  } catch {
    return false;
  }
}

/** Name of a role: translated for roles of WordPress, as stored for those of plugins. */
export function roleName({ role, name }: LoginOptions['two_factor_roles'][number]): string {
  const translated = formatRole(role, translate);
  return translated === role ? name : translated;
}
