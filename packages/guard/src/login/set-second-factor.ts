import { type ChangeDeps, changeSettings } from '../settings/change-settings.js';
import { putBackSettings } from '../settings/put-back-settings.js';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';

export interface SecondFactorDeps extends ChangeDeps {
  /** Ends the sessions of all who need a second factor, but the caller's own. */
  readonly endOtherSessions: (site: SiteConfig) => Promise<void>;
}

/**
 * Asks administrators and editors for a second factor, or stops asking. When it is switched on their sessions end, so
 * that no old one goes on without a factor; that of the caller stays.
 *
 * @returns the text for the owner
 * @throws ApiError when WordPress or the store can't take the change, or the sessions can't be ended; then it is as it
 *   was
 */
export async function setSecondFactor(
  deps: SecondFactorDeps,
  { site, actor, value }: { readonly site: SiteConfig; readonly actor: Actor; readonly value: 0 | 1 },
): Promise<string> {
  const { before } = await changeSettings(deps, { site, actor }, () => ({ sg2fa: value }));
  if (value === 0) return 'Two-factor authentication is turned off.';
  if (before.login.sg2fa === 0) {
    try {
      await deps.endOtherSessions(site);
    } catch (error) {
      await putBackSettings(deps, { site, actor }, { sg2fa: 0 });
      throw error;
    }
  }
  return 'Two-factor authentication is turned on. Administrators and editors set it up when they log in next.';
}
