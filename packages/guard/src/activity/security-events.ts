import { type AlertKind, alertChannels, alertKinds } from '@security-optimizer/contract/alerts/catalogue';
import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import type { SecurityEvent } from '../security-events.js';
import { type AuditRow, isCommandLine, type JsonValue } from '../settings/audit-store.js';
import type { OutboxEvent } from '../wordpress/outbox.js';

/** Returns the security event of an event of WordPress, or null, as for most events. */
export function toUsersSecurityEvent(event: OutboxEvent): SecurityEvent | null {
  const { uid, kind, user, object, administrator } = event;
  const base = { uid, at: event.at * 1000 };
  const cause = { by: user?.login ?? null, address: event.address === '' ? null : event.address };
  switch (kind) {
    case 'user.created':
    case 'user.role':
      if (!administrator) return null;
      return { ...base, ...cause, kind: 'new-administrator', login: object, promoted: kind === 'user.role' };
    case 'login':
      // Without an address it was no login from elsewhere, but a program on the server.
      if (!administrator || user === null || event.address === '') return null;
      return {
        ...base,
        kind: 'administrator-login',
        userId: user.id,
        login: user.login,
        address: event.address,
        agent: event.agent,
      };
    case 'plugin.installed':
    case 'theme.installed':
    case 'plugin.activated':
    case 'theme.switched':
      return {
        ...{ ...base, ...cause, kind: 'software-added', name: object },
        software: kind.startsWith('plugin.') ? 'plugin' : 'theme',
        action: kind.endsWith('.installed') ? 'installed' : 'activated',
      };
    default:
      return null;
  }
}

/** Whether a change of a setting switches a protection off. */
type IsOff = (before: JsonValue, after: JsonValue) => boolean;

const toZero: IsOff = (before, after) => before !== 0 && after === 0;

/** Protections other than the pause, by the name of their setting. */
const protectionNames: ReadonlyMap<string, { readonly title: string; readonly isOff: IsOff }> = new Map([
  ...siteSecurityToggles.map(({ field, title }) => [field as string, { title, isOff: toZero }] as const),
  ['sg2fa', { title: 'Two-factor Authentication for Admin & Editors Users', isOff: toZero }],
  ['disable_usernames', { title: 'Disable Common Usernames', isOff: toZero }],
  ['login_attempts', { title: 'Limit Login Attempts', isOff: toZero }],
  ['login_access', { title: 'Login Access', isOff: (before, after) => toCount(before) > 0 && toCount(after) === 0 }],
  [
    'login_url',
    {
      title: 'Custom Login URL',
      isOff: (before, after) => toType(before) === 'custom' && toType(after) === 'default',
    },
  ],
  ['weekly_checkup', { title: 'Weekly checkup', isOff: toZero }],
  ['disable_activity_log', { title: 'Activity log', isOff: (before, after) => before === 0 && after === 1 }],
]);

type ChangeEvent = Extract<SecurityEvent, { kind: 'protection-off' | 'alerts-changed' }>;

/** Returns the security events of a change in this product: none, as for most changes, or more. */
export function toSettingSecurityEvents(row: AuditRow): readonly ChangeEvent[] {
  const { id, at, actor, name, before, after } = row;
  const cause = { at, by: isCommandLine(actor) ? null : actor.login, address: actor.address };
  const base = { ...cause, uid: id, kind: 'protection-off' as const };
  if (name === 'paused_until') {
    const isPaused = typeof after === 'number' && after > at;
    return isPaused ? [{ ...base, protection: 'All protections', until: after }] : [];
  }
  const changes = toAlertChanges(row);
  if (changes.length > 0) {
    return changes.map((change) => ({
      ...{ ...cause, ...change, kind: 'alerts-changed' as const },
      uid: `${id}:${change.recipient}`.slice(0, 100),
    }));
  }
  const protection = protectionNames.get(name);
  if (protection === undefined || !protection.isOff(before, after)) return [];
  return [{ ...base, protection: protection.title, until: null }];
}

type AlertChange = Pick<Extract<SecurityEvent, { kind: 'alerts-changed' }>, 'recipient' | 'change'>;

/** Returns who gets fewer alerts by a change of recipients, of their choices, or of a channel. */
function toAlertChanges({ name, before, after }: AuditRow): readonly AlertChange[] {
  if (name === 'notification_emails') {
    const left = toTexts(before).filter((email) => !toTexts(after).includes(email));
    return left.map((recipient) => ({ recipient, change: 'removed' }));
  }
  if (name === 'alert_recipient') {
    const [recipient, kinds] = toChoices(before);
    const [, kept] = toChoices(after);
    if (kinds.every((kind) => kept.includes(kind))) return [];
    return [{ recipient, change: kept.length === 0 ? 'off' : 'fewer' }];
  }
  const channel = alertChannels.find((row) => name === `alert_${row.channel}`)?.channel;
  if (channel === undefined || before === OFF || before === after) return [];
  return [{ recipient: channel, change: after === OFF ? 'off' : 'changed' }];
}

/** The audit log's word for a channel that is off. */
const OFF = 'Off';

function toTexts(value: JsonValue): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Parses the audit log's text of a recipient's choices: `anna@example.com: report, trouble`. */
function toChoices(value: JsonValue): readonly [email: string, kinds: readonly AlertKind[]] {
  const [, email = '', list = ''] = /^(.*): (.*)$/.exec(String(value)) ?? [];
  return [email, alertKinds.map(({ kind }) => kind).filter((kind) => list.split(', ').includes(kind))];
}

function toCount(value: JsonValue): number {
  return Array.isArray(value) ? value.length : 0;
}

function toType(value: JsonValue): JsonValue {
  return (value as { readonly type?: JsonValue } | null)?.type ?? null;
}
