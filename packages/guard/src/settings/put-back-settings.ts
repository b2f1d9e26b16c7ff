import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import { type ChangeDeps, changeSettings } from './change-settings.js';
import type { SettingChanges } from './site-settings.js';

/**
 * Gives settings their old values back after a later step of their change has failed. That step was often WordPress
 * itself: where it can't take the old policy either, its next signal heals it. Never throws, so that the caller can
 * throw what went wrong first; what can't be put back is logged.
 */
export async function putBackSettings(
  deps: ChangeDeps,
  change: { readonly site: SiteConfig; readonly actor: Actor },
  old: SettingChanges,
): Promise<void> {
  const { logger } = deps;
  const pushPolicy: ChangeDeps['pushPolicy'] = async (site, settings) => {
    try {
      return await deps.pushPolicy(site, settings);
    } catch (error) {
      logger.warn(
        { event: 'policy-push-failed', site: site.id, err: error },
        'A change was taken back, and WordPress could not be given the old policy yet.',
      );
      return {};
    }
  };
  try {
    await changeSettings({ ...deps, pushPolicy }, change, () => old);
  } catch (error) {
    logger.error(
      { event: 'settings-not-put-back', site: change.site.id, names: Object.keys(old), err: error },
      'A change failed half way, and its settings could not be given their old values back.',
    );
  }
}
