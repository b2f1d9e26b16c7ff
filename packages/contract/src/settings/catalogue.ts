import { DEFAULT_LOG_LIFETIME, LOG_LIFETIMES, WEEKLY_REPORT_MIN_DAYS } from '../activity/limits.js';
import { DEFAULT_LOGIN_ATTEMPTS, LOGIN_ATTEMPT_VALUES } from '../login/limits.js';
import type { ServerText } from '../server-message.js';
import { serverMessage } from '../server-messages.js';
import { type EnforcedAt, siteSecurityToggles } from './protections.js';

/**
 * The catalogue of simple settings: switches and choices of numbers. Validation, storage, endpoint, connector policy,
 * audit log, API reference, WP-CLI and the row of the dashboard come from it. See CONTRIBUTING.md, "Adding a setting".
 *
 * A setting has two parts: its row (`loginRows`) is all that the browser loads, its details (`simpleSettings`) are what
 * guard alone needs.
 */

/** What the dashboard needs of a simple setting: what it draws, and the endpoint that changes it. */
export interface SettingRow {
  /** Name in requests, responses and storage. */
  readonly field: string;
  /** Path of the endpoint that changes it, below the namespace. */
  readonly suffix: string;
  /** The endpoint has rules of its own: it is declared in its area, not made from the catalogue. */
  readonly ownEndpoint?: true;
  /** Allowed values. Default: a switch (0 or 1). */
  readonly values?: readonly number[];
  /** Name of the icon file without extension. */
  readonly icon: string;
  readonly title: string;
  readonly help: string;
  /** Hash in the page's address that leads to the row. */
  readonly anchor?: string;
  /** Whether it counts as an essential, and has the label 'recommended' while it is off. */
  readonly essential?: boolean;
  /** Whether the switch is on while the value is 0. */
  readonly inverted?: boolean;
  /** Whether the owner can undo a change in its message, because it switches a protection off. */
  readonly offersUndo?: (before: number, after: number) => boolean;
  /** Success texts for 1 and 0, if the response has no message. */
  readonly messages?: { readonly on: string; readonly off: string };
  /** What the numbers of a list of choices count. Default: the labels of the response are shown. */
  readonly unit?: 'attempts' | 'days' | 'an hour';
  /** Error text of a list of choices, when a change was not saved. */
  readonly notSaved?: string;
}

