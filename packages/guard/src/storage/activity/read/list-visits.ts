import { sql } from 'kysely';
import type { VisitFilter, VisitRow, Window } from '../../../activity/activity-store.js';
import { secondOf } from '../row-id.js';
import { all, conditions, driverOf, indexOf, newestIds, wanted } from './newest-ids.js';
import type { Reader } from './reader.js';
import { idRange, type Selection, selectVisits } from './selection.js';
import { skipRows } from './stretches.js';

/** Rows of one page, newest first. */
export async function listVisits(reader: Reader, window: Window<VisitFilter>): Promise<readonly VisitRow[]> {
  const { site, filter, skip, limit } = window;
  const selection = await selectVisits(reader, site, filter, idRange(filter, window));
  if (selection === null) return [];
  const high = skip === 0 ? selection.range.high : await firstAfter(reader, selection, skip);
  if (high === null) return [];
  return rowsOf(
    reader,
    selection.site,
    await newestIds(reader, { ...selection, range: { ...selection.range, high } }, limit),
  );
}

/** Id of the first row after those that are skipped; null when there is none. */
async function firstAfter(reader: Reader, selection: Selection, skip: number): Promise<number | null> {
  const { site, range, kinds, visitors } = selection;
  if (visitors === null) return skipRows(reader, { site, kinds }, range, skip);
  const column = await driverOf(reader, selection);
  const wide = column === 'visitor' && visitors.rows === null;
  const found = await sql<{ id: number }>`select v.id from visits v ${wide ? sql`` : indexOf(column)} where ${all([
    sql`v.site = ${site}`,
    ...(wide ? [] : [sql`v.${sql.raw(column)} in (${wanted(selection, column)})`]),
    sql`v.id between ${range.low} and ${range.high}`,
    ...conditions(selection, wide ? undefined : column),
  ])} order by v.id desc limit 1 offset ${skip}`.execute(reader.db);
  return found.rows[0]?.id ?? null;
}

async function rowsOf({ db }: Reader, site: number, ids: readonly number[]): Promise<readonly VisitRow[]> {
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
      'visit_kinds.type',
      'visit_kinds.status',
      'visit_kinds.rule',
      'visitors.name',
      'visitors.hostname',
    ])
    .where('visits.site', '=', site)
    .where('visits.id', 'in', sql<number>`(select value from json_each(${JSON.stringify(ids)}))`)
    .orderBy('visits.id', 'desc')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    at: secondOf(row.id),
    address: row.name ?? '',
    hostname: row.hostname,
    visitorId: row.visitor,
    type: row.type,
    target: row.target,
    status: row.status,
    rule: row.rule === '' ? null : row.rule,
    count: row.count,
    more: row.more,
    moreBits: row.more_bits,
  }));
}
