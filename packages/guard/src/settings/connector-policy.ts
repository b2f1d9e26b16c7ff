import { DISALLOWED_USERNAMES } from '@security-optimizer/contract/login-limits';
import { connectorFields } from '@security-optimizer/contract/protections';
import type { SettingsInForce } from './site-settings.js';

/** What WordPress enforces, as it travels: flat, see docs/connector-protocol.md. */
export type ConnectorPolicy = Readonly<Record<string, number | string>>;

/** Names of the settings that WordPress enforces a part of. */
export const fieldsInWordPress: ReadonlySet<string> = new Set([
  ...connectorFields,
  'login_attempts',
  'login_url',
  'disable_usernames',
  'sg2fa',
  'two_factor_app_passwords',
  'disable_activity_log',
  'consent_asked',
]);

/**
 * The part of the settings that WordPress enforces.
 * @param slowUsers ids of users whose account is slow for strangers, lowest first
 * @param blockedUsers ids of users who may not log in, lowest first
 */
export function connectorPolicy(
  { options, login, log, overview, paused }: SettingsInForce,
  slowUsers: readonly number[] = [],
  blockedUsers: readonly number[] = [],
): ConnectorPolicy {
  const asks = overview.consent_asked === 1 ? 0 : 1;
  const custom = login.login_url.type === 'custom';
  return {
    ...Object.fromEntries(connectorFields.map((field) => [field, options[field]])),
    login_attempts: login.login_attempts,
    login_url_login: custom ? login.login_url.login : '',
    login_url_signup: custom ? login.login_url.signup : '',
    disable_usernames: login.disable_usernames,
    disallowed_usernames: DISALLOWED_USERNAMES.join(','),
    sg2fa: login.sg2fa,
    two_factor_app_passwords: login.two_factor_app_passwords,
    slow_users: slowUsers.join(','),
    blocked_users: blockedUsers.join(','),
    activity_events: log.disable_activity_log === 1 ? 0 : 1,
    show_data_consent: asks,
    show_email_consent: asks,
    // WordPress has to know this from a second factor that the owner turned off: sessions of a pause end with it.
    ...(paused && { paused: 1 }),
  };
}