/** What guard alone needs of a simple setting. */
export interface SettingDetails {
  /** Value on a fresh site. */
  readonly default: number;
  /** Value while all protections are paused. Default: unchanged. */
  readonly paused?: number;
  readonly enforcedAt: readonly EnforcedAt[];
  /** Names in the connector's policy, if the inverse switch has another name. Default: `field`. */
  readonly oppositeInPolicy?: readonly string[];
  /**
   * Who may change it, besides the provider's command line. `owner` (default): an administrator in the dashboard, and
   * WP-CLI on the server. `session`: an administrator in the dashboard alone, because the PHP of a hacked site can call
   * as WP-CLI does. A setting without `suffix` has no endpoint, so only the command line changes it.
   */
  readonly changedBy?: 'owner' | 'session';
  /** Display name in the audit log. Default: `title`. */
  readonly auditTitle?: string;
  /** Labels of the values in the audit log. Default: On or Off for a switch, otherwise the number. */
  readonly valueNames?: Readonly<Record<number, string>>;
  /** Description of the endpoint for the API reference. Default: "Switch … on (1) or off (0)." */
  readonly summary?: string;
  /** Error text that names the allowed values; a switch has a default text. */
  readonly refusal?: string;
  /** Label of a choice in a response. Default: the number. */
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

/** A simple setting as guard sees it. Some have no row, and those that the owner does not change no endpoint. */
export interface SimpleSetting
  extends SettingDetails,
    Pick<SettingRow, 'field' | 'title' | 'values' | 'ownEndpoint'>,
    Partial<Pick<SettingRow, 'suffix'>> {}

const isOff = (_before: number, after: number): boolean => after === 0;
const isOn = (_before: number, after: number): boolean => after === 1;

/** The switches of Site Security. */
export const securityRows: readonly SettingRow[] = /* @__PURE__ */ siteSecurityToggles.map((toggle) => ({
  ...toggle,
  anchor: toggle.suffix.slice(1),
  offersUndo: isOff,
}));

const siteSecuritySettings = [
  {
    field: 'signed_xml_rpc',
    suffix: '/signed-xml-rpc',
    ownEndpoint: true,
    title: 'Signed requests by XML-RPC while it is off',
    default: 1,
    enforcedAt: ['gateway'],
    messages: { on: 'Signed requests get through.', off: 'Signed requests are refused, too.' },
  },
] as const satisfies readonly SimpleSetting[];

/** The settings of Login Settings that are not changed in a dialog. */
export const loginRows = [
  {
    field: 'sg2fa',
    suffix: '/2fa',
    ownEndpoint: true,
    icon: 'phone',
    title: 'Two-factor Authentication for Admin & Editors Users',
    help: 'Administrators and editors confirm each login with a code from their phone.',
    anchor: 'two-factor',
    essential: true,
    offersUndo: isOff,
  },
  {
    field: 'two_factor_app_passwords',
    suffix: '/two-factor-app-passwords',
    icon: 'password',
    title: 'Application Passwords',
    help: 'Apps of administrators and editors may log in with application passwords, without a code.',
    anchor: 'application-passwords',
    offersUndo: isOn,
  },
  {
    field: 'disable_usernames',
    suffix: '/disable-admin-username',
    ownEndpoint: true,
    icon: 'name-tag',
    title: 'Disable Common Usernames',
    help: 'Names like “admin” are guessed first. Nobody can register one, and you rename the ones you have.',
    anchor: 'common-usernames',
    essential: true,
    offersUndo: isOff,
  },
  {
    field: 'login_attempts',
    suffix: '/limit-login-attempts',
    values: LOGIN_ATTEMPT_VALUES,
    icon: 'timer',
    title: 'Limit Login Attempts',
    help: 'Too many wrong passwords block the IP address for 1 hour, then 24 hours, then 7 days.',
    anchor: 'login-attempts',
    essential: true,
    // 0 means no limit.
    offersUndo: (before, after) => before > 0 && (after === 0 || after > before),
    unit: 'attempts',
    notSaved: 'We couldn’t save this. The limit is what it was before.',
  },
] as const satisfies readonly SettingRow[];

const loginSettings = /* @__PURE__ */ withDetails(loginRows, {
  sg2fa: { default: 0, paused: 0, enforcedAt: ['gateway', 'php'] },
  two_factor_app_passwords: {
    auditTitle: 'Application passwords beside the second factor',
    summary: 'Allow application passwords for users who need a second factor (1) or refuse them (0).',
    default: 0,
    paused: 0,
    enforcedAt: ['php'],
    messages: {
      on: 'Application passwords of administrators and editors can be used.',
      off: 'Application passwords of administrators and editors are refused.',
    },
  },
  disable_usernames: { default: 1, paused: 0, enforcedAt: ['php'] },
  login_attempts: {
    summary: 'Lock out an address after 3 or 5 failed logins, or never (0).',
    refusal: 'Use 0, 3 or 5.',
    default: DEFAULT_LOGIN_ATTEMPTS,
    paused: 0,
    enforcedAt: ['gateway', 'php'],
    valueNames: { 0: 'Off' },
    label: (value) => (value === 0 ? 'OFF' : String(value)),
    messages: (value) =>
      value === 0 ? 'Login attempts are no longer limited.' : serverMessage('attempts_limited', { number: value }),
  },
});

/** The settings of the Activity Log. */
export const logRows = [
  {
    field: 'disable_activity_log',
    suffix: '/manage-activity-log',
    icon: 'pulse',
    title: 'Activity log',
    help: 'Records visits, bot crawls and login attempts. Turn it off for a while if you expect a rush of visitors.',
    inverted: true,
    offersUndo: isOn,
  },
  {
    field: 'log_lifetime',
    suffix: '/activity-log-lifetime',
    values: LOG_LIFETIMES,
    icon: 'calendar',
    title: 'Days to keep',
    help: 'Older entries are deleted for good. You can keep 1 to 12 days. Weekly reports need at least 8.',
    // Entries are deleted.
    offersUndo: (before, after) => after < before,
    unit: 'days',
    notSaved: 'We couldn’t save this. As many days are kept as before.',
  },
  {
    field: 'anonymize_addresses',
    suffix: '/anonymize-addresses',
    icon: 'eye-off',
    title: 'Anonymise addresses',
    help: 'Stores IP addresses without their last part from now on, as some privacy laws ask for. You can then block networks, not single addresses.',
  },
  {
    field: 'log_own_cron',
    suffix: '/log-own-cron',
    icon: 'clock',
    title: 'Scheduled tasks of WordPress',
    help: 'Lists the calls that WordPress makes to itself to run its scheduled tasks among unknown visitors. They are left out otherwise.',
  },
] as const satisfies readonly SettingRow[];

const logSettings = /* @__PURE__ */ withDetails(logRows, {
  disable_activity_log: {
    summary: 'Switch the log off (1) or on (0).',
    valueNames: { 0: 'On', 1: 'Off' },
    default: 0,
    enforcedAt: ['log', 'php'],
    oppositeInPolicy: ['activity_events'],
    messages: {
      on: 'The activity log is off. Failed logins are still counted and locked.',
      off: 'The activity log is on.',
    },
  },
  log_lifetime: {
    auditTitle: 'Days that the activity log is kept',
    summary: 'Keep the log for 1 to 12 days. With fewer than 8, no weekly reports are sent.',
    refusal: 'Use 1 to 12 days.',
    default: DEFAULT_LOG_LIFETIME,
    enforcedAt: ['log'],
    label: (value) => (value === 1 ? '1 day' : `${value} days`),
    messages: (value) =>
      value < WEEKLY_REPORT_MIN_DAYS
        ? serverMessage('log_kept_without_reports', { count: value, least: WEEKLY_REPORT_MIN_DAYS })
        : serverMessage('log_kept', { count: value }),
  },
  anonymize_addresses: {
    auditTitle: 'Anonymised addresses',
    summary: 'From now on store addresses without their last octet (IPv4) or last 80 bits (IPv6) (1), or in full (0).',
    default: 0,
    enforcedAt: ['log'],
    messages: {
      on: 'Addresses are shortened from now on. Entries that are already there stay as they are.',
      off: 'Addresses are kept whole from now on.',
    },
  },
  log_own_cron: {
    auditTitle: 'Scheduled tasks of WordPress in the log',
    summary:
      'From now on list the requests that run WordPress’s scheduled tasks among unknown visitors (1), or omit them (0).',
    default: 0,
    enforcedAt: ['log'],
    messages: {
      on: 'Calls for scheduled tasks of WordPress are listed from now on.',
      off: 'Calls for scheduled tasks of WordPress are left out from now on. Entries that are already there stay.',
    },
  },
});

/** The settings of alerts that apply to all recipients. */
export const alertRows = [
  {
    field: 'alert_limit',
    suffix: '/alert-limit',
    values: [2, 4, 10],
    icon: 'timer',
    title: 'At most',
    help: 'More than that within 1 hour come together in one mail.',
    unit: 'an hour',
    notSaved: 'We couldn’t save this. The limit is what it was before.',
  },
  {
    field: 'alert_quiet_hours',
    suffix: '/alert-quiet-hours',
    icon: 'moon',
    title: 'Quiet hours',
    // The page says the times, in the format of the reader.
    help: '',
  },
] as const satisfies readonly SettingRow[];

const alertSettings = /* @__PURE__ */ withDetails(alertRows, {
  alert_limit: {
    auditTitle: 'Alerts an hour at most',
    summary: 'Send at most 2, 4 or 10 mails and messages to Slack an hour. Further alerts are sent together.',
    refusal: 'Use 2, 4 or 10.',
    default: 4,
    enforcedAt: ['background'],
    changedBy: 'session',
  },
  alert_quiet_hours: {
    auditTitle: 'Quiet hours of alerts',
    summary:
      'Let alerts wait from 22:00 to 07:00 (1) or send them at once (0). A new administrator is always reported.',
    default: 0,
    enforcedAt: ['background'],
    changedBy: 'session',
    messages: {
      on: 'Alerts wait during the quiet hours.',
      off: 'Alerts are sent at any time.',
    },
  },
});

/** The setting of Post-hack Actions. */
export const postHackRows = [
  {
    field: 'weekly_checkup',
    suffix: '/weekly-checkup',
    icon: 'calendar',
    title: 'Check every week',
    // The page says when, and who gets a mail.
    help: '',
  },
] as const satisfies readonly SettingRow[];

const postHackSettings = /* @__PURE__ */ withDetails(postHackRows, {
  weekly_checkup: {
    auditTitle: 'Weekly checkup',
    summary: 'Run the checkup once a week (1) or only on demand (0).',
    default: 1,
    enforcedAt: ['background'],
    changedBy: 'session',
    messages: {
      on: 'The site is checked every week.',
      off: 'The site is no longer checked every week.',
    },
  },
});

/** The owner's one-time choices. Their endpoints store several of them. */
const overviewSettings = [
  { field: 'data_consent', title: 'Collection of technical data', default: 0, enforcedAt: ['background'] },
  { field: 'email_consent', title: 'Occasional e-mails', default: 0, enforcedAt: ['background'] },
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
    enforcedAt: ['background'],
  },
] as const satisfies readonly SimpleSetting[];

