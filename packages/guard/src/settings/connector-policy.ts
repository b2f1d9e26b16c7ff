import { DISALLOWED_USERNAMES } from '@security-optimizer/contract/login-limits';
import type { Config } from '../config/config.js';
import type { ConnectorPolicy } from '../wordpress/policy-push.js';
import { simpleFieldsInWordPress, simplePolicy } from './simple-settings.js';
import type { SettingsInForce } from './site-settings.js';

/** Names of the settings that WordPress enforces, entirely or in part. */
export const fieldsInWordPress: ReadonlySet<string> = new Set([
  ...simpleFieldsInWordPress,
  'login_url',
  'two_factor_roles',
]);

/**
 * The part of the settings that WordPress enforces.
 * @param throttledUsers ids of users whose password checks are spaced for anonymous clients, ascending
 * @param blockedUsers ids of users who may not log in, ascending
 * @param consent addresses of the provider; a question without an address is not asked
 */
export function connectorPolicy(
  { options, siteSecurity, login, log, overview, paused }: SettingsInForce,
  consent: Config['consent'],
  throttledUsers: readonly number[] = [],
  blockedUsers: readonly number[] = [],
): ConnectorPolicy {
  const custom = login.login_url.type === 'custom';
  return {
    ...simplePolicy({ ...options, ...siteSecurity, ...login, ...log, ...overview }),
    ...(consent.technicalDataUrl === null && { show_data_consent: 0 }),
    ...(consent.emailUrl === null && { show_email_consent: 0 }),
    login_url_login: custom ? login.login_url.login : '',
    login_url_signup: custom ? login.login_url.signup : '',
    disallowed_usernames: DISALLOWED_USERNAMES.join(','),
    two_factor_roles: login.two_factor_roles.join(','),
    slow_users: throttledUsers.join(','),
    blocked_users: blockedUsers.join(','),
    // WordPress must distinguish a pause from a second factor that the owner turned off: sessions of a pause end with it.
    ...(paused && { paused: 1 }),
  };
}
