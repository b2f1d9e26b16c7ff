import { HUMAN } from '@security-optimizer/contract/activity/schemas';
import { type RawBuilder, sql } from 'kysely';
import type { SiteId } from '../../site.js';
import type { Counted, KeyRange, VisitFilter, VisitRow, Window } from '../activity-store.js';
import { countByBuckets, skipRows } from './read-buckets.js';
import { type IdRange, type Reader, toIdRange } from './reader.js';
import { parseKey, toSecond } from './row-keys.js';

/** The visitors of a filter by address: those with a key in one of the ranges, which do not overlap. */
export interface VisitorSelection {
  readonly ranges: readonly { readonly low: Uint8Array; readonly high: Uint8Array }[];
  /** The visitor, when there is only one. */
  readonly only: number | null;
  /** Number of their rows; null when they are too many to be counted. */
  readonly rows: number | null;
}

/** A filter in terms of the tables. */
export interface Selection {
  readonly site: number;
  readonly range: IdRange;
  /** Kinds that match, or null for all. */
  readonly kinds: readonly number[] | null;
  readonly visitors: VisitorSelection | null;
}

/**
 * Resolves a filter to kinds and visitors.
 * @returns null when no row can match
 */
export async function selectVisits(
  reader: Reader,
  site: SiteId,
  filter: VisitFilter,
  range: IdRange,
): Promise<Selection | null> {
  const number = await reader.siteNumber(site);
  if (number === 0 || range.low > range.high) return null;
  const kinds = await findKinds(reader, filter);
  if (kinds?.length === 0) return null;
  if (filter.addresses?.length === 0) return null;
  const visitors = filter.addresses === null ? null : await findVisitors(reader, number, filter.addresses);
  if (visitors?.rows === 0) return null;
  return { site: number, range, kinds, visitors };
}

/** Goals of requests that look for vulnerabilities; the preset Scanners selects them. */
const SCANS = ['holes', 'files', 'users'] as const;

async function findKinds(
  { db }: Reader,
  { type, code, preset = null, goal = null }: VisitFilter,
): Promise<readonly number[] | null> {
  const isAll = preset === null || preset === 'all';
  if (type === null && code === null && goal === null && isAll) return null;
  let query = db.selectFrom('visit_kinds').select('id');
  if (type !== null) query = query.where('type', '=', type);
  if (code !== null) query = query.where('status', '=', code);
  if (goal !== null) query = query.where('goal', '=', goal);
  if (preset === 'blocked') query = query.where('rule', '!=', '');
  if (preset === 'failed-logins') query = query.where('failed', '=', 1);
  if (preset === 'scanners') query = query.where('goal', 'in', SCANS);
  if (preset === 'not-found') query = query.where('status', 'in', [404, 410]);
  // As `traffic` counts them.
  if (preset === 'humans') query = query.where('rule', '=', '').where('type', '=', HUMAN);
  if (preset === 'bots') query = query.where('rule', '=', '').where('type', '<>', HUMAN);
  return (await query.execute()).map((row) => row.id);
}

async function findVisitors(reader: Reader, site: number, addresses: readonly KeyRange[]): Promise<VisitorSelection> {
  const limit = reader.limits.scannedVisitors;
  const ranges = addresses.map(({ low, high }) => ({ low: parseKey(low), high: parseKey(high) }));
  let visitors = 0;
  let rows = 0;
  let last: number | null = null;
  for (const { low, high } of ranges) {
    const found = await reader.db
      .selectFrom((from) =>
        from
          .selectFrom('visitors')
          .select(['id', 'visits'])
          .where('site', '=', site)
          .where('kind', '=', 'ip')
          .where('key', '>=', low)
          .where('key', '<=', high)
          .limit(limit + 1)
          .as('found'),
      )
      .select((row) => [
        row.fn.countAll<number>().as('visitors'),
        row.fn.max('id').as('last'),
        row.fn.sum<number | null>('visits').as('rows'),
      ])
      .executeTakeFirstOrThrow();
    visitors += found.visitors;
    rows += found.rows ?? 0;
    last = found.last ?? last;
    if (visitors > limit) return { ranges, only: null, rows: null };
  }
  return { ranges, only: visitors === 1 ? last : null, rows };
}