/** All simple settings, by their groups in the settings of a site. */
export const simpleSettings = {
  options: siteSecurityToggles,
  siteSecurity: siteSecuritySettings,
  login: loginSettings,
  log: logSettings,
  alerts: alertSettings,
  postHack: postHackSettings,
  overview: overviewSettings,
} as const;

type WithDetails<Rows extends readonly SettingRow[]> = {
  readonly [Index in keyof Rows]: Omit<Rows[Index], 'messages'> & SettingDetails;
};

/** Joins the rows of a page with their details. It does not compile if one is missing or superfluous. */
// @__NO_SIDE_EFFECTS__
function withDetails<const Rows extends readonly SettingRow[]>(
  rows: Rows,
  details: Readonly<Record<Rows[number]['field'], SettingDetails>>,
): WithDetails<Rows> {
  return rows.map((row) => ({ ...row, ...details[row.field as Rows[number]['field']] })) as never;
}

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
  -readonly [Setting in Entry<Group> as Setting['field']]: Setting extends { readonly values: unknown }
    ? Choice<ValueOf<Setting>>[]
    : ValueOf<Setting>;
};

/** Settings whose endpoint is made from the catalogue. */
export type SettingWithEndpoint = Exclude<Extract<Entry, { readonly suffix: string }>, { readonly ownEndpoint: true }>;
export type SettingField = Entry['field'];

