import { type Kysely, sql } from 'kysely';
import type { SiteId } from '../../site.js';
import { inTransaction, usesPostgres } from '../../storage/database.js';
import { vacuumSiteTables } from '../erase-from-postgres.js';
import {
  addAuditRow,
  anonymizeAudit,
  anonymizeCheckupMarks,
  anonymizeCheckups,
  anonymizeJobs,
  anonymizeRemovedFiles,
  listAudit,
  listCheckupMarks,
  listCheckups,
  listJobs,
  listRemovedFiles,
  toExportedChange,
} from './change-rows.js';
import {
  anonymizeBlocks,
  eraseAttempts,
  eraseChallenges,
  eraseTrustedBrowsers,
  isOwnKey,
  listAttempts,
  listBlocks,
  listChallenges,
  listFactors,
  listTrustedBrowsers,
} from './login-rows.js';
import {
  eraseAlerts,
  eraseKnownLogins,
  eraseLockouts,
  eraseReports,
  isRecipient,
  listAlerts,
  listKnownLogins,
  listLockouts,
  listReports,
  listSettings,
} from './mail-rows.js';
import { type Erasure, selectNamed, toLoginKeys } from './person.js';
import { lower, type MainDatabase, type Scope, toTime } from './rows.js';

/** Rows of the main database that concern one person, by kind; readable, without keys, hashes and secrets. */
type MainData = Readonly<Record<string, readonly object[]>>;

/** Reads everything about a person in guard's main database. Changes nothing. */
export async function readMainData(scope: Scope): Promise<MainData> {
  return {
    two_factor: await listFactors(scope),
    trusted_browsers: await listTrustedBrowsers(scope),
    logins_in_progress: await listChallenges(scope),
    failed_logins: (await listAttempts(scope)).map(({ key, failures, locked_until, last_failure }) => ({
      // Others tried to log in as the user. The export does not disclose their address.
      ...(isOwnKey(key, scope.person) ? { key } : {}),
      failures,
      locked_until: toTime(locked_until),
      last_failure: toTime(last_failure),
    })),
    blocks: (await listBlocks(scope)).map(({ kind, name, note, created_at, by_login, until }) => ({
      kind,
      name,
      note,
      blocked_at: toTime(created_at),
      blocked_by: by_login,
      until: toTime(until),
    })),
    changes: (await listAudit(scope)).map((row) => toExportedChange(row, scope.person)),
    jobs: (await listJobs(scope)).map(({ kind, state, started_at, json }) => ({
      kind,
      state,
      started_at: toTime(started_at),
      named: selectNamed(json, scope.person),
    })),
    checkup_findings: (await listCheckups(scope)).map(({ at, json }) => ({
      at: toTime(at),
      named: selectNamed(json, scope.person),
    })),
    checkup_marks: (await listCheckupMarks(scope)).map(({ key, at, login }) => ({
      finding: key,
      at: toTime(at),
      by: login,
    })),
    removed_files: (await listRemovedFiles(scope)).map(({ file, at, login }) => ({ file, at: toTime(at), by: login })),
    known_logins: await listKnownLogins(scope),
    lockouts: await listLockouts(scope),
    alerts: (await listAlerts(scope)).map(({ channel, kind, state, created_at, json }) => ({
      ...(channel.toLowerCase() === scope.person.email ? { channel } : {}),
      kind,
      state,
      created_at: toTime(created_at),
      named: selectNamed(json, scope.person),
    })),
    settings: await listSettings(scope),
    reports: await listReports(scope),
  };
}

/**
 * Erases a person from guard's main database, in one transaction. What currently protects the site, and what its owner
 * has configured, stays and is listed.
 */
export async function eraseMainData({ db, ...rest }: Scope): Promise<Erasure> {
  return inTransaction(db, rest.site, async (transaction) => {
    const scope = { ...rest, db: transaction };
    const others = {
      trusted_browsers: await eraseTrustedBrowsers(scope),
      logins_in_progress: await eraseChallenges(scope),
      blocks: await anonymizeBlocks(scope),
      changes: await anonymizeAudit(scope),
      jobs: await anonymizeJobs(scope),
      checkup_findings: await anonymizeCheckups(scope),
      checkup_marks: await anonymizeCheckupMarks(scope),
      removed_files: await anonymizeRemovedFiles(scope),
      known_logins: await eraseKnownLogins(scope),
      lockouts: await eraseLockouts(scope),
      alerts: await eraseAlerts(scope),
      reports: await eraseReports(scope),
    };
    // Last: it takes the next version of the site.
    const erased = { ...others, failed_logins: await eraseAttempts(scope) };
    const count = Object.values(erased).reduce((sum, rows) => sum + rows, 0);
    if (count > 0) await addAuditRow(scope, count);
    return { erased, kept: await listKept(scope) };
  });
}

