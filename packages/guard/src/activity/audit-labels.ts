import { type ActivityKindId, EVERY_ADDRESS } from '@security-optimizer/contract/activity/event-kinds';
import { getRoleName, toEventValue, toShortList } from '@security-optimizer/contract/activity/event-values';
import { allSimpleSettings } from '@security-optimizer/contract/settings/catalogue';
import { plainText } from '../lib/plain-text.js';
import { toLocalTimestamp } from '../lib/time-zone.js';
import type { AuditRow, JsonValue } from '../settings/audit-store.js';
import { isCommandLine, WP_CLI } from '../settings/audit-store.js';
import { toValueName } from '../settings/simple-settings.js';
import { settingNames } from '../settings/site-settings.js';
import type { NewEvent } from './activity-store.js';

type EventLabels = Pick<NewEvent, 'kind' | 'object' | 'before' | 'after'>;
type Show = (value: JsonValue, timeZone: string) => string;

const VALUE_MAX = 200;

/**
 * Converts an audit row to an event, with names and values for people.
 * @param timeZone of the site, for times among the values
 */
export function toEvent(row: AuditRow, timeZone: string): NewEvent {
  const { kind, object, before, after } = toLabels(row, timeZone);
  const { id, login, address } = row.actor;
  return {
    uid: row.id.replaceAll('-', ''),
    at: Math.floor(row.at / 1000),
    kind,
    user: id === null ? null : { id, login },
    address: address ?? '',
    origin: id !== null ? 'web' : isCommandLine({ id, login }) ? 'cli' : 'system',
    ...(id === null && login === WP_CLI ? { program: WP_CLI } : {}),
    object: shorten(object),
    objectType: '',
    before: before === null ? null : shorten(before),
    // Server messages are not shortened: their parts are short already.
    after: kind === 'product.action' || after === null ? after : shorten(after),
  };
}

/** Converts a value to one line of plain text; dots mark a truncated one. */
function shorten(text: string): string {
  const line = plainText(text, VALUE_MAX);
  return line.length < VALUE_MAX || line === text ? line : `${plainText(line, VALUE_MAX - 1)}…`;
}

function toLabels({ name, before, after }: AuditRow, timeZone: string): EventLabels {
  const other = others[name];
  if (other !== undefined) return other(before, after);
  if (name.startsWith('username:')) {
    return labels('user.renamed', toText(before), toText(before), toText(after));
  }
  const { title, show } = settings.get(name) ?? { title: name, show: toText };
  // No setting has the value null. It is recorded in place of one that could not be used.
  const former = before === null && readableSettings.has(name) ? UNUSABLE : show(before, timeZone);
  return labels('product.setting', title, former, show(after, timeZone));
}

/** Audit rows that are not changes of settings, by name. */
const others: Readonly<Record<string, (before: JsonValue, after: JsonValue) => EventLabels>> = {
  reset_2fa: (before) => labels('factor.reset', getMember(before, 'login')),
  factor_set_up: () => labels('factor.set-up', ''),
  factor_failed: () => labels('factor.failed', ''),
  factor_backup_code: () => labels('factor.back-up-code', ''),
  post_hack_job: (_before, after) => labels('product.action', getMember(after, 'action'), null, toOutcome(after)),
  login_unblock: (before) => labels('login.unlocked', unlocked(before)),
  checkup_kept: (before, after) =>
    after === null
      ? labels('product.checkup', getMember(before, 'title'), 'On', 'Off')
      : labels('product.checkup', getMember(after, 'title')),
  checkup_file_removed: (before) => labels('product.file-removed', getMember(before, 'file')),
  checkup_file_restored: (_before, after) => labels('product.file-restored', getMember(after, 'file')),
  block_visitor: (_before, after) => labels('product.blocked', getMember(after, 'name')),
  block_ended: (before) => labels('product.block-ended', getMember(before, 'name')),
  unblock_visitor: (before) => labels('product.unblocked', getMember(before, 'name')),
};

/** As `formatEventValue` knows it. */
const UNUSABLE = 'unusable value';

