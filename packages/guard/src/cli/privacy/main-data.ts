import type { SiteId } from '../../site.js';
import type { SqliteDatabase } from '../../storage/sqlite.js';
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
import { type Erasure, inTransaction, placeholders, selectNamed, toLoginKeys } from './person.js';
import { all, run, type Scope, toTime } from './rows.js';

/** Rows of `guard.sqlite` that concern one person, by kind; readable, without keys, hashes and secrets. */
type MainData = Readonly<Record<string, readonly object[]>>;

/** Reads everything about a person in guard's main database. Changes nothing. */
export function readMainData(scope: Scope): MainData {
  return {
    two_factor: listFactors(scope),
    trusted_browsers: listTrustedBrowsers(scope),
    logins_in_progress: listChallenges(scope),
    failed_logins: listAttempts(scope).map(({ key, failures, locked_until, last_failure }) => ({
      // Others tried to log in as the user. The export does not disclose their address.
      ...(isOwnKey(key, scope.person) ? { key } : {}),
      failures,
      locked_until: toTime(locked_until),
      last_failure: toTime(last_failure),
    })),
    blocks: listBlocks(scope).map(({ kind, name, note, created_at, by_login, until }) => ({
      kind,
      name,
      note,
      blocked_at: toTime(created_at),
      blocked_by: by_login,
      until: toTime(until),
    })),
    changes: listAudit(scope).map((row) => toExportedChange(row, scope.person)),
    jobs: listJobs(scope).map(({ kind, state, started_at, json }) => ({
      kind,
      state,
      started_at: toTime(started_at),
      named: selectNamed(json, scope.person),
    })),
    checkup_findings: listCheckups(scope).map(({ at, json }) => ({
      at: toTime(at),
      named: selectNamed(json, scope.person),
    })),
    checkup_marks: listCheckupMarks(scope).map(({ key, at, login }) => ({ finding: key, at: toTime(at), by: login })),
    removed_files: listRemovedFiles(scope).map(({ file, at, login }) => ({ file, at: toTime(at), by: login })),
    known_logins: listKnownLogins(scope),
    lockouts: listLockouts(scope),
    alerts: listAlerts(scope).map(({ channel, kind, state, created_at, json }) => ({
      ...(channel.toLowerCase() === scope.person.email ? { channel } : {}),
      kind,
      state,
      created_at: toTime(created_at),
      named: selectNamed(json, scope.person),
    })),
    settings: listSettings(scope),
    reports: listReports(scope),
  };
}

/**
 * Erases a person from guard's main database, in one transaction. What currently protects the site, and what its owner
 * has configured, stays and is listed.
 */
export function eraseMainData(scope: Scope): Erasure {
  return inTransaction(scope.database, () => {
    const erased = {
      trusted_browsers: eraseTrustedBrowsers(scope),
      logins_in_progress: eraseChallenges(scope),
      failed_logins: eraseAttempts(scope),
      blocks: anonymizeBlocks(scope),
      changes: anonymizeAudit(scope),
      jobs: anonymizeJobs(scope),
      checkup_findings: anonymizeCheckups(scope),
      checkup_marks: anonymizeCheckupMarks(scope),
      removed_files: anonymizeRemovedFiles(scope),
      known_logins: eraseKnownLogins(scope),
      lockouts: eraseLockouts(scope),
      alerts: eraseAlerts(scope),
      reports: eraseReports(scope),
    };
    const count = Object.values(erased).reduce((sum, rows) => sum + rows, 0);
    if (count > 0) addAuditRow(scope, count);
    return { erased, kept: listKept(scope) };
  });
}

/** Whether an active block names the address itself, not a range around it. */
export function isAddressBlocked(scope: Scope): boolean {
  return scope.person.address !== null && listBlocks(scope).some(({ isBlocker, kind }) => !isBlocker && kind === 'ip');
}

/** Users with a login or a number, in rows that have both. */
export function findStoredUsers(database: SqliteDatabase, site: SiteId, name: string): { id: number; login: string }[] {
  const id = /^[1-9]\d{0,14}$/.test(name) ? Number(name) : -1;
  return all(
    database,
    `select user_id as id, login from second_factors where site = ?1 and (lower(login) = ?2 or user_id = ?3)
     union select user_id, login from second_factor_challenges where site = ?1 and (lower(login) = ?2 or user_id = ?3)
     union select actor_id, actor_login from audit
       where site = ?1 and actor_id is not null and actor_id > 0 and (lower(actor_login) = ?2 or actor_id = ?3)
     union select by_id, by_login from blocked_visitors
       where site = ?1 and by_id is not null and by_id > 0 and (lower(by_login) = ?2 or by_id = ?3)`,
    site,
    name.toLowerCase(),
    id,
  );
}

/**
 * Deletes the rows that told a running guard to drop failed logins: guard has read them by now, and they name the
 * address.
 */
export function forgetUnlocks({ database, site, person }: Scope): void {
  const keys = person.address === null ? [] : toLoginKeys(person.address);
  if (keys.length === 0) return;
  run(database, `delete from login_unlocks where site = ? and key in (${placeholders(keys)})`, site, ...keys);
}

function listKept(scope: Scope): string[] {
  const { now, person } = scope;
  return [
    ...listBlocks(scope)
      .filter(({ isBlocker }) => !isBlocker)
      .map(({ name, until }) =>
        until === null
          ? `${name} is blocked. \`unblock\` ends it.`
          : `${name} is blocked until ${toTime(until)}. \`unblock\` ends it.`,
      ),
    ...listAttempts(scope)
      .filter(({ locked_until }) => locked_until > now)
      .map(
        ({ key, locked_until }) =>
          `${key} is locked by failed logins until ${toTime(locked_until)}. \`unblock\` ends it.`,
      ),
    ...listFactors(scope).map(
      ({ login }) =>
        `${login} has a second factor, without which the password alone would do. \`two-factor reset\` removes it.`,
    ),
    ...listSettings(scope).map(
      ({ setting }) => `The setting ${setting} names the person. It is the owner’s to change.`,
    ),
    ...listJobs(scope)
      .filter(({ state }) => state === 'running')
      .map(({ kind }) => `The job ${kind} runs. Erase again when it has ended.`),
    ...listAlerts(scope)
      .filter(({ state }) => state === 'waiting')
      .map(({ kind }) => `An alert (${kind}) waits to be sent. Erase again when it has been.`),
    ...(listReports(scope).length > 0 && isRecipient(scope)
      ? [`${person.email} gets the weekly report: which ones were sent is kept, so that none is sent twice.`]
      : []),
  ];
}
