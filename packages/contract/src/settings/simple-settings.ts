import { DEFAULT_LOG_LIFETIME, WEEKLY_REPORT_MIN_DAYS } from '../activity/limits.js';
import { DEFAULT_LOGIN_ATTEMPTS } from '../login/limits.js';
import type { ServerText } from '../server-message.js';
import { serverMessage } from '../server-messages.js';
import { settingChoices, settingPaths } from './endpoints.js';
import { type EnforcedAt, siteSecurityToggles } from './protections.js';

/**
 * The catalogue of simple settings: switches and choices. An entry has everything the product needs to check the value,
 * store it, serve the endpoint that changes it, pass it to the part that enforces it, and name it in the audit log. See
 * CONTRIBUTING.md, "Adding a setting".
 */
export interface SimpleSetting {
  /** Name in requests, responses and storage. */
  readonly field: string;
  /** Allowed values. Default: a switch (0 or 1). */
  readonly values?: readonly number[];
  /** Value on a fresh site. */
  readonly default: number;
  /** Value while all protections are paused. Default: unchanged. */
  readonly paused?: number;
  readonly enforcedAt: readonly EnforcedAt[];
  /** Names in the connector's policy, if the inverse switch has another name. Default: `field`. */
  readonly oppositeInPolicy?: readonly string[];
  /** Who may change it. `provider`: only the command line. `owner` (default): an administrator of the site. */
  readonly changedBy?: 'owner' | 'provider';
  /** Display name. */
  readonly title: string;
  /** Labels of the values in the audit log. Default: On or Off for a switch, otherwise the number. */
  readonly valueNames?: Readonly<Record<number, string>>;
  /** Suffix of the endpoint that changes it, one of `settingPaths`; absent if the endpoint has rules of its own. */
  readonly suffix?: string;
  /** Description of the endpoint for the API reference. */
  readonly summary?: string;
  /** Error text that names the allowed values; a switch has a default text. */
  readonly refusal?: string;
  /** Whether the response contains the list of choices. */
  readonly label?: (value: number) => string;
  /** Success texts, shown after the change. */
  readonly messages?: SettingMessages | ((value: number) => ServerText);
}

export interface SettingMessages {
  readonly on: string;
  readonly off: string;
  /** Replaces `on` if the connector reports this note about the field. */
  readonly notes?: Readonly<Record<string, string>>;
}

