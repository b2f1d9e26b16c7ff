import { type ActivityKindId, EVERY_ADDRESS } from '@security-optimizer/contract/activity-kinds';
import { siteSecurityToggles } from '@security-optimizer/contract/protections';
import { plainText } from '../lib/plain-text.js';
import { COMMAND_LINE } from '../settings/command-line-actor.js';
import type { Actor, JsonValue } from '../storage/settings-store.js';
import type { NewEvent } from './activity-store.js';
import { localTimestamp } from './local-days.js';

/** A row of the record of changes. */
export interface AuditRow {
  /** A UUID. */
  readonly id: string;
  readonly site: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly actor: Actor;
  readonly name: string;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

type Words = Pick<NewEvent, 'kind' | 'object' | 'before' | 'after'>;
type Show = (value: JsonValue, timeZone: string) => string;

const VALUE_MAX = 200;

/**
 * A row of the record of changes as an event: what was done, in names and values that people know.
 * @param timeZone of the site, for times among the values
 */
export function eventOfAudit(row: AuditRow, timeZone: string): NewEvent {
  const { kind, object, before, after } = wordsOf(row, timeZone);
  const short = (text: string | null) => (text === null ? null : plainText(text, VALUE_MAX));
  const { id, login, address } = row.actor;
  return {
    uid: row.id.replaceAll('-', ''),
    at: Math.floor(row.at / 1000),
    kind,
    user: id === null ? null : { id, login },
    address: address ?? '',
    origin: id !== null ? 'web' : login === COMMAND_LINE.login ? 'cli' : 'system',
    object: plainText(object, VALUE_MAX),
    objectType: '',
    before: short(before),
    after: short(after),
  };
}

function wordsOf({ name, before, after }: AuditRow, timeZone: string): Words {
  const other = others[name];
  if (other !== undefined) return other(before, after);
  if (name.startsWith('username:')) {
    return words('user.renamed', textOf(before), textOf(before), textOf(after));
  }
  const { title, show } = settings.get(name) ?? { title: name, show: textOf };
  return words('product.setting', title, show(before, timeZone), show(after, timeZone));
}

/** What is no change of a setting. */
const others: Readonly<Record<string, (before: JsonValue, after: JsonValue) => Words>> = {
  reset_2fa: (before) => words('factor.reset', memberOf(before, 'login')),
  factor_set_up: () => words('factor.set-up', ''),
  factor_failed: () => words('factor.failed', ''),
  factor_backup_code: () => words('factor.back-up-code', ''),
  post_hack_job: (_before, after) =>
    words('product.action', `${memberOf(after, 'action')}. ${memberOf(after, 'outcome')}`),
  login_unblock: (before) => words('login.unlocked', unlocked(before)),
  block_visitor: (_before, after) => words('product.blocked', memberOf(after, 'name')),
  unblock_visitor: (before) => words('product.unblocked', memberOf(before, 'name')),
};

const onOff: Show = (value) => (value === 1 ? 'On' : 'Off');
const offOn: Show = (value) => (value === 1 ? 'Off' : 'On');

/** Settings by the names under which they are stored. */
const settings: ReadonlyMap<string, { readonly title: string; readonly show: Show }> = new Map([
  ...siteSecurityToggles.map(({ field, title }) => [field as string, { title, show: onOff }] as const),
  ['login_attempts', { title: 'Limit Login Attempts', show: (value) => (value === 0 ? 'Off' : textOf(value)) }],
  ['login_access', { title: 'Login Access', show: (value) => listOf(value) || 'everyone' }],
  ['login_url', { title: 'Custom Login URL', show: loginUrl }],
  ['disable_usernames', { title: 'Disable Common Usernames', show: onOff }],
  ['sg2fa', { title: 'Two-factor Authentication for Admin & Editors Users', show: onOff }],
  ['two_factor_app_passwords', { title: 'Application passwords beside the second factor', show: onOff }],
  ['away_mode', { title: 'Away Mode', show: awayMode }],
  ['paused_until', { title: 'Pause', show: pause }],
  ['disable_activity_log', { title: 'Activity log', show: offOn }],
  ['log_lifetime', { title: 'Days that the activity log is kept', show: textOf }],
  ['anonymize_addresses', { title: 'Anonymised addresses', show: onOff }],
  ['data_consent', { title: 'Collection of technical data', show: onOff }],
  ['email_consent', { title: 'Occasional e-mails', show: onOff }],
  [
    'consent_asked',
    {
      title: 'Answer to the questions about data and e-mails',
      show: (value) => (value === 1 ? 'Given' : 'Not given'),
    },
  ],
  ['rate_dismissed', { title: 'Request for a review', show: offOn }],
  ['notification_emails', { title: 'Recipients of weekly reports', show: (value) => listOf(value) || 'nobody' }],
]);

function words(kind: ActivityKindId, object: string, before: string | null = null, after: string | null = null): Words {
  return { kind, object, before, after };
}

function textOf(value: JsonValue): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function listOf(value: JsonValue): string {
  return Array.isArray(value) ? value.map(textOf).join(', ') : textOf(value);
}

function memberOf(value: JsonValue, name: string): string {
  const member = (value as Readonly<Record<string, JsonValue>> | null)?.[name];
  return member === undefined ? '' : textOf(member);
}

function unlocked(before: JsonValue): string {
  const who = (before as { readonly who?: JsonValue } | null)?.who ?? null;
  return who === 'all' ? EVERY_ADDRESS : listOf(who);
}

function loginUrl(value: JsonValue): string {
  return memberOf(value, 'type') === 'custom' ? `/${memberOf(value, 'login')}` : 'Default';
}

function awayMode(value: JsonValue): string {
  const of = (name: string) => memberOf(value, name);
  switch (of('type')) {
    case 'period':
      return `${of('from_date')} to ${of('to_date')}`;
    case 'weekly':
      return listOf((value as { readonly weekly?: JsonValue }).weekly ?? null);
    case 'daily':
      return `${of('from_hour')} to ${of('to_hour')} every day`;
    default:
      return 'Off';
  }
}

function pause(value: JsonValue, timeZone: string): string {
  const valid = typeof value === 'number' && value > 0 && value < 8.64e15;
  return valid ? `On until ${localTimestamp(timeZone, Math.floor(value / 1000))}` : 'Off';
}
