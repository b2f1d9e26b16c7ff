import { type ChangeDeps, changeSettings } from '../settings/change-settings.js';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';

/**
 * Lets users who need a second factor use application passwords, or not.
 * @returns the text for the owner
 * @throws ApiError when WordPress or the store can't take the change; then nothing is changed
 */
export async function setTwoFactorAppPasswords(
  deps: ChangeDeps,
  { site, actor, value }: { readonly site: SiteConfig; readonly actor: Actor; readonly value: 0 | 1 },
): Promise<string> {
  await changeSettings(deps, { site, actor }, () => ({ two_factor_app_passwords: value }));
  return value === 1
    ? 'Application passwords of administrators and editors can be used.'
    : 'Application passwords of administrators and editors are refused.';
}