/** Groups in the settings of a site. */
export const simpleSettings = {
  options: siteSecurityToggles,
  siteSecurity: [
    {
      field: 'signed_xml_rpc',
      title: 'Signed requests by XML-RPC while it is off',
      default: 1,
      enforcedAt: ['gateway'],
      messages: { on: 'Signed requests get through.', off: 'Signed requests are refused, too.' },
    },
  ],
  login: [
    {
      field: 'login_attempts',
      suffix: settingPaths.login_attempts,
      summary: 'Lock out an address after 3 or 5 failed logins, or never (0).',
      title: 'Limit Login Attempts',
      values: settingChoices.login_attempts,
      refusal: 'Use 0, 3 or 5.',
      default: DEFAULT_LOGIN_ATTEMPTS,
      paused: 0,
      enforcedAt: ['gateway', 'php'],
      valueNames: { 0: 'Off' },
      label: (value) => (value === 0 ? 'OFF' : String(value)),
      messages: (value) =>
        value === 0 ? 'Login attempts are no longer limited.' : serverMessage('attempts_limited', { number: value }),
    },
    {
      field: 'disable_usernames',
      title: 'Disable Common Usernames',
      default: 1,
      paused: 0,
      enforcedAt: ['php'],
    },
    {
      field: 'sg2fa',
      title: 'Two-factor Authentication for Admin & Editors Users',
      default: 0,
      paused: 0,
      enforcedAt: ['gateway', 'php'],
    },
    {
      field: 'two_factor_app_passwords',
      suffix: settingPaths.two_factor_app_passwords,
      summary: 'Allow application passwords for users who need a second factor (1) or refuse them (0).',
      title: 'Application passwords beside the second factor',
      default: 0,
      paused: 0,
      enforcedAt: ['php'],
      messages: {
        on: 'Application passwords of administrators and editors can be used.',
        off: 'Application passwords of administrators and editors are refused.',
      },
    },
  ],
  log: [
    {
      field: 'disable_activity_log',
      suffix: settingPaths.disable_activity_log,
      summary: 'Switch the log off (1) or on (0).',
      title: 'Activity log',
      valueNames: { 0: 'On', 1: 'Off' },
      default: 0,
      enforcedAt: ['log', 'php'],
      oppositeInPolicy: ['activity_events'],
      messages: {
        on: 'The activity log is off. Failed logins are still counted and locked.',
        off: 'The activity log is on.',
      },
    },
    {
      field: 'log_lifetime',
      suffix: settingPaths.log_lifetime,
      summary: 'Keep the log for 1 to 12 days. With fewer than 8, no weekly reports are sent.',
      title: 'Days that the activity log is kept',
      values: settingChoices.log_lifetime,
      refusal: 'Use 1 to 12 days.',
      default: DEFAULT_LOG_LIFETIME,
      enforcedAt: ['log'],
      label: (value) => (value === 1 ? '1 day' : `${value} days`),
      messages: (value) =>
        value < WEEKLY_REPORT_MIN_DAYS
          ? serverMessage('log_kept_without_reports', { count: value, least: WEEKLY_REPORT_MIN_DAYS })
          : serverMessage('log_kept', { count: value }),
    },
    {
      field: 'anonymize_addresses',
      suffix: settingPaths.anonymize_addresses,
      summary:
        'From now on store addresses without their last octet (IPv4) or last 80 bits (IPv6) (1), or in full (0).',
      title: 'Anonymised addresses',
      default: 0,
      enforcedAt: ['log'],
      messages: {
        on: 'Addresses are shortened from now on. Entries that are already there stay as they are.',
        off: 'Addresses are kept whole from now on.',
      },
    },
    {
      field: 'log_own_cron',
      suffix: settingPaths.log_own_cron,
      summary:
        'From now on list the requests that run WordPress’s scheduled tasks among unknown visitors (1), or omit them ' +
        '(0).',
      title: 'Scheduled tasks of WordPress in the log',
      default: 0,
      enforcedAt: ['log'],
      messages: {
        on: 'Calls for scheduled tasks of WordPress are listed from now on.',
        off: 'Calls for scheduled tasks of WordPress are left out from now on. Entries that are already there stay.',
      },
    },
  ],
  postHack: [
    {
      field: 'weekly_checkup',
      suffix: settingPaths.weekly_checkup,
      summary: 'Run the checkup once a week (1) or only on demand (0).',
      title: 'Weekly checkup',
      default: 1,
      enforcedAt: [],
      messages: {
        on: 'The site is checked every week.',
        off: 'The site is no longer checked every week.',
      },
    },
  ],
  overview: [
    { field: 'data_consent', title: 'Collection of technical data', default: 0, enforcedAt: [] },
    { field: 'email_consent', title: 'Occasional e-mails', default: 0, enforcedAt: [] },
    {
      field: 'consent_asked',
      title: 'Answer to the questions about data and e-mails',
      valueNames: { 0: 'Not given', 1: 'Given' },
      default: 0,
      enforcedAt: ['php'],
      oppositeInPolicy: ['show_data_consent', 'show_email_consent'],
    },
    {
      field: 'rate_dismissed',
      title: 'Request for a review',
      valueNames: { 0: 'On', 1: 'Off' },
      default: 0,
      enforcedAt: [],
    },
  ],
} as const satisfies Readonly<Record<string, readonly SimpleSetting[]>>;

export type SettingGroup = keyof typeof simpleSettings;
type Entry<Group extends SettingGroup = SettingGroup> = (typeof simpleSettings)[Group][number];
type ValueOf<Setting> = Setting extends { readonly values: readonly (infer Value)[] } ? Value : 0 | 1;

/** The values of a group, by setting. */
export type SettingValues<Group extends SettingGroup> = {
  readonly [Setting in Entry<Group> as Setting['field']]: ValueOf<Setting>;
};

/** A choice of a setting in a response. */
export interface Choice<Value extends number = number> {
  readonly value: Value;
  readonly label: string;
  readonly selected: 0 | 1;
}

/** Response fields for the settings of a group: a switch is its value, a choice is a list. */
export type SettingFields<Group extends SettingGroup> = {
  -readonly [Setting in Entry<Group> as Setting['field']]: Setting extends { readonly label: unknown }
    ? Choice<ValueOf<Setting>>[]
    : ValueOf<Setting>;
};

/** Settings with an endpoint. */
export type SettingWithCall = Extract<Entry, { readonly suffix: string }>;
export type SettingField = Entry['field'];

/** All entries, with their field names. */
export const allSimpleSettings: readonly (SimpleSetting & { readonly field: SettingField })[] =
  Object.values(simpleSettings).flat();

/** The values of a group on a fresh site. */
export function simpleDefaults<Group extends SettingGroup>(group: Group): SettingValues<Group> {
  const settings: readonly SimpleSetting[] = simpleSettings[group];
  return Object.fromEntries(settings.map((setting) => [setting.field, setting.default])) as SettingValues<Group>;
}

export function allowedValues({ values = [0, 1] }: Pick<SimpleSetting, 'values'>): readonly number[] {
  return values;
}
