/** A person's rows in guard's main database in alerts, reports and the lists of their recipients. */
import { anonymizeJson } from './person.js';
import { all, parse, run, type Scope, toTime } from './rows.js';

export function listKnownLogins({ database, site, person: { user } }: Scope): object[] {
  if (user?.id == null) return [];
  return all<{ value: string; last_at: number }>(
    database,
    'select value, last_at from alert_known_logins where site = ? and user_id = ? order by last_at',
    site,
    user.id,
  ).map(({ value, last_at }) => ({ from: value, last_at: toTime(last_at) }));
}

export function eraseKnownLogins({ database, site, person: { user } }: Scope): number {
  if (user?.id == null) return 0;
  return run(database, 'delete from alert_known_logins where site = ? and user_id = ?', site, user.id);
}

export function listLockouts({ database, site, person: { address } }: Scope): object[] {
  if (address === null) return [];
  return all<{ at: number; address: string; failures: number }>(
    database,
    'select at, address, failures from alert_lockouts where site = ? and address = ? order by at',
    site,
    address,
  ).map(({ at, ...row }) => ({ at: toTime(at), ...row }));
}

export function eraseLockouts({ database, site, person: { address } }: Scope): number {
  if (address === null) return 0;
  return run(database, 'delete from alert_lockouts where site = ? and address = ?', site, address);
}

export function listAlerts({ database, site, person }: Scope) {
  const rows = all<{ channel: string; uid: string; kind: string; state: string; created_at: number; text: string }>(
    database,
    'select channel, uid, kind, state, created_at, alert as text from alert_queue where site = ? order by created_at',
    site,
  );
  return rows.flatMap((row) => {
    const json = parse(row.text) as object;
    const isRecipient = person.email !== null && row.channel.toLowerCase() === person.email;
    return isRecipient || anonymizeJson(json, person) !== json ? [{ ...row, json }] : [];
  });
}

/** Alerts that have not been sent stay: they may report an attack. */
export function eraseAlerts(scope: Scope): number {
  const { database, site } = scope;
  const rows = listAlerts(scope).filter(({ state }) => state !== 'waiting');
  for (const { channel, uid } of rows) {
    run(database, 'delete from alert_queue where site = ? and channel = ? and uid = ?', site, channel, uid);
  }
  return rows.length;
}

/** Settings that name the person, with the values that do. */
export function listSettings(scope: Scope): { setting: string; value: unknown }[] {
  const { database, site, person } = scope;
  const rows = all<{ name: string; value: string }>(
    database,
    `select name, value from settings where site = ? union all
     select 'alerts' as name, value from alert_settings where site = ?`,
    site,
    site,
  );
  return rows.flatMap(({ name, value }): { setting: string; value: unknown }[] => {
    const parsed = parse(value);
    if (name === 'alerts') {
      const recipients = (parsed as { recipients?: Record<string, unknown> } | null)?.recipients ?? {};
      const own = person.email === null ? undefined : recipients[person.email];
      return own === undefined ? [] : [{ setting: 'alerts: recipients', value: { [person.email ?? '']: own } }];
    }
    if (!Array.isArray(parsed)) return [];
    const own = parsed.filter((each) => anonymizeJson(each, person) !== each);
    return own.length === 0 ? [] : [{ setting: name, value: own }];
  });
}

export function isRecipient(scope: Scope): boolean {
  return listSettings(scope).some(({ setting }) => setting === 'notification_emails' || setting.startsWith('alerts'));
}

export function listReports({ database, site, person: { email } }: Scope): object[] {
  if (email === null) return [];
  return all<{ slot: number; state: string; at: number }>(
    database,
    'select slot, state, at from report_sends where site = ? and lower(email) = ? order by slot',
    site,
    email,
  ).map(({ slot, state, at }) => ({ week_of: toTime(slot), state, at: toTime(at) }));
}

export function eraseReports(scope: Scope): number {
  const { database, site, person } = scope;
  if (person.email === null || isRecipient(scope)) return 0;
  let channels = 0;
  for (const table of ['alert_channels', 'alert_overflow', 'alert_losses']) {
    channels += run(database, `delete from ${table} where site = ? and lower(channel) = ?`, site, person.email);
  }
  return channels + run(database, 'delete from report_sends where site = ? and lower(email) = ?', site, person.email);
}