/** Whether an active block names the address itself, not a range around it. */
export async function isAddressBlocked(scope: Scope): Promise<boolean> {
  if (scope.person.address === null) return false;
  return (await listBlocks(scope)).some(({ isBlocker, kind }) => !isBlocker && kind === 'ip');
}

/** The tables whose rows have both number and login of a user, with the columns' names. */
const USERS = [
  { table: 'second_factors', id: 'user_id', login: 'login' },
  { table: 'second_factor_challenges', id: 'user_id', login: 'login' },
  { table: 'audit', id: 'actor_id', login: 'actor_login' },
  { table: 'blocked_visitors', id: 'by_id', login: 'by_login' },
] as const;

/** Users with a login or a number, in rows that have both. */
export async function findStoredUsers(
  db: MainDatabase,
  site: SiteId,
  name: string,
): Promise<{ id: number; login: string }[]> {
  const number = /^[1-9]\d{0,14}$/.test(name) ? Number(name) : -1;
  const tables = db as unknown as Kysely<Record<string, Record<string, unknown>>>;
  const found: { id: number; login: string }[] = [];
  for (const { table, id, login } of USERS) {
    const rows = await tables
      .selectFrom(table)
      .select([`${id} as id`, `${login} as login`])
      .distinct()
      .where('site', '=', site)
      .where(id, '>', 0)
      .where((is) => is.or([is(lower(login), '=', name.toLowerCase()), is(id, '=', number)]))
      .execute();
    found.push(...(rows as { id: number; login: string }[]));
  }
  return found;
}

/**
 * Deletes the rows that told a running guard to drop failed logins: guard has read them by now, and they name the
 * address.
 */
export async function forgetUnlocks({ db, site, person }: Scope): Promise<void> {
  const keys = person.address === null ? [] : toLoginKeys(person.address);
  if (keys.length === 0) return;
  await db.deleteFrom('login_unlocks').where('site', '=', site).where('key', 'in', keys).execute();
}

/** Removes what the database keeps of erased rows as far as it can: the log of SQLite, the dead rows of PostgreSQL. */
export async function removeRemains(db: MainDatabase): Promise<void> {
  if (usesPostgres(db)) await vacuumSiteTables(db);
  else await sql`pragma wal_checkpoint(truncate)`.execute(db);
}

async function listKept(scope: Scope): Promise<string[]> {
  const { now, person } = scope;
  return [
    ...(await listBlocks(scope))
      .filter(({ isBlocker }) => !isBlocker)
      .map(({ name, until }) =>
        until === null
          ? `${name} is blocked. \`unblock\` ends it.`
          : `${name} is blocked until ${toTime(until)}. \`unblock\` ends it.`,
      ),
    ...(await listAttempts(scope))
      .filter(({ locked_until }) => locked_until > now)
      .map(
        ({ key, locked_until }) =>
          `${key} is locked by failed logins until ${toTime(locked_until)}. \`unblock\` ends it.`,
      ),
    ...(await listFactors(scope)).map(
      ({ login }) =>
        `${login} has a second factor, without which the password alone would do. \`two-factor reset\` removes it.`,
    ),
    ...(await listSettings(scope)).map(
      ({ setting }) => `The setting ${setting} names the person. It is the owner’s to change.`,
    ),
    ...(await listJobs(scope))
      .filter(({ state }) => state === 'running')
      .map(({ kind }) => `The job ${kind} runs. Erase again when it has ended.`),
    ...(await listAlerts(scope))
      .filter(({ state }) => state === 'waiting')
      .map(({ kind }) => `An alert (${kind}) waits to be sent. Erase again when it has been.`),
    ...((await listReports(scope)).length > 0 && (await isRecipient(scope))
      ? [`${person.email} gets the weekly report: which ones were sent is kept, so that none is sent twice.`]
      : []),
  ];
}
