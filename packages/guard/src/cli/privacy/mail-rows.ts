/** A person's rows in guard's main database in alerts, reports and the lists of their recipients. */
import { anonymizeJson } from './person.js';
import { countChanged, lower, parse, type Scope, toTime } from './rows.js';

export async function listKnownLogins({ db, site, person: { user } }: Scope): Promise<object[]> {
  if (user?.id == null) return [];
  const rows = await db
    .selectFrom('alert_known_logins')
    .select(['value', 'last_at'])
    .where('site', '=', site)
    .where('user_id', '=', user.id)
    .orderBy('last_at')
    .execute();
  return rows.map(({ value, last_at }) => ({ from: value, last_at: toTime(last_at) }));
}

export async function eraseKnownLogins({ db, site, person: { user } }: Scope): Promise<number> {
  if (user?.id == null) return 0;
  return await countChanged(
    db.deleteFrom('alert_known_logins').where('site', '=', site).where('user_id', '=', user.id),
  );
}

export async function listLockouts({ db, site, person: { address } }: Scope): Promise<object[]> {
  if (address === null) return [];
  const rows = await db
    .selectFrom('alert_lockouts')
    .select(['at', 'address', 'failures'])
    .where('site', '=', site)
    .where('address', '=', address)
    .orderBy('at')
    .execute();
  return rows.map(({ at, ...row }) => ({ at: toTime(at), ...row }));
}

export async function eraseLockouts({ db, site, person: { address } }: Scope): Promise<number> {
  if (address === null) return 0;
  return await countChanged(db.deleteFrom('alert_lockouts').where('site', '=', site).where('address', '=', address));
}

export async function listAlerts({ db, site, person }: Scope) {
  const rows = await db
    .selectFrom('alert_queue')
    .select(['channel', 'uid', 'kind', 'state', 'created_at', 'alert as text'])
    .where('site', '=', site)
    .orderBy('created_at')
    .execute();
  return rows.flatMap((row) => {
    const json = parse(row.text) as object;
    const isRecipient = person.email !== null && row.channel.toLowerCase() === person.email;
    return isRecipient || anonymizeJson(json, person) !== json ? [{ ...row, json }] : [];
  });
}

/** Alerts that have not been sent stay: they may report an attack. */
export async function eraseAlerts(scope: Scope): Promise<number> {
  const { db, site } = scope;
  const rows = (await listAlerts(scope)).filter(({ state }) => state !== 'waiting');
  for (const { channel, uid } of rows) {
    await db
      .deleteFrom('alert_queue')
      .where('site', '=', site)
      .where('channel', '=', channel)
      .where('uid', '=', uid)
      .execute();
  }
  return rows.length;
}

/** Settings that name the person, with the values that do. */
export async function listSettings(scope: Scope): Promise<{ setting: string; value: unknown }[]> {
  const { db, site, person } = scope;
  const settings = await db.selectFrom('settings').select(['name', 'value']).where('site', '=', site).execute();
  const alerts = await db.selectFrom('alert_settings').select('value').where('site', '=', site).execute();
  const rows = [...settings, ...alerts.map(({ value }) => ({ name: 'alerts', value }))];
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

export async function isRecipient(scope: Scope): Promise<boolean> {
  return (await listSettings(scope)).some(
    ({ setting }) => setting === 'notification_emails' || setting.startsWith('alerts'),
  );
}

export async function listReports({ db, site, person: { email } }: Scope): Promise<object[]> {
  if (email === null) return [];
  const rows = await db
    .selectFrom('report_sends')
    .select(['slot', 'state', 'at'])
    .where('site', '=', site)
    .where(lower('email'), '=', email)
    .orderBy('slot')
    .execute();
  return rows.map(({ slot, state, at }) => ({ week_of: toTime(slot), state, at: toTime(at) }));
}

const BY_CHANNEL = ['alert_channels', 'alert_overflow', 'alert_losses'] as const;

export async function eraseReports(scope: Scope): Promise<number> {
  const { db, site, person } = scope;
  if (person.email === null || (await isRecipient(scope))) return 0;
  let erased = 0;
  for (const table of BY_CHANNEL) {
    erased += await countChanged(
      db.deleteFrom(table).where('site', '=', site).where(lower('channel'), '=', person.email),
    );
  }
  const sends = db.deleteFrom('report_sends').where('site', '=', site).where(lower('email'), '=', person.email);
  return erased + (await countChanged(sends));
}
