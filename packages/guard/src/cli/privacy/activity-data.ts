import { ALL_KINDS, type LeadingTarget, toAddressKey, toSecond, toUserId, toUserKey } from '../../activity/index.js';
import type { SiteId } from '../../site.js';
import type { SqliteDatabase } from '../../storage/sqlite.js';
import { CommandError } from '../command.js';
import {
  anonymizeText,
  ERASED,
  type Erasure,
  inTransaction,
  type Person,
  placeholders,
  toLoginNames,
} from './person.js';
import { all, run } from './rows.js';

/** Rows of the Activity Log that concern one person, by kind. */
type ActivityData = Readonly<Record<string, readonly object[]>>;

interface Scope {
  readonly database: SqliteDatabase;
  /** The number of the site in this database. */
  readonly site: number;
  readonly person: Person;
}

/**
 * The number of a site in the Activity Log; null when the log has no entries of the site.
 * @throws CommandError for tables of an older release
 */
export function findSiteNumber(database: SqliteDatabase, site: SiteId): number | null {
  const hasTable = database.prepare(`select 1 from sqlite_master where name = ?`);
  if (hasTable.get('activity_sites') === undefined) return null;
  // The newest column that is read here.
  const column = database.prepare(`select 1 from pragma_table_info('attackers') where name = 'targets'`);
  if (column.get() === undefined) {
    throw new CommandError(
      'The Activity Log is one of an older release. Start guard once, which brings it up to date.',
    );
  }
  const row = database.prepare('select id from activity_sites where site = ?').get(site) as { id: number } | undefined;
  return row?.id ?? null;
}

/** Users in the Activity Log with a login or a number. */
export function findLoggedUsers(database: SqliteDatabase, site: number, name: string): { id: number; login: string }[] {
  const rows = database
    .prepare(`select key, name from visitors where site = ? and kind = 'user' and (lower(name) = ? or key = ?)`)
    .all(site, name.toLowerCase(), toUserKey(/^[1-9]\d{0,14}$/.test(name) ? Number(name) : 0)) as {
    key: Uint8Array;
    name: string;
  }[];
  return rows.map((row) => ({ id: toUserId(row.key), login: row.name }));
}

/** Reads everything about a person in the Activity Log. Changes nothing. */
export function readActivityData(scope: Scope): ActivityData {
  return {
    visitors: listVisitors(scope).map(({ kind, name, hostname, first_seen, last_seen }) => ({
      kind,
      name,
      hostname,
      first_seen: toTime(first_seen),
      last_seen: toTime(last_seen),
    })),
    visits: listVisits(scope),
    events: listEvents(scope).map(({ object, before, after, ...row }) => ({
      at: toTime(toSecond(row.id)),
      kind: row.kind,
      // The export does not disclose who else did it, and from where.
      login: concernsPerson(row, scope.person) ? row.login : '',
      address: concernsPerson(row, scope.person) || row.address === scope.person.address ? row.address : '',
      object,
      before,
      after,
      origin: row.origin,
    })),
    most_frequent: listTops(scope),
    attackers: listAttackers(scope),
  };
}

/**
 * Erases a person from the Activity Log, in one transaction. Visits of the address and events of the user are deleted.
 * Other events stay without the address. Counts that name nobody stay.
 *
 * @param isBlocked whether a block names the address: then the entry of its visitor is kept for the block
 */
export function eraseActivityData(scope: Scope & { readonly isBlocked: boolean }): Erasure {
  return inTransaction(scope.database, () => {
    const visits = eraseVisits(scope) + eraseTriedLogins(scope);
    const events = eraseEvents(scope);
    const tops = eraseTops(scope);
    const attackers = eraseAttackers(scope);
    return { erased: { visits, events, most_frequent: tops, attackers, visitors: eraseVisitors(scope) }, kept: [] };
  });
}

interface VisitorRow {
  readonly id: number;
  readonly kind: 'ip' | 'user';
  readonly name: string;
  readonly hostname: string | null;
  readonly first_seen: number;
  readonly last_seen: number;
}

function listVisitors({ database, site, person: { address, user } }: Scope): VisitorRow[] {
  return all<VisitorRow>(
    database,
    `select id, kind, name, hostname, first_seen, last_seen from visitors
     where site = ? and ((kind = 'ip' and key = ?) or (kind = 'user' and key = ?))`,
    site,
    address === null ? new Uint8Array() : toAddressKey(address),
    user?.id == null ? new Uint8Array() : toUserKey(user.id),
  );
}

function listAddressIds(scope: Scope): number[] {
  return listVisitors(scope).flatMap((row) => (row.kind === 'ip' ? [row.id] : []));
}

