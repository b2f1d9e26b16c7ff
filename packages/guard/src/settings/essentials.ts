import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import type { SiteSettings } from './site-settings.js';

/** One of the ten settings that the protection score counts. */
export interface Essential {
  /** Page of wp-admin on which it can be changed. */
  readonly page: 'site-security' | 'login-settings';
  readonly title: string;
  readonly on: boolean;
  /** Whether it counts: it is on, and nobody has to do anything for it any more. */
  readonly complete: boolean;
}

const TWO_FACTOR = 'Two-factor Authentication';

/**
 * Lists the essentials of a site, those of Site Security first. The dashboard's ring counts those that are complete
 * (`countLoginEssentials`).
 *
 * @param factorComplete whether everybody who needs a second factor has one
 */
export function listEssentials(
  { options, login }: Pick<SiteSettings, 'options' | 'login'>,
  factorComplete: boolean,
): Essential[] {
  const site = siteSecurityToggles
    .filter(({ essential }) => essential)
    .map(({ field, title }) => ({ page: 'site-security' as const, title, on: options[field] === 1 }));
  const page = 'login-settings' as const;
  const all = [
    ...site,
    { page, title: 'Custom Login URL', on: login.login_url.type === 'custom' },
    { page, title: TWO_FACTOR, on: login.sg2fa === 1 },
    { page, title: 'Disable Common Usernames', on: login.disable_usernames === 1 },
    { page, title: 'Limit Login Attempts', on: login.login_attempts > 0 },
  ];
  return all.map((essential) => ({
    ...essential,
    complete: essential.on && (factorComplete || essential.title !== TWO_FACTOR),
  }));
}
