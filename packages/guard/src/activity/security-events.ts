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
  ['disable_activity_log', { title: 'Activity log', isOff: (before, after) => before === 0 && after === 1 }],
]);

/** Returns the security event of a change in this product, or null. */
export function toSettingSecurityEvent(row: AuditRow): Extract<SecurityEvent, { kind: 'protection-off' }> | null {
  const { id, at, actor, name, before, after } = row;
  const base = {
    uid: id,
    at,
    by: isCommandLine(actor) ? null : actor.login,
    address: actor.address,
    kind: 'protection-off' as const,
  };
  if (name === 'paused_until') {
    const isPaused = typeof after === 'number' && after > at;
    return isPaused ? { ...base, protection: 'All protections', until: after } : null;
  }
  const protection = protectionNames.get(name);
  if (protection === undefined || !protection.isOff(before, after)) return null;
  return { ...base, protection: protection.title, until: null };
}

function toCount(value: JsonValue): number {
  return Array.isArray(value) ? value.length : 0;
}

function toType(value: JsonValue): JsonValue {
  return (value as { readonly type?: JsonValue } | null)?.type ?? null;
}