/** Cost of looking up one list's newest row, in scanned rows. */
const LIST_COST = 2;

type Column = 'kind' | 'visitor';

/** Returns the ids of the newest rows of a selection, newest first. */
export async function newestIds(reader: Reader, selection: Selection, limit: number): Promise<readonly number[]> {
  const { range, kinds, visitors } = selection;
  if (limit === 0) return [];
  if (kinds === null && visitors === null) return inRange(reader, selection, range, limit);
  const column = await chooseDriver(reader, selection);
  if (column === 'kind' ? kinds?.length === 1 : visitors?.only != null) return merge(reader, selection, column, limit);
  // Frequent rows are found among the newest ones, which costs less than merging lists.
  const { windowRows, windowPages } = reader.limits;
  const window = Math.max(windowRows, windowPages * limit);
  const recent = await inWindow(reader, selection, limit, window);
  if (recent.length === limit) return recent;
  if (column === 'visitor' && visitors?.rows === null && recent.length > 0) {
    const enough = 2 * window * (limit / recent.length);
    if (enough < LIST_COST * reader.limits.scannedVisitors) {
      const more = await inWindow(reader, selection, limit, enough);
      if (more.length === limit) return more;
    }
  }
  return merge(reader, selection, column, limit);
}

/** Returns the ids that match among the newest `window` rows of the range. */
async function inWindow(
  reader: Reader,
  selection: Selection,
  limit: number,
  window: number,
): Promise<readonly number[]> {
  const { site, range } = selection;
  const low = await skipRows(reader, { site, kinds: null }, range, window);
  return inRange(reader, selection, low === null ? range : { low, high: range.high }, limit);
}

/** Returns the ids that match in a range, by scanning its rows. */
async function inRange(
  { db }: Reader,
  selection: Selection,
  range: IdRange,
  limit: number,
): Promise<readonly number[]> {
  const found = await sql<{ id: number }>`select v.id from visits v where ${joinConditions([
    sql`v.site = ${selection.site}`,
    sql`v.id between ${range.low} and ${range.high}`,
    ...conditions(selection),
  ])} order by v.id desc limit ${limit}`.execute(db);
  return found.rows.map((row) => row.id);
}

/** Chooses the column with fewer rows: they are read, and the other column is a condition. */
async function chooseDriver(reader: Reader, { site, range, kinds, visitors }: Selection): Promise<Column> {
  if (kinds === null) return 'visitor';
  if (visitors === null) return 'kind';
  if (visitors.rows === null) return 'kind';
  return (await countByBuckets(reader, { site, kinds }, range)) < visitors.rows ? 'kind' : 'visitor';
}

/**
 * Merges the newest rows of several sorted lists. A row among the newest `limit` of all is in one of the `limit` lists
 * with the newest first rows, and among the newest `limit` rows of that list.
 */
async function merge(
  { db, limits }: Reader,
  selection: Selection,
  column: Column,
  limit: number,
): Promise<readonly number[]> {
  const { kinds, visitors } = selection;
  let values: readonly number[];
  if (column === 'kind' && kinds?.length === 1) values = kinds;
  else if (column === 'visitor' && visitors?.only != null) values = [visitors.only];
  else {
    const heads = await sql<{ value: number }>`with wanted (value) as (${wantedValues(selection, column)})
      select value, (${newestOfValue(selection, column, sql`wanted.value`, 1)}) as newest from wanted
      where newest is not null order by newest desc limit ${limit}`.execute(db);
    values = heads.rows.map((row) => row.value);
  }
  const ids: number[] = [];
  for (let at = 0; at < values.length; at += limits.mergedPerQuery) {
    const lists = values
      .slice(at, at + limits.mergedPerQuery)
      .map((value) => sql`select id from (${newestOfValue(selection, column, sql`${value}`, limit)})`);
    const found = await sql<{ id: number }>`${sql.join(lists, sql` union all `)}
      order by id desc limit ${limit}`.execute(db);
    ids.push(...found.rows.map((row) => row.id));
  }
  return ids.sort((a, b) => b - a).slice(0, limit);
}