/** All entries, with their field names. */
export const allSimpleSettings: readonly (SimpleSetting & { readonly field: SettingField })[] =
  /* @__PURE__ */ Object.values(simpleSettings).flat();

/** Whether the endpoint that changes a setting is made from the catalogue. */
export function hasUsualEndpoint({ suffix, ownEndpoint }: Pick<SimpleSetting, 'suffix' | 'ownEndpoint'>): boolean {
  return suffix !== undefined && ownEndpoint !== true;
}

/** Name of the endpoint that changes a setting. The dashboard tracks the request by it. */
export function settingRequestName<Field extends string>(field: Field): `update:${Field}` {
  return `update:${field}`;
}

/** The endpoint that changes a setting, as far as a client needs it to send the request. */
export function toSettingEndpoint<const Row extends Pick<SettingRow, 'field' | 'suffix'>>({ field, suffix }: Row) {
  return { name: settingRequestName<Row['field']>(field), suffix, methods: ['POST'] } as const;
}

/** The values of a group on a fresh site. */
export function simpleDefaults<Group extends SettingGroup>(group: Group): SettingValues<Group> {
  const settings: readonly SimpleSetting[] = simpleSettings[group];
  return Object.fromEntries(settings.map((setting) => [setting.field, setting.default])) as SettingValues<Group>;
}

/** The settings of a group in a response. */
export function toResponseValues<Group extends SettingGroup>(
  group: Group,
  values: SettingValues<Group>,
): SettingFields<Group> {
  const settings: readonly SimpleSetting[] = simpleSettings[group];
  const all = values as Readonly<Record<string, number>>;
  return Object.fromEntries(
    settings.map((setting) => [setting.field, toResponseValue(setting, all[setting.field] as number)]),
  ) as SettingFields<Group>;
}

/** A value in a response: the value itself, or the list of choices with the value selected. */
export function toResponseValue({ values, label = String }: SimpleSetting, value: number): number | Choice[] {
  return values === undefined
    ? value
    : values.map((choice) => ({ value: choice, label: label(choice), selected: choice === value ? 1 : 0 }));
}

/** All values that a setting may have. */
export function allowedValues({ values = [0, 1] }: Pick<SimpleSetting, 'values'>): readonly number[] {
  return values;
}
