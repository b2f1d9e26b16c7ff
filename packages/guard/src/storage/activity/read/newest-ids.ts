import { type RawBuilder, sql } from 'kysely';
import type { Reader } from './reader.js';
import type { IdRange, Selection } from './selection.js';
import { countStretches, skipRows } from './stretches.js';

/** What looking up one list's newest row costs, in rows that are looked through. */
const LIST_COST = 2;

export type Column = 'kind' | 'visitor';

/** Ids of the newest rows of a selection, newest first. */
export async function newestIds(reader: Reader, selection: Selection, limit: number): Promise<readonly number[]> {
  const { range, kinds, visitors } = selection;
  if (limit === 0) return [];
  if (kinds === null && visitors === null) return inRange(reader, selection, range, limit);
  const column = await driverOf(reader, selection);
  if (column === 'kind' ? kinds?.length === 1 : visitors?.only != null) return merge(reader, selection, column, limit);
  // What is frequent is found among the newest rows, for less than by merging lists.
  const { windowRows, windowPages } = reader.limits;
  const window = Math.max(windowRows, windowPages * limit);
  const recent = await inWindow(reader, selection, limit, window);
  if (recent.length === limit) return recent;
  if (column === 'visitor' && visitors?.rows === null && recent.length > 0) {
    const enough = 2 * window * (limit / recent.length);
    if (enough < LIST_COST * reader.limits.visitorsLookedAt) {
      const more = await inWindow(reader, selection, limit, enough);
      if (more.length === limit) return more;
    }
  }
  return merge(reader, selection, column, limit);
}

/** Ids that match among the newest `window` rows of the range. */
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

/** Ids that match in a range, by looking at one row after the other. */
async function inRange(
  { db }: Reader,
  selection: Selection,
  range: IdRange,
  limit: number,
): Promise<readonly number[]> {
  const found = await sql<{ id: number }>`select v.id from visits v where ${all([
    sql`v.site = ${selection.site}`,
    sql`v.id between ${range.low} and ${range.high}`,
    ...conditions(selection),
  ])} order by v.id desc limit ${limit}`.execute(db);
  return found.rows.map((row) => row.id);
}

/** Whether there are fewer rows of the kinds or of the visitors: these are read, and the others are a condition. */
export async function driverOf(reader: Reader, { site, range, kinds, visitors }: Selection): Promise<Column> {
  if (kinds === null) return 'visitor';
  if (visitors === null) return 'kind';
  if (visitors.rows === null) return 'kind';
  return (await countStretches(reader, { site, kinds }, range)) < visitors.rows ? 'kind' : 'visitor';
}

/**
 * The newest rows of several sorted lists: a row among the newest `limit` of all is in one of the `limit` lists whose
 * newest rows are newest, and among the newest `limit` of that one.
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
    const heads = await sql<{ value: number }>`with wanted (value) as (${wanted(selection, column)})
      select value, (${listOf(selection, column, sql`wanted.value`, 1)}) as newest from wanted
      where newest is not null order by newest desc limit ${limit}`.execute(db);
    values = heads.rows.map((row) => row.value);
  }
  const ids: number[] = [];
  for (let at = 0; at < values.length; at += limits.mergedAtOnce) {
    const lists = values
      .slice(at, at + limits.mergedAtOnce)
      .map((value) => sql`select id from (${listOf(selection, column, sql`${value}`, limit)})`);
    const found = await sql<{ id: number }>`${sql.join(lists, sql` union all `)}
      order by id desc limit ${limit}`.execute(db);
    ids.push(...found.rows.map((row) => row.id));
  }
  return ids.sort((a, b) => b - a).slice(0, limit);
}

/** Values of the column that a selection asks for, as a query. */
export function wanted(selection: Selection, column: Column): RawBuilder<unknown> {
  const { site, kinds, visitors } = selection;
  if (column === 'kind') return sql`select value from json_each(${JSON.stringify(kinds)})`;
  return sql`select w.id from visitors w where w.site = ${site} and w.kind = 'ip'
    and w.key between ${visitors?.low} and ${visitors?.high} and w.visits > 0`;
}

/** Newest rows of one value, read from its index alone. */
function listOf(selection: Selection, column: Column, value: RawBuilder<unknown>, most: number): RawBuilder<unknown> {
  const { site, range } = selection;
  return sql`select v.id from visits v ${indexOf(column)} where ${all([
    sql`v.site = ${site}`,
    sql`v.${sql.raw(column)} = ${value}`,
    sql`v.id between ${range.low} and ${range.high}`,
    ...conditions(selection, column),
  ])} order by v.id desc limit ${most}`;
}

export function indexOf(column: Column): RawBuilder<unknown> {
  return sql.raw(`indexed by ${column === 'kind' ? 'visits_by_kind' : 'visits_by_visitor'}`);
}

/**
 * What a row `v` must meet beside its range.
 * @param but the column that the query goes along already
 */
export function conditions(selection: Selection, but?: Column): RawBuilder<unknown>[] {
  const { kinds, visitors } = selection;
  const found: RawBuilder<unknown>[] = [];
  // The sign keeps SQLite from choosing another index for the condition.
  if (kinds !== null && but !== 'kind') {
    found.push(kinds.length === 1 ? sql`+v.kind = ${kinds[0]}` : sql`+v.kind in (${wanted(selection, 'kind')})`);
  }
  if (visitors !== null && but !== 'visitor') {
    const { only, low, high, rows } = visitors;
    if (only !== null) found.push(sql`+v.visitor = ${only}`);
    else if (rows !== null) found.push(sql`+v.visitor in (${wanted(selection, 'visitor')})`);
    else {
      found.push(sql`exists (select 1 from visitors w where w.id = v.visitor and w.key between ${low} and ${high})`);
    }
  }
  return found;
}

export function all(parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join([sql`true`, ...parts], sql` and `);
}
