/**
 * A person's rows in guard's main database: the record of changes, jobs and findings of checkups. These rows stay,
 * without the name.
 */
import { randomUUID } from 'node:crypto';
import { COMMAND_LINE_ACTOR } from '../../settings/audit-store.js';
import { anonymizeJson, anonymizeJsonText, type Person, placeholders, selectNamed } from './person.js';
import { all, parse, run, type Scope, toTime } from './rows.js';

interface AuditRow {
  readonly id: string;
  readonly at: number;
  readonly actor_id: number | null;
  readonly actor_login: string;
  readonly address: string | null;
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** The whole value of a login's change is the login. */
function toMember(name: string): string {
  return name.startsWith('username:') ? 'login' : '';
}

function isActor({ actor_id, actor_login }: AuditRow, { user }: Person): boolean {
  if (user === null) return false;
  return (
    (user.id !== null && actor_id === user.id) || (actor_id !== null && user.logins.includes(actor_login.toLowerCase()))
  );
}

export function listAudit({ database, site, person }: Scope): AuditRow[] {
  const rows = all<AuditRow>(
    database,
    'select id, at, actor_id, actor_login, address, name, before, after from audit where site = ? order by at',
    site,
  );
  return rows.filter(
    (row) =>
      isActor(row, person) ||
      (person.address !== null && row.address === person.address) ||
      anonymizeJsonText(row.before, person, toMember(row.name)) !== null ||
      anonymizeJsonText(row.after, person, toMember(row.name)) !== null,
  );
}

/** A change by the person in full; of a change by somebody else only what names the person. */
export function toExportedChange(row: AuditRow, person: Person): object {
  const { at, actor_login, address, name } = row;
  const [before, after] = [parse(row.before), parse(row.after)];
  if (isActor(row, person)) return { at: toTime(at), name, by: actor_login, address, before, after };
  const key = toMember(name);
  return {
    at: toTime(at),
    name,
    ...(address !== null && address === person.address ? { address } : {}),
    before: selectNamed(before, person, key),
    after: selectNamed(after, person, key),
  };
}

export function anonymizeAudit(scope: Scope): number {
  const { database, person } = scope;
  const rows = listAudit(scope);
  for (const row of rows) {
    const actor = isActor(row, person) ? { id: 0, login: '' } : { id: row.actor_id, login: row.actor_login };
    run(
      database,
      'update audit set actor_id = ?, actor_login = ?, address = ?, name = ?, before = ?, after = ? where id = ?',
      actor.id,
      actor.login,
      // The address of a change belongs to the user who made it.
      row.address === person.address || actor.login !== row.actor_login ? null : row.address,
      row.name === `username:${person.user?.id}` ? 'username:0' : row.name,
      anonymizeJsonText(row.before, person, toMember(row.name)) ?? row.before,
      anonymizeJsonText(row.after, person, toMember(row.name)) ?? row.after,
      row.id,
    );
  }
  return rows.length;
}

/** Records that an erasure took place, without naming the person. The Activity Log does not list it. */
export function addAuditRow({ database, site, now }: Scope, rows: number): void {
  run(
    database,
    `insert into audit (id, site, at, actor_id, actor_login, address, name, before, after, told)
     values (?, ?, ?, null, ?, null, 'personal_data_erased', 'null', ?, 1)`,
    randomUUID(),
    site,
    now,
    COMMAND_LINE_ACTOR.login,
    JSON.stringify({ rows }),
  );
}

interface JsonRow {
  readonly id: string;
  readonly json: object;
  readonly anonymized: object;
}

function withJson<Row extends { readonly text: string | null }>(
  rows: readonly Row[],
  person: Person,
): (Row & Omit<JsonRow, 'id'>)[] {
  return rows.flatMap((row) => {
    const json = parse(row.text ?? 'null');
    const anonymized = anonymizeJson(json, person);
    return anonymized === json ? [] : [{ ...row, json: json as object, anonymized: anonymized as object }];
  });
}

export function listJobs({ database, site, person }: Scope) {
  const rows = all<{ id: string; kind: string; state: string; started_at: number; text: string }>(
    database,
    'select id, kind, state, started_at, job as text from jobs where site = ? order by started_at',
    site,
  );
  return withJson(rows, person);
}

/** Guard holds a running job in memory and stores it again, so such a job is skipped. */
export function anonymizeJobs(scope: Scope): number {
  const rows = listJobs(scope).filter(({ state }) => state !== 'running');
  for (const { id, anonymized } of rows) {
    run(scope.database, 'update jobs set job = ? where id = ?', JSON.stringify(anonymized), id);
  }
  return rows.length;
}

export function listCheckups({ database, site, person }: Scope) {
  const rows = all<{ id: string; at: number; text: string | null }>(
    database,
    'select id, at, result as text from checkups where site = ? and result is not null order by at',
    site,
  );
  return withJson(rows, person);
}

export function anonymizeCheckups(scope: Scope): number {
  const rows = listCheckups(scope);
  for (const { id, anonymized } of rows) {
    run(scope.database, 'update checkups set result = ? where id = ?', JSON.stringify(anonymized), id);
  }
  return rows.length;
}

/** Tables that name the user of a row by the login alone. */
type TableWithLogin = 'checkup_kept' | 'removed_files';

function listByLogin<Row>({ database, site, person: { user } }: Scope, table: TableWithLogin, column: string): Row[] {
  if (user === null || user.logins.length === 0) return [];
  return all(
    database,
    `select ${column}, at, login from ${table} where site = ? and lower(login) in (${placeholders(user.logins)})`,
    site,
    ...user.logins,
  );
}

function anonymizeLogin({ database, site, person: { user } }: Scope, table: TableWithLogin): number {
  if (user === null || user.logins.length === 0) return 0;
  return run(
    database,
    `update ${table} set login = '' where site = ? and lower(login) in (${placeholders(user.logins)})`,
    site,
    ...user.logins,
  );
}

export function listCheckupMarks(scope: Scope): { key: string; at: number; login: string }[] {
  return listByLogin(scope, 'checkup_kept', 'key');
}

export function anonymizeCheckupMarks(scope: Scope): number {
  return anonymizeLogin(scope, 'checkup_kept');
}

/** Files that the person removed after a checkup. */
export function listRemovedFiles(scope: Scope): { file: string; at: number; login: string }[] {
  return listByLogin(scope, 'removed_files', 'file');
}

export function anonymizeRemovedFiles(scope: Scope): number {
  return anonymizeLogin(scope, 'removed_files');
}