function listVisits(scope: Scope): object[] {
  const { database, site, person } = scope;
  const ids = listAddressIds(scope);
  const logins = toLoginNames(person);
  const rows = all<Record<string, string | number>>(
    database,
    `select visits.id, visits.count, visits.more, visits.method, visits.target, visits.failed, visits.tried, visitors.name,
       visit_kinds.type, visit_kinds.status, visit_kinds.rule, agents.text as agent, referers.text as referer,
       origins.text as origin
     from visits join visit_kinds on visit_kinds.id = visits.kind left join visitors on visitors.id = visits.visitor
       left join visit_texts as agents on agents.id = visits.agent
       left join visit_texts as referers on referers.id = visits.referer
       left join visit_texts as origins on origins.id = visits.origin
     where visits.site = ? and (visits.visitor in (${placeholders(ids)})
       or (visits.tried != '' and lower(visits.tried) in (${placeholders(logins)})))
     order by visits.id`,
    site,
    ...ids,
    ...logins,
  );
  return rows.map((row) => {
    const mine = person.address !== null && row.name === person.address;
    const tried = { tried: row.tried, wrong_passwords: row.failed };
    if (!mine) return { at: toTime(toSecond(Number(row.id))), ...tried, requests: row.count };
    return {
      at: toTime(toSecond(Number(row.id))),
      address: row.name,
      requests: row.count,
      method: row.method,
      target: row.target,
      status: row.status,
      visitor: row.type,
      rule: row.rule,
      agent: row.agent ?? '',
      referer: row.referer ?? '',
      origin: row.origin ?? '',
      ...tried,
    };
  });
}

/** Deletes visits of an address, and subtracts them from the row counts that lists use for paging. */
function eraseVisits(scope: Scope): number {
  const { database, site } = scope;
  let removed = 0;
  for (const visitor of listAddressIds(scope)) {
    const rows = all<{ id: number; kind: number; agent: number; referer: number; origin: number }>(
      database,
      'select id, kind, agent, referer, origin from visits where site = ? and visitor = ?',
      site,
      visitor,
    );
    run(database, 'delete from visits where site = ? and visitor = ?', site, visitor);
    subtractRows(scope, rows);
    removeUnusedTexts(scope, new Set(rows.flatMap(({ agent, referer, origin }) => [agent, referer, origin])));
    removed += rows.length;
  }
  return removed;
}

function subtractRows(
  { database, site }: Scope,
  rows: readonly { readonly id: number; readonly kind: number }[],
): void {
  const starts = all<{ start: number }>(
    database,
    `select start from visit_stretches where site = ? and kind = ${ALL_KINDS} order by start`,
    site,
  ).map(({ start }) => start);
  const totals = new Map<number, number>();
  const buckets = new Map<string, { kind: number; start: number; rows: number }>();
  for (const { id, kind } of rows) {
    const start = findLast(starts, id);
    for (const each of [kind, ALL_KINDS]) {
      totals.set(each, (totals.get(each) ?? 0) + 1);
      if (start === null) continue;
      const key = `${each} ${start}`;
      buckets.set(key, { kind: each, start, rows: (buckets.get(key)?.rows ?? 0) + 1 });
    }
  }
  for (const [kind, removed] of totals) {
    run(database, 'update visit_sums set rows = rows - ? where site = ? and kind = ?', removed, site, kind);
  }
  for (const { kind, start, rows: removed } of buckets.values()) {
    run(
      database,
      'update visit_stretches set rows = rows - ? where site = ? and kind = ? and start = ?',
      removed,
      site,
      kind,
      start,
    );
  }
}

/** The last of sorted numbers that is not greater than a value. */
function findLast(sorted: readonly number[], value: number): number | null {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1] ?? null;
}

/** Texts are shared. A text that other visits still use stays. */
function removeUnusedTexts({ database, site }: Scope, ids: ReadonlySet<number>): void {
  const unused = new Set(ids);
  unused.delete(0);
  if (unused.size === 0) return;
  const rows = database
    .prepare('select agent, referer, origin from visits where site = ?')
    .iterate(site) as IterableIterator<{
    agent: number;
    referer: number;
    origin: number;
  }>;
  for (const { agent, referer, origin } of rows) for (const id of [agent, referer, origin]) unused.delete(id);
  for (const id of unused) run(database, 'delete from visit_texts where site = ? and id = ?', site, id);
}

/** Visits of others keep the count of wrong passwords, but not the login. */
function eraseTriedLogins({ database, site, person }: Scope): number {
  const logins = toLoginNames(person);
  if (logins.length === 0) return 0;
  return run(
    database,
    `update visits set tried = '' where site = ? and tried != '' and lower(tried) in (${placeholders(logins)})`,
    site,
    ...logins,
  );
}

interface EventRow {
  readonly id: number;
  readonly kind: string;
  readonly visitor: number;
  readonly user_id: number;
  readonly login: string;
  readonly address: string;
  readonly address_visitor: number;
  readonly object: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly origin: string;
}