/** Returns the values of the column that a selection matches, as a query. */
function wantedValues(selection: Selection, column: Column): RawBuilder<unknown> {
  const { site, kinds, visitors } = selection;
  if (column === 'kind') return sql`select value from json_each(${JSON.stringify(kinds)})`;
  const parts = (visitors?.ranges ?? []).map(
    ({ low, high }) => sql`select w.id from visitors w where w.site = ${site} and w.kind = 'ip'
      and w.key between ${low} and ${high} and w.visits > 0`,
  );
  return sql.join(parts, sql` union all `);
}

/** Returns the newest rows of one value, read from its index alone. */
function newestOfValue(
  selection: Selection,
  column: Column,
  value: RawBuilder<unknown>,
  limit: number,
): RawBuilder<unknown> {
  const { site, range } = selection;
  return sql`select v.id from visits v ${indexedBy(column)} where ${joinConditions([
    sql`v.site = ${site}`,
    sql`v.${sql.raw(column)} = ${value}`,
    sql`v.id between ${range.low} and ${range.high}`,
    ...conditions(selection, column),
  ])} order by v.id desc limit ${limit}`;
}

function indexedBy(column: Column): RawBuilder<unknown> {
  return sql.raw(`indexed by ${column === 'kind' ? 'visits_by_kind' : 'visits_by_visitor'}`);
}

/**
 * Returns the conditions of a row `v` besides its range.
 * @param but the column whose index the query uses already
 */
export function conditions(selection: Selection, but?: Column): RawBuilder<unknown>[] {
  const { kinds, visitors } = selection;
  const found: RawBuilder<unknown>[] = [];
  // The plus sign keeps SQLite from choosing another index for the condition.
  if (kinds !== null && but !== 'kind') {
    found.push(kinds.length === 1 ? sql`+v.kind = ${kinds[0]}` : sql`+v.kind in (${wantedValues(selection, 'kind')})`);
  }
  if (visitors !== null && but !== 'visitor') {
    const { only, ranges, rows } = visitors;
    if (only !== null) found.push(sql`+v.visitor = ${only}`);
    else if (rows !== null) found.push(sql`+v.visitor in (${wantedValues(selection, 'visitor')})`);
    else {
      const isIn = ranges.map(({ low, high }) => sql`w.key between ${low} and ${high}`);
      found.push(sql`exists (select 1 from visitors w where w.id = v.visitor and (${sql.join(isIn, sql` or `)}))`);
    }
  }
  return found;
}

export function joinConditions(parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join([sql`true`, ...parts], sql` and `);
}

/** Returns the rows of one page, newest first. */
export async function listVisits(reader: Reader, window: Window<VisitFilter>): Promise<readonly VisitRow[]> {
  const { site, filter, skip, limit } = window;
  const selection = await selectVisits(reader, site, filter, toIdRange(filter, window));
  if (selection === null) return [];
  const high = skip === 0 ? selection.range.high : await firstAfter(reader, selection, skip);
  if (high === null) return [];
  return readRows(
    reader,
    selection.site,
    await newestIds(reader, { ...selection, range: { ...selection.range, high } }, limit),
  );
}

/** Returns the id of the first row after the skipped ones; null when there is none. */
async function firstAfter(reader: Reader, selection: Selection, skip: number): Promise<number | null> {
  const { site, range, kinds, visitors } = selection;
  if (visitors === null) return skipRows(reader, { site, kinds }, range, skip);
  const column = await chooseDriver(reader, selection);
  const wide = column === 'visitor' && visitors.rows === null;
  const found = await sql<{
    id: number;
  }>`select v.id from visits v ${wide ? sql`` : indexedBy(column)} where ${joinConditions([
    sql`v.site = ${site}`,
    ...(wide ? [] : [sql`v.${sql.raw(column)} in (${wantedValues(selection, column)})`]),
    sql`v.id between ${range.low} and ${range.high}`,
    ...conditions(selection, wide ? undefined : column),
  ])} order by v.id desc limit 1 offset ${skip}`.execute(reader.db);
  return found.rows[0]?.id ?? null;
}

