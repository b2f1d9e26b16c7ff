import { type RawBuilder, sql } from 'kysely';
import type { Counted, VisitFilter } from '../../../activity/activity-store.js';
import type { SiteId } from '../../../site.js';
import { all, conditions, driverOf, indexOf, newestIds, wanted } from './newest-ids.js';
import type { Reader } from './reader.js';
import { idRange, type Selection, selectVisits } from './selection.js';
import { countStretches } from './stretches.js';

/** How many rows match up to the anchor. */
export async function countVisits(
  reader: Reader,
  site: SiteId,
  filter: VisitFilter,
  anchor: number | null,
): Promise<Counted> {
  const selection = await selectVisits(reader, site, filter, idRange(filter, { anchor }));
  if (selection === null) return { rows: 0, exact: true };
  const { range, kinds, visitors } = selection;
  if (visitors === null) {
    return { rows: await countStretches(reader, { site: selection.site, kinds }, range), exact: true };
  }
  if (kinds === null && visitors.rows !== null && filter.from === null && filter.to === null) {
    const newer = anchor === null ? 0 : await rowsAbove(reader, selection, anchor);
    if (newer !== null) return { rows: visitors.rows - newer, exact: true };
  }
  const column = await driverOf(reader, selection);
  return column === 'visitor' && visitors.rows === null
    ? countAlong(reader, selection, null)
    : countAlong(reader, selection, column);
}

/** Rows newer than `since`, counted to `most`. */
export async function countNewVisits(
  reader: Reader,
  site: SiteId,
  filter: VisitFilter,
  since: number,
  most: number,
): Promise<number> {
  const selection = await selectVisits(reader, site, filter, idRange(filter, { after: since }));
  return selection === null ? 0 : (await newestIds(reader, selection, most)).length;
}

/** Looks at a bounded number of rows along an index, or along all rows, and counts those that match. */
async function countAlong(
  { db, limits }: Reader,
  selection: Selection,
  column: 'kind' | 'visitor' | null,
): Promise<Counted> {
  const { site, range } = selection;
  const along: RawBuilder<unknown>[] =
    column === null ? [] : [sql`v.${sql.raw(column)} in (${wanted(selection, column)})`];
  const most = selection.visitors?.rows === null ? limits.countedOneByOne : limits.countedRows;
  const rows = sql`select v.kind, v.visitor from visits v ${column === null ? sql`` : indexOf(column)} where ${all([
    sql`v.site = ${site}`,
    ...along,
    sql`v.id between ${range.low} and ${range.high}`,
  ])} limit ${most}`;
  const result = await sql<{ looked: number; rows: number }>`select count(*) as looked,
    coalesce(sum(${all(conditions(selection, column ?? undefined))}), 0) as rows from (${rows}) v`.execute(db);
  const { looked = 0, rows: matching = 0 } = result.rows[0] ?? {};
  return { rows: matching, exact: looked < most };
}

/** Rows of the visitors above an id; null when they are too many to be counted. */
async function rowsAbove({ db, limits }: Reader, selection: Selection, id: number): Promise<number | null> {
  const result = await sql<{ rows: number }>`select count(*) as rows from (select 1 from visits v ${indexOf('visitor')}
    where v.site = ${selection.site} and v.visitor in (${wanted(selection, 'visitor')}) and v.id > ${id}
    limit ${limits.countedRows})`.execute(db);
  const rows = result.rows[0]?.rows ?? 0;
  return rows < limits.countedRows ? rows : null;
}