function listEvents({ database, site, person }: Scope): EventRow[] {
  const rows = database
    .prepare(
      `select id, kind, visitor, user_id, login, address, address_visitor, object, before, after, origin from events
       where site = ? order by id`,
    )
    .iterate(site) as IterableIterator<EventRow>;
  const found: EventRow[] = [];
  for (const row of rows) {
    if (concernsPerson(row, person) || anonymizeEvent(row, person) !== null) found.push(row);
  }
  return found;
}

function concernsPerson({ user_id, login }: Pick<EventRow, 'user_id' | 'login'>, { user }: Person): boolean {
  if (user === null) return false;
  return (user.id !== null && user_id === user.id) || (user_id !== 0 && user.logins.includes(login.toLowerCase()));
}

/** @returns null when nothing in the event names the person */
function anonymizeEvent(
  row: EventRow,
  person: Person,
): Pick<EventRow, 'address' | 'object' | 'before' | 'after'> | null {
  const names = toLoginNames(person);
  const hide = (text: string) => {
    if (names.includes(text.toLowerCase())) return ERASED;
    return anonymizeText(text, person) ?? text;
  };
  const after = {
    address: row.address === person.address ? '' : row.address,
    object: hide(row.object),
    before: row.before === null ? null : hide(row.before),
    after: row.after === null ? null : hide(row.after),
  };
  const same =
    after.address === row.address &&
    after.object === row.object &&
    after.before === row.before &&
    after.after === row.after;
  return same ? null : after;
}

function eraseEvents(scope: Scope): number {
  const { database, site, person } = scope;
  const rows = listEvents(scope);
  const erased = new Map<number, number>();
  const subtract = (visitor: number) => erased.set(visitor, (erased.get(visitor) ?? 0) + 1);
  for (const row of rows) {
    if (concernsPerson(row, person)) {
      run(database, 'delete from events where site = ? and id = ?', site, row.id);
      subtract(row.visitor);
      subtract(row.address_visitor);
      continue;
    }
    const after = anonymizeEvent(row, person);
    if (after === null) continue;
    const isAddressErased = after.address !== row.address;
    if (isAddressErased) subtract(row.address_visitor);
    run(
      database,
      'update events set address = ?, address_visitor = ?, object = ?, before = ?, after = ? where site = ? and id = ?',
      after.address,
      isAddressErased ? 0 : row.address_visitor,
      after.object,
      after.before,
      after.after,
      site,
      row.id,
    );
  }
  for (const [visitor, events] of erased) {
    run(database, 'update visitors set events = events - ? where site = ? and id = ?', events, site, visitor);
  }
  return rows.length;
}

/** The address and the names of a person, as lists of the most frequent ones hold them. */
function toTopValues(person: Person): readonly string[] {
  return [...(person.address === null ? [] : [person.address]), ...toLoginNames(person)];
}

function listTops({ database, site, person }: Scope): object[] {
  const values = toTopValues(person);
  return all(
    database,
    `select day, what, value, hits from top_visits
     where site = ? and what in ('address', 'failed-login') and lower(value) in (${placeholders(values)}) order by day`,
    site,
    ...values,
  );
}

function eraseTops({ database, site, person }: Scope): number {
  const values = toTopValues(person);
  return run(
    database,
    `delete from top_visits
     where site = ? and what in ('address', 'failed-login') and lower(value) in (${placeholders(values)})`,
    site,
    ...values,
  );
}

function listAttackers({ database, site, person: { address } }: Scope): object[] {
  const rows = all<{ day: string; address: string; hits: number; targets: string }>(
    database,
    `select day, value as address, hits, targets from attackers where site = ? and who = 'address' and value = ?
     order by day`,
    site,
    address ?? '',
  );
  return rows.map((row) => {
    const targets = JSON.parse(row.targets) as (LeadingTarget | null)[];
    return { ...row, targets: targets.flatMap((leading) => (leading === null ? [] : [leading[0]])) };
  });
}

function eraseAttackers({ database, site, person: { address } }: Scope): number {
  return run(database, `delete from attackers where site = ? and who = 'address' and value = ?`, site, address ?? '');
}

function eraseVisitors(scope: Scope & { readonly isBlocked: boolean }): number {
  const { database, site, isBlocked } = scope;
  let removed = 0;
  for (const { id, kind } of listVisitors(scope)) {
    if (isBlocked && kind === 'ip') {
      removed += run(
        database,
        `update visitors set hostname = null, visits = 0, events = 0 where site = ? and id = ?
           and (hostname is not null or visits > 0 or events > 0)`,
        site,
        id,
      );
    } else removed += run(database, 'delete from visitors where site = ? and id = ?', site, id);
  }
  return removed;
}

/** @param seconds Unix seconds */
function toTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
