import { type ChangeDeps, changeSettings } from '../settings/change-settings.js';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';

/** What the owner agreed to; what was not asked, or not answered, is left out and stays as it is. */
export interface ConsentAnswer {
  readonly site: SiteConfig;
  readonly actor: Actor;
  readonly data: 0 | 1 | undefined;
  readonly email: 0 | 1 | undefined;
}

/**
 * Saves the answer. Both questions count as answered then, and WordPress is told not to ask again.
 * @throws ApiError when WordPress or the store can't take the change; then nothing is changed
 */
export async function setConsent(deps: ChangeDeps, { site, actor, data, email }: ConsentAnswer): Promise<void> {
  await changeSettings(deps, { site, actor }, () => ({
    ...(data === undefined ? {} : { data_consent: data }),
    ...(email === undefined ? {} : { email_consent: email }),
    consent_asked: 1,
  }));
}
