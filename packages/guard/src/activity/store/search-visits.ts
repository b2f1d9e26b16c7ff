import { type RawBuilder, sql } from 'kysely';
import type { SiteId } from '../../site.js';
import type { FoundRows, TextSearch, VisitFilter, VisitRow, Window } from '../activity-store.js';
import { skipRows } from './read-buckets.js';
import { conditions, joinConditions, newestIds, readRows, type Selection, selectVisits } from './read-visits.js';
import { type Reader, toIdRange } from './reader.js';
import { toFirstId, toLastId, toSecond } from './row-keys.js';

/** Rows that one query scans. */
const STEP_ROWS = 4096;
/** Seconds around the row of a reference in which other rows may include it. */
const NEAR_SECONDS = 2;
/** Rows that may include a reference. */
const REFERENCE_ROWS = 30;
/** Maximum number of matches that are skipped, because they are skipped one by one. */
const SKIPPED_MAX = 3000;

/**
 * Finds visits by a reference, or by part of their target or the login that they tried, newest first. A text is
 * searched from the newest row backwards, in a bounded number of rows; `stoppedAt` is where to continue.
 *
 * @param after only rows with a greater id
 */
export async function searchVisits(
  reader: Reader,
  window: Window<VisitFilter>,
  after: number | null = null,
): Promise<FoundRows<VisitRow>> {
  const { site, filter, limit } = window;
  const search = filter.search ?? null;
  const selection = await selectVisits(reader, site, filter, toIdRange(filter, { ...window, after }));
  if (selection === null || search === null) return { rows: [], stoppedAt: null };
  if (search.reference !== null) {
    const ids = await findReference(reader, selection, search.reference);
    if (ids.length > 0) return { rows: await readRows(reader, selection.site, ids), stoppedAt: null };
  }
  const skip = Math.min(window.skip, SKIPPED_MAX);
  const { ids, stoppedAt } = await findText(reader, selection, search, skip + limit);
  return { rows: await readRows(reader, selection.site, ids.slice(skip)), stoppedAt };
}

/** Counts rows newer than `since`, up to `limit`. */
export async function countNewVisits(
  reader: Reader,
  site: SiteId,
  filter: VisitFilter,
  since: number,
  limit: number,
): Promise<number> {
  if (filter.search != null) {
    const window = { site, filter: { ...filter }, anchor: null, before: null, skip: 0, limit };
    return (await searchVisits(reader, window, since)).rows.length;
  }
  const selection = await selectVisits(reader, site, filter, toIdRange(filter, { after: since }));
  return selection === null ? 0 : (await newestIds(reader, selection, limit)).length;
}

/**
 * Returns the rows that include the request of a reference. References are numbers that grow with time, so it is the
 * row that has the reference, or rows of the same time whose first and last references enclose it.
 */
async function findReference({ db }: Reader, selection: Selection, reference: number): Promise<readonly number[]> {
  const { site, range } = selection;
  const found = await sql<{ id: number; reference: number }>`select id, reference from visits v
    indexed by visits_by_reference where v.site = ${site} and v.reference > 0 and v.reference <= ${reference}
    order by v.reference desc limit ${REFERENCE_ROWS}`.execute(db);
  const exact = found.rows.filter((row) => row.reference === reference).map(({ id }) => id);
  const [before] = found.rows;
  if (before === undefined) return [];
  const second = toSecond(before.id);
  const around =
    exact.length > 0
      ? []
      : (
          await sql<{ id: number }>`select v.id from visits v where v.site = ${site}
            and v.id between ${toFirstId(second - NEAR_SECONDS)} and ${toLastId(second + NEAR_SECONDS)}
            and v.reference <= ${reference} and v.last_reference >= ${reference} and v.reference > 0
            order by v.id desc limit ${REFERENCE_ROWS}`.execute(db)
        ).rows.map(({ id }) => id);
  return [...exact, ...around].filter((id) => id >= range.low && id <= range.high).sort((a, b) => b - a);
}

async function findText(
  reader: Reader,
  selection: Selection,
  search: TextSearch,
  limit: number,
): Promise<{ readonly ids: readonly number[]; readonly stoppedAt: number | null }> {
  const isAll = selection.kinds === null && selection.visitors === null;
  const scan = isAll ? scanAll : scanSelected;
  const ids: number[] = [];
  let { high } = selection.range;
  for (let scanned = 0; scanned < reader.limits.searchedRows; scanned += STEP_ROWS) {
    const range = { low: selection.range.low, high };
    const step = await scan(reader, { ...selection, range }, matchText(search), limit - ids.length);
    ids.push(...step.ids);
    if (ids.length >= limit || step.next === null) return { ids: ids.slice(0, limit), stoppedAt: null };
    high = step.next - 1;
  }
  return { ids, stoppedAt: high + 1 };
}

interface Step {
  readonly ids: readonly number[];
  /** Oldest id that was scanned; null when there is nothing older. */
  readonly next: number | null;
}

/** Scans the next rows of all. */
async function scanAll(
  reader: Reader,
  selection: Selection,
  condition: RawBuilder<unknown>,
  limit: number,
): Promise<Step> {
  const { site, range } = selection;
  const low = await skipRows(reader, { site, kinds: null }, range, STEP_ROWS - 1);
  const found = await sql<{ id: number }>`select v.id from visits v where ${joinConditions([
    sql`v.site = ${site}`,
    sql`v.id between ${low ?? range.low} and ${range.high}`,
    ...conditions(selection),
    condition,
  ])} order by v.id desc limit ${limit}`.execute(reader.db);
  return { ids: found.rows.map(({ id }) => id), next: low };
}

/** Scans the next rows that the other filters select, by their indexes. */
async function scanSelected(
  reader: Reader,
  selection: Selection,
  condition: RawBuilder<unknown>,
  limit: number,
): Promise<Step> {
  const candidates = await newestIds(reader, selection, STEP_ROWS);
  const found = await sql<{ id: number }>`select v.id from visits v where v.site = ${selection.site}
    and v.id in (select value from json_each(${JSON.stringify(candidates)})) and ${condition}
    order by v.id desc limit ${limit}`.execute(reader.db);
  return {
    ids: found.rows.map(({ id }) => id),
    next: candidates.length < STEP_ROWS ? null : (candidates.at(-1) as number),
  };
}

function matchText({ text, path }: TextSearch): RawBuilder<unknown> {
  if (path !== null) {
    const target = toTargetText(path);
    return sql`(v.target = ${target} or v.target like ${`${escapePattern(target)}?%`} escape '\\')`;
  }
  const [typed, sent] = [text, toTargetText(text)].map((part) => `%${escapePattern(part)}%`);
  const other = sent === typed ? sql`` : sql`or v.target like ${sent} escape '\\'`;
  return sql`(v.target like ${typed} escape '\\' ${other} or v.tried like ${typed} escape '\\')`;
}

/** Returns a text as a request target contains it: other characters than ASCII are percent-encoded (RFC 3987). */
function toTargetText(text: string): string {
  return text.replace(/[^!-~]+/g, (part) => encodeURIComponent(Buffer.from(part).toString()));
}

function escapePattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