/** Settings whose stored values are checked when they are read; the channels of alerts are not among them. */
const readableSettings: ReadonlySet<string> = new Set([...settingNames, 'paused_until']);

/** Settings by their stored names. */
const settings: ReadonlyMap<string, { readonly title: string; readonly show: Show }> = new Map([
  ...allSimpleSettings.map(
    (setting) =>
      [
        setting.field as string,
        { title: setting.auditTitle ?? setting.title, show: (value: JsonValue) => toValueName(setting, value) },
      ] as const,
  ),
  ['login_access', { title: 'Login Access', show: (value) => toList(value) || 'everyone' }],
  ['login_url', { title: 'Custom Login URL', show: loginUrl }],
  [
    'two_factor_roles',
    { title: 'Further roles with two-factor authentication', show: (value) => toList(toRoleNames(value)) || 'nobody' },
  ],
  ['away_mode', { title: 'Away Mode', show: awayMode }],
  ['paused_until', { title: 'Pause', show: pause }],
  ['alert_recipient', { title: 'What a recipient gets', show: toText }],
  ['alert_webhook', { title: 'Alerts by webhook', show: toText }],
  ['alert_slack', { title: 'Alerts by Slack', show: toText }],
  ['alert_syslog', { title: 'Alerts in the system log', show: toText }],
  ['notification_emails', { title: 'Recipients of weekly reports', show: (value) => toList(value) || 'nobody' }],
]);

function labels(
  kind: ActivityKindId,
  object: string,
  before: string | null = null,
  after: string | null = null,
): EventLabels {
  return { kind, object, before, after };
}

function toText(value: JsonValue): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Values listed in a sentence; further ones are counted. */
const LISTED_MAX = 5;

function toList(value: JsonValue): string {
  if (!Array.isArray(value)) return toText(value);
  const all = value.map(toText);
  const listed = all.slice(0, LISTED_MAX);
  while (listed.length > 1 && listed.join(', ').length > VALUE_MAX - MORE_CHARACTERS) listed.pop();
  return toShortList(listed, all.length - listed.length);
}

/** Returns the names of WordPress's own roles as other events store them; other roles keep their identifiers. */
function toRoleNames(value: JsonValue): JsonValue {
  return Array.isArray(value) ? value.map((role) => getRoleName(toText(role)) ?? role) : value;
}

/** Characters reserved in a stored value for the count of further values. */
const MORE_CHARACTERS = 20;

function getMember(value: JsonValue, name: string): string {
  const key = (value as Readonly<Record<string, JsonValue>> | null)?.[name];
  return key === undefined ? '' : toText(key);
}

/** Converts the outcome of an action to JSON, for `eventSentence`. */
function toOutcome(value: JsonValue): string {
  const { outcome = [] } = (value ?? {}) as { readonly outcome?: JsonValue };
  return JSON.stringify(Array.isArray(outcome) ? outcome : [outcome]);
}

function unlocked(before: JsonValue): string {
  const who = (before as { readonly who?: JsonValue } | null)?.who ?? null;
  return who === 'all' ? EVERY_ADDRESS : toList(who);
}

function loginUrl(value: JsonValue): string {
  return getMember(value, 'type') === 'custom' ? `/${getMember(value, 'login')}` : 'Default';
}

function awayMode(value: JsonValue): string {
  const get = (name: string) => getMember(value, name);
  switch (get('type')) {
    case 'period':
      return toEventValue('away.period', get('from_date'), get('to_date'));
    case 'weekly':
      return ((value as { readonly weekly?: readonly string[] }).weekly ?? []).join(', ');
    case 'daily':
      return toEventValue('away.daily', get('from_hour'), get('to_hour'));
    default:
      return 'Off';
  }
}

function pause(value: JsonValue, timeZone: string): string {
  const valid = typeof value === 'number' && value > 0 && value < 8.64e15;
  return valid ? toEventValue('paused.until', toLocalTimestamp(timeZone, Math.floor(value / 1000))) : 'Off';
}
