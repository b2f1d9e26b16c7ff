/**
 * A person's rows in guard's main database: the record of changes, jobs and findings of checkups. These rows stay,
 * without the name.
 */
import { randomUUID } from 'node:crypto';
import { COMMAND_LINE_ACTOR } from '../../settings/audit-store.js';
import { anonymizeJson, anonymizeJsonText, type Person, selectNamed } from './person.js';
import { countChanged, lower, parse, type Scope, toTime } from './rows.js';

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

export async function listAudit({ db, site, person }: Scope): Promise<AuditRow[]> {
  const rows = await db
    .selectFrom('audit')
    .select(['id', 'at', 'actor_id', 'actor_login', 'address', 'name', 'before', 'after'])
    .where('site', '=', site)
    .orderBy('at')
    .execute();
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

export async function anonymizeAudit(scope: Scope): Promise<number> {
  const { db, person } = scope;
  const rows = await listAudit(scope);
  for (const row of rows) {
    const actor = isActor(row, person) ? { id: 0, login: '' } : { id: row.actor_id, login: row.actor_login };
    await db
      .updateTable('audit')
      .set({
        actor_id: actor.id,
        actor_login: actor.login,
        // The address of a change belongs to the user who made it.
        address: row.address === person.address || actor.login !== row.actor_login ? null : row.address,
        name: row.name === `username:${person.user?.id}` ? 'username:0' : row.name,
        before: anonymizeJsonText(row.before, person, toMember(row.name)) ?? row.before,
        after: anonymizeJsonText(row.after, person, toMember(row.name)) ?? row.after,
      })
      .where('id', '=', row.id)
      .execute();
  }
  return rows.length;
}

/** Records that an erasure took place, without naming the person. The Activity Log does not list it. */
export async function addAuditRow({ db, site, now }: Scope, rows: number): Promise<void> {
  await db
    .insertInto('audit')
    .values({
      ...{ id: randomUUID(), site, at: now, actor_id: null, actor_login: COMMAND_LINE_ACTOR.login, address: null },
      ...{ name: 'personal_data_erased', before: 'null', after: JSON.stringify({ rows }), told: 1 },
    })
    .execute();
}

interface JsonRow {
  readonly json: object;
  readonly anonymized: object;
}

function withJson<Row extends { readonly text: string | null }>(
  rows: readonly Row[],
  person: Person,
): (Row & JsonRow)[] {
  return rows.flatMap((row) => {
    const json = parse(row.text ?? 'null');
    const anonymized = anonymizeJson(json, person);
    return anonymized === json ? [] : [{ ...row, json: json as object, anonymized: anonymized as object }];
  });
}

export async function listJobs({ db, site, person }: Scope) {
  const rows = await db
    .selectFrom('jobs')
    .select(['id', 'kind', 'state', 'started_at', 'job as text'])
    .where('site', '=', site)
    .orderBy('started_at')
    .execute();
  return withJson(rows, person);
}

/** Guard holds a running job in memory and stores it again, so such a job is skipped. */
export async function anonymizeJobs(scope: Scope): Promise<number> {
  const rows = (await listJobs(scope)).filter(({ state }) => state !== 'running');
  for (const { id, anonymized } of rows) {
    await scope.db
      .updateTable('jobs')
      .set({ job: JSON.stringify(anonymized) })
      .where('id', '=', id)
      .execute();
  }
  return rows.length;
}

export async function listCheckups({ db, site, person }: Scope) {
  const rows = await db
    .selectFrom('checkups')
    .select(['id', 'at', 'result as text'])
    .where('site', '=', site)
    .where('result', 'is not', null)
    .orderBy('at')
    .execute();
  return withJson(rows, person);
}

export async function anonymizeCheckups(scope: Scope): Promise<number> {
  const rows = await listCheckups(scope);
  for (const { id, anonymized } of rows) {
    await scope.db
      .updateTable('checkups')
      .set({ result: JSON.stringify(anonymized) })
      .where('id', '=', id)
      .execute();
  }
  return rows.length;
}

/** Findings of checkups that the person marked; the row names the user by the login alone. */
export async function listCheckupMarks({ db, site, person: { user } }: Scope) {
  if (user === null || user.logins.length === 0) return [];
  return await db
    .selectFrom('checkup_kept')
    .select(['key', 'at', 'login'])
    .where('site', '=', site)
    .where(lower('login'), 'in', user.logins)
    .execute();
}

export async function anonymizeCheckupMarks({ db, site, person: { user } }: Scope): Promise<number> {
  if (user === null || user.logins.length === 0) return 0;
  return await countChanged(
    db.updateTable('checkup_kept').set({ login: '' }).where('site', '=', site).where(lower('login'), 'in', user.logins),
  );
}

/** Files that the person removed after a checkup; the row names the user by the login alone. */
export async function listRemovedFiles({ db, site, person: { user } }: Scope) {
  if (user === null || user.logins.length === 0) return [];
  return await db
    .selectFrom('removed_files')
    .select(['file', 'at', 'login'])
    .where('site', '=', site)
    .where(lower('login'), 'in', user.logins)
    .execute();
}

export async function anonymizeRemovedFiles({ db, site, person: { user } }: Scope): Promise<number> {
  if (user === null || user.logins.length === 0) return 0;
  return await countChanged(
    db
      .updateTable('removed_files')
      .set({ login: '' })
      .where('site', '=', site)
      .where(lower('login'), 'in', user.logins),
  );
}
