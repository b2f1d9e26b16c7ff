import { defaultSecurityOptions } from '@security-optimizer/contract/settings/protections';
import { describe, expect, it } from 'vitest';
import { defaultLoginSettings } from '../rules/login-policy.js';
import { StorageError } from '../storage/storage-error.js';
import type { JsonValue } from './audit-store.js';
import { toConnectorPolicy } from './connector-policy.js';
import {
  applyChanges,
  defaultLogSettings,
  defaultSiteSettings,
  getEffectiveSettings,
  toSiteSettings,
} from './site-settings.js';

const consent = { technicalDataUrl: 'https://example.com/data', emailUrl: 'https://example.com/mails' };

const stored = (values: Record<string, JsonValue>) =>
  new Map(Object.entries(values).map(([name, value]) => [name, { value, version: 1 }]));

describe('the settings of a site', () => {
  it('are the stored values, and the defaults where nothing is stored', () => {
    expect(toSiteSettings(new Map())).toEqual(defaultSiteSettings);
    const settings = toSiteSettings(stored({ login_attempts: 3, disable_feed: 1, something_new: 'x' }));
    expect(settings.login).toEqual({ ...defaultLoginSettings, login_attempts: 3 });
    expect(settings.options).toEqual({ ...defaultSecurityOptions, disable_feed: 1 });
  });

  it.each<[string, JsonValue]>([
    ['login_attempts', 4],
    ['login_access', '192.0.2.1'],
    ['login_url', { type: 'custom' }],
    ['disable_usernames', true],
    ['sg2fa', '1'],
    ['two_factor_roles', ['a,b']],
    ['two_factor_app_passwords', null],
    ['away_mode', { type: 'weekly', weekly: ['someday'] }],
    ['paused_until', 'soon'],
    ['disable_feed', 2],
    ['signed_xml_rpc', true],
    ['disable_activity_log', true],
    ['log_lifetime', 13],
    ['log_lifetime', '7'],
    ['anonymize_addresses', null],
    ['log_own_cron', '1'],
    ['alert_limit', 5],
    ['alert_quiet_hours', true],
    ['consent_asked', true],
  ])('never fall back to a default when %s is stored in an invalid form', (name, value) => {
    expect(() => toSiteSettings(stored({ [name]: value }))).toThrow(StorageError);
  });

  it('change by name, and otherwise stay the same', () => {
    const changed = applyChanges(defaultSiteSettings, { sg2fa: 1, disable_feed: 1, log_lifetime: 7, paused_until: 7 });
    expect(changed).toEqual({
      options: { ...defaultSecurityOptions, disable_feed: 1 },
      siteSecurity: { signed_xml_rpc: 1 },
      login: { ...defaultLoginSettings, sg2fa: 1 },
      log: { ...defaultLogSettings, log_lifetime: 7 },
      alerts: { alert_limit: 4, alert_quiet_hours: 0 },
      postHack: { weekly_checkup: 1 },
      overview: defaultSiteSettings.overview,
      pausedUntil: 7,
    });
  });
});

describe('a pause', () => {
  const strict = applyChanges(defaultSiteSettings, {
    sg2fa: 1,
    login_access: ['192.0.2.1'],
    login_url: { type: 'custom', login: 'my-door', signup: 'join-us' },
    away_mode: { type: 'weekly', weekly: ['monday'] },
    paused_until: 1000,
  });

  it('switches everything off until it is over', () => {
    const { options, login } = getEffectiveSettings(strict, 999);
    expect(Object.values(options).every((value) => value === 0)).toBe(true);
    expect(login).toEqual({
      login_attempts: 0,
      login_access: [],
      login_url: { type: 'default', login: '', signup: '' },
      disable_usernames: 0,
      sg2fa: 0,
      two_factor_roles: [],
      two_factor_app_passwords: 0,
      away_mode: { type: 'off' },
    });
    expect(getEffectiveSettings(strict, 1000)).toBe(strict);
  });

  it('is sent to WordPress as a policy in which every protection is off', () => {
    const {
      disallowed_usernames: _names,
      activity_events,
      show_data_consent: _data,
      show_email_consent: _email,
      paused,
      ...policy
    } = toConnectorPolicy(getEffectiveSettings(strict, 999), consent, [], []);
    expect(Object.values(policy).every((value) => value === 0 || value === '')).toBe(true);
    // The log continues: events during a pause are important for the owner afterwards.
    expect(activity_events).toBe(1);
    expect(paused).toBe(1);
    expect(toConnectorPolicy(getEffectiveSettings(strict, 1000), consent)).not.toHaveProperty('paused');
  });
});

it('the policy contains throttled accounts, and the custom addresses of the login while they are in use', () => {
  const login_url = { type: 'custom', login: 'my-door', signup: 'join-us' } as const;
  const custom = applyChanges(defaultSiteSettings, { login_url });
  expect(toConnectorPolicy(custom, consent, [2, 7])).toMatchObject({
    login_url_login: 'my-door',
    login_url_signup: 'join-us',
    slow_users: '2,7',
  });
  const back = applyChanges(custom, { login_url: { ...login_url, type: 'default' } });
  expect(toConnectorPolicy(back, consent)).toMatchObject({ login_url_login: '', login_url_signup: '', slow_users: '' });
});

it('the policy contains blocked users, and whether user events are logged', () => {
  expect(toConnectorPolicy(defaultSiteSettings, consent)).toMatchObject({ blocked_users: '', activity_events: 1 });
  const off = applyChanges(defaultSiteSettings, { disable_activity_log: 1 });
  expect(toConnectorPolicy(off, consent, [], [3, 9])).toMatchObject({ blocked_users: '3,9', activity_events: 0 });
});

it('WordPress shows the owner the request for consent until it is answered, with yes or no', () => {
  expect(toConnectorPolicy(defaultSiteSettings, consent)).toMatchObject({
    show_data_consent: 1,
    show_email_consent: 1,
  });
  const changed = applyChanges(defaultSiteSettings, { consent_asked: 1, data_consent: 0 });
  expect(toConnectorPolicy(changed, consent)).toMatchObject({ show_data_consent: 0, show_email_consent: 0 });
});
