import type { LoginAttempts } from '@security-optimizer/contract/login-limits';
import { type ChangeDeps, changeSettings } from '../settings/change-settings.js';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import { english } from '../texts/language.js';

/**
 * After how many failed log-ins an address waits; locks that are set already stay.
 * @returns the text for the owner
 * @throws ApiError when WordPress or the store can't take the change; then nothing is changed
 */
export async function setLoginAttempts(
  deps: ChangeDeps,
  { site, actor, value }: { readonly site: SiteConfig; readonly actor: Actor; readonly value: LoginAttempts },
): Promise<string> {
  await changeSettings(deps, { site, actor }, () => ({ login_attempts: value }));
  return value === 0
    ? 'Log-in attempts are no longer limited.'
    : english.translate('After {number} failed log-ins an address has to wait.', { number: value });
}
