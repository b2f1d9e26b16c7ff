import type { TestDatabase } from './database.js';

/** A person in guard's main database, for the commands about personal data. */

export const PERSON = '192.0.2.77';
export const OTHER = '192.0.2.7';
export const EMAIL = 'person@example.com';
export const PASSWORD_HASH = 'a'.repeat(64);
export const SECRET_KEY = 'encrypted-totp-key';

/** Adds rows about a person to every table that has some. */
export async function addPersonRows(db: TestDatabase, now = Date.now()): Promise<void> {
  const factor = { site: 'site', user_id: 7, login: 'Person', secret: SECRET_KEY, key_id: 'k', last_step: 0 };
  await db
    .insertInto('second_factors')
    .values({ ...factor, setup_challenge: null, created_at: now, enabled_at: now })
    .execute();
  await db
    .insertInto('second_factor_devices')
    .values({ site: 'site', token_hash: PASSWORD_HASH, user_id: 7, created_at: now, expires_at: now + 86_400_000 })
    .execute();
  const attempt = { site: 'site', last_failure: now, accounts: '' };
  await db
    .insertInto('login_attempts')
    .values([
      { ...attempt, key: PERSON, failures: 2, locked_until: 0 },
      { ...attempt, key: OTHER, failures: 5, locked_until: now + 3_600_000 },
    ])
    .execute();
  const audit = { site: 'site', at: now, actor_id: 7, actor_login: 'person', address: PERSON, told: 1 };
  await db
    .insertInto('audit')
    .values([
      { ...audit, id: 'one', name: 'disable_feed', before: '0', after: '1' },
      {
        ...{ ...audit, actor_id: 1, actor_login: 'owner', address: OTHER, id: 'two', name: 'block_visitor' },
        ...{ before: 'null', after: JSON.stringify({ kind: 'ip', value: PERSON, name: PERSON }) },
      },
    ])
    .execute();
  const item = { id: 'person', name: 'person', version: '', state: 'done', reason: '', files: [] };
  const others = { ...item, id: 'editor', name: 'editor' };
  const job = {
    actor: { id: 7, login: 'person', address: PERSON },
    cursor: null,
    items: [item, others],
    done: 1,
    total: 1,
  };
  const jobRow = { site: 'site', kind: 'force-password-reset', state: 'done', started_at: now, ended_at: now };
  await db
    .insertInto('jobs')
    .values({ ...jobRow, id: 'job', job: JSON.stringify({ ...job, summary: [], error: '' }) })
    .execute();
  const removed = {
    site: 'site',
    checked: 'uploads' as const,
    path: '',
    state: '',
    at: now,
    mode: 420,
    changed_at: 0,
    size: 1,
  };
  await db
    .insertInto('removed_files')
    .values([
      { ...removed, id: 'one', file: '/uploads/a.php', login: 'Person', content: btoa('a') },
      { ...removed, id: 'two', file: '/uploads/b.php', login: 'owner', content: btoa('b') },
    ])
    .execute();
  const alert = {
    site: 'site',
    channel: EMAIL,
    kind: 'administrator-login',
    state: 'sent' as const,
    created_at: now,
    done_at: now,
  };
  await db
    .insertInto('alert_queue')
    .values({ ...alert, uid: 'u', alert: JSON.stringify({ login: 'person', address: PERSON }) })
    .execute();
  await db
    .insertInto('alert_known_logins')
    .values({ site: 'site', user_id: 7, value: 'network:192.0.2.0/24', last_at: now })
    .execute();
  const report = { site: 'site', email: EMAIL, slot: now, state: 'sent', tries: 1, at: now };
  await db
    .insertInto('report_sends')
    .values({ ...report, next_at: null, reason: null })
    .execute();
}