export async function readRows({ db }: Reader, site: number, ids: readonly number[]): Promise<readonly VisitRow[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('visits')
    .innerJoin('visit_kinds', 'visit_kinds.id', 'visits.kind')
    .leftJoin('visitors', 'visitors.id', 'visits.visitor')
    .select([
      'visits.id',
      'visits.visitor',
      'visits.count',
      'visits.target',
      'visits.more',
      'visits.more_bits',
      'visits.failed',
      'visits.tried',
      'visit_kinds.type',
      'visit_kinds.status',
      'visit_kinds.rule',
      'visit_kinds.goal',
      'visitors.name',
      'visitors.hostname',
    ])
    .where('visits.site', '=', site)
    .where('visits.id', 'in', sql<number>`(select value from json_each(${JSON.stringify(ids)}))`)
    .orderBy('visits.id', 'desc')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    at: toSecond(row.id),
    address: row.name ?? '',
    hostname: row.hostname,
    visitorId: row.visitor,
    type: row.type,
    target: row.target,
    status: row.status,
    rule: row.rule === '' ? null : row.rule,
    goal: row.goal === '' ? null : row.goal,
    failedLogins: row.failed,
    tried: row.tried,
    count: row.count,
    more: row.more,
    moreBits: row.more_bits,
  }));
}

/** Counts the rows that match up to the anchor. */
export async function countVisits(
  reader: Reader,
  site: SiteId,
  filter: VisitFilter,
  anchor: number | null,
): Promise<Counted> {
  // The number of matches of a text is unknown before the search.
  if (filter.search != null) return { rows: 0, exact: false };
  const selection = await selectVisits(reader, site, filter, toIdRange(filter, { anchor }));
  if (selection === null) return { rows: 0, exact: true };
  const { range, kinds, visitors } = selection;
  if (visitors === null) {
    return { rows: await countByBuckets(reader, { site: selection.site, kinds }, range), exact: true };
  }
  if (kinds === null && visitors.rows !== null && filter.from === null && filter.to === null) {
    const newer = anchor === null ? 0 : await rowsAbove(reader, selection, anchor);
    if (newer !== null) return { rows: visitors.rows - newer, exact: true };
  }
  const column = await chooseDriver(reader, selection);
  return column === 'visitor' && visitors.rows === null
    ? countAlong(reader, selection, null)
    : countAlong(reader, selection, column);
}

/** Scans a bounded number of rows along an index, or of all rows, and counts those that match. */
async function countAlong({ db, limits }: Reader, selection: Selection, column: Column | null): Promise<Counted> {
  const { site, range } = selection;
  const along: RawBuilder<unknown>[] =
    column === null ? [] : [sql`v.${sql.raw(column)} in (${wantedValues(selection, column)})`];
  const limit = selection.visitors?.rows === null ? limits.countedOneByOne : limits.countedRows;
  const rows = sql`select v.kind, v.visitor from visits v ${column === null ? sql`` : indexedBy(column)} where ${joinConditions(
    [sql`v.site = ${site}`, ...along, sql`v.id between ${range.low} and ${range.high}`],
  )} limit ${limit}`;
  const result = await sql<{ looked: number; rows: number }>`select count(*) as looked,
    coalesce(sum(${joinConditions(conditions(selection, column ?? undefined))}), 0) as rows from (${rows}) v`.execute(
    db,
  );
  const { looked = 0, rows: matching = 0 } = result.rows[0] ?? {};
  return { rows: matching, exact: looked < limit };
}

/** Counts rows of the visitors above an id; null when they are too many. */
async function rowsAbove({ db, limits }: Reader, selection: Selection, id: number): Promise<number | null> {
  const result = await sql<{
    rows: number;
  }>`select count(*) as rows from (select 1 from visits v ${indexedBy('visitor')}
    where v.site = ${selection.site} and v.visitor in (${wantedValues(selection, 'visitor')}) and v.id > ${id}
    limit ${limits.countedRows})`.execute(db);
  const rows = result.rows[0]?.rows ?? 0;
  return rows < limits.countedRows ? rows : null;
}
