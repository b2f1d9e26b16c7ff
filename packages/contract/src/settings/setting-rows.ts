import type { Endpoint } from '../endpoint.js';
import { disableAdminUsername, twoFactor } from '../login/endpoints.js';
import { settingEndpoint } from './endpoints.js';
import { siteSecurityToggles } from './protections.js';

/**
 * A simple setting in the dashboard: its texts, and the endpoint that changes it. The dashboard draws a row for each
 * entry, in this order; a new setting needs no other code there.
 */
export interface SettingRow {
  /** Name in requests and responses: a switch, or a list of choices. */
  readonly field: string;
  readonly endpoint: Pick<Endpoint, 'name' | 'suffix' | 'methods'>;
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
  readonly unit?: 'attempts' | 'days';
  /** Error text of a list of choices, when a change was not saved. */
  readonly notSaved?: string;
}

const isOff = (_before: number, after: number): boolean => after === 0;
const isOn = (_before: number, after: number): boolean => after === 1;

/** The switches of Site Security. */
export const securityRows: readonly SettingRow[] = /* @__PURE__ */ siteSecurityToggles.map((toggle) => ({
  ...toggle,
  endpoint: settingEndpoint(toggle.field),
  anchor: toggle.suffix.slice(1),
  offersUndo: isOff,
}));

/** The settings of Login Settings that are not changed in a dialog. */
export const loginRows = [
  {
    field: 'sg2fa',
    endpoint: twoFactor,
    icon: 'phone',
    title: 'Two-factor Authentication for Admin & Editors Users',
    help: 'Administrators and editors confirm each login with a code from their phone.',
    anchor: 'two-factor',
    essential: true,
    offersUndo: isOff,
  },
  {
    field: 'two_factor_app_passwords',
    endpoint: /* @__PURE__ */ settingEndpoint('two_factor_app_passwords'),
    icon: 'password',
    title: 'Application Passwords',
    help: 'Apps of administrators and editors may log in with application passwords, without a code.',
    anchor: 'application-passwords',
    offersUndo: isOn,
  },
  {
    field: 'disable_usernames',
    endpoint: disableAdminUsername,
    icon: 'name-tag',
    title: 'Disable Common Usernames',
    help: 'Names like “admin” are guessed first. Nobody can register one, and you rename the ones you have.',
    anchor: 'common-usernames',
    essential: true,
    offersUndo: isOff,
  },
  {
    field: 'login_attempts',
    endpoint: /* @__PURE__ */ settingEndpoint('login_attempts'),
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

/** The settings of the Activity Log. */
export const logRows = [
  {
    field: 'disable_activity_log',
    endpoint: /* @__PURE__ */ settingEndpoint('disable_activity_log'),
    icon: 'pulse',
    title: 'Activity log',
    help: 'Records visits, bot crawls and login attempts. Turn it off for a while if you expect a rush of visitors.',
    inverted: true,
    offersUndo: isOn,
  },
  {
    field: 'log_lifetime',
    endpoint: /* @__PURE__ */ settingEndpoint('log_lifetime'),
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
    endpoint: /* @__PURE__ */ settingEndpoint('anonymize_addresses'),
    icon: 'eye-off',
    title: 'Anonymise addresses',
    help: 'Stores IP addresses without their last part from now on, as some privacy laws ask for. You can then block networks, not single addresses.',
  },
  {
    field: 'log_own_cron',
    endpoint: /* @__PURE__ */ settingEndpoint('log_own_cron'),
    icon: 'clock',
    title: 'Scheduled tasks of WordPress',
    help: 'Lists the calls that WordPress makes to itself to run its scheduled tasks among unknown visitors. They are left out otherwise.',
  },
] as const satisfies readonly SettingRow[];

/** The setting of Post-hack Actions. */
export const weeklyCheckupRow = {
  field: 'weekly_checkup',
  endpoint: /* @__PURE__ */ settingEndpoint('weekly_checkup'),
  icon: 'calendar',
  title: 'Check every week',
  // The page says when, and who gets a mail.
  help: '',
} as const satisfies SettingRow;
