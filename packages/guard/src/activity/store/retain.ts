import type { Prepare } from '../../storage/sqlite.js';
import type { RetainedActivity } from '../activity-store.js';
import type { VisitTexts } from './row-caches.js';
import { AFTER_ALL_IDS, toFirstId, toHour, toSecond } from './row-keys.js';
import { ALL_KINDS, type SiteCounters } from './site-counters.js';
import type { VisitorCache } from './visitor-cache.js';

/** Rows that are deleted between two checks of the time. */
const ROWS_PER_STATEMENT = 250;
/** Aggregates are kept for a weekly report, the week before it, and some more days. */
const AGGREGATES_SECONDS = 35 * 86_400;
/** A visitor without rows is kept for this long: it may just have been created, to be blocked. */
const FRESH_SECONDS = 3600;

interface Step {
  readonly prepare: Prepare;
  readonly site: SiteCounters;
  readonly visitors: VisitorCache;
  readonly texts: Pick<VisitTexts, 'clear'>;
  readonly keep: RetainedActivity;
  /** Unix seconds. */
  readonly now: number;
  /** Whether there is time left in this step. */
  readonly hasTimeLeft: () => boolean;
}

/**
 * Runs one step of retention, in a transaction of the caller: visits, events, visitors without rows, aggregates.
 * @returns whether there is more to delete
 */
export function retain(step: Step): boolean {
  return (
    deleteRows(step, 'visits', countSurplusVisits(step)) ||
    deleteRows(step, 'events', countSurplusEvents(step)) ||
    deleteVisitors(step) ||
    deleteTexts(step) ||
    deleteAggregates(step)
  );
}

function countSurplusVisits({ prepare, site, keep }: Step): number {
  const row = prepare(`select rows from visit_sums where site = ? and kind = ${ALL_KINDS}`).get(site.number);
  return ((row as { rows: number } | undefined)?.rows ?? 0) - keep.maxRows;
}

/** Counts up to one more than may be kept. */
function countSurplusEvents({ prepare, site, keep }: Step): number {
  const { rows } = prepare('select count(*) as rows from (select 1 from events where site = ? limit ?)').get(
    site.number,
    keep.maxRows + ROWS_PER_STATEMENT,
  ) as { rows: number };
  return rows - keep.maxRows;
}

interface Row {
  readonly id: number;
  readonly kind: number;
  readonly visitor: number;
  readonly address_visitor: number;
}

function deleteRows(step: Step, table: 'visits' | 'events', surplus: number): boolean {
  const { prepare, site, visitors, keep } = step;
  const more = table === 'visits' ? 'kind, visitor' : 'visitor, address_visitor';
  const oldest = prepare(`select id, ${more} from ${table} where site = ? and id < ? order by id limit ?`);
  const remove = prepare(`delete from ${table} where site = ? and id <= ?`);
  const tooOld = toFirstId(keep.before);
  let left = surplus;
  for (;;) {
    const byCount = left > 0;
    const limit = byCount ? Math.min(left, ROWS_PER_STATEMENT) : ROWS_PER_STATEMENT;
    const rows = oldest.all(site.number, byCount ? AFTER_ALL_IDS : tooOld, limit) as unknown as Row[];
    const last = rows.at(-1);
    if (last === undefined) return false;
    remove.run(site.number, last.id);
    visitors.subtract(table, countBy(rows.flatMap((row) => [row.visitor, row.address_visitor ?? 0])));
    if (table === 'visits') subtractFromBuckets(step, rows);
    left -= rows.length;
    if (!byCount && rows.length < limit) return false;
    if (!step.hasTimeLeft()) return true;
  }
}

/** Subtracts deleted rows, which are the oldest, from the counts of their buckets. */
function subtractFromBuckets({ prepare, site }: Step, rows: readonly Row[]): void {
  const last = rows.at(-1)?.id ?? 0;
  const starts = prepare(
    `select start from visit_stretches where site = ? and kind = ${ALL_KINDS} and start <= ? order by start`,
  ).all(site.number, last) as unknown as { start: number }[];
  const update = prepare('update visit_stretches set rows = rows - ? where site = ? and kind = ? and start = ?');
  const remove = prepare('delete from visit_stretches where site = ? and kind = ? and start = ? and rows <= 0');
  const sum = prepare('update visit_sums set rows = rows - ? where site = ? and kind = ?');
  for (const [index, { start }] of starts.entries()) {
    const end = starts[index + 1]?.start ?? AFTER_ALL_IDS;
    const removed = rows.filter(({ id }) => id >= start && id < end);
    for (const [kind, count] of countBy([...removed.map((row) => row.kind), ...removed.map(() => ALL_KINDS)])) {
      update.run(count, site.number, kind, start);
      remove.run(site.number, kind, start);
      sum.run(count, site.number, kind);
    }
  }
  site.forgetBuckets();
}

function deleteVisitors({ site, visitors, keep, now, hasTimeLeft }: Step): boolean {
  const retained = new Set(keep.blocked);
  while (visitors.removeWithoutRows(site.number, now - FRESH_SECONDS, retained, ROWS_PER_STATEMENT)) {
    if (!hasTimeLeft()) return true;
  }
  return false;
}

/** The last use of a text is recorded at most a day late. */
const SEEN_LATE_SECONDS = 2 * 86_400;

/** Deletes texts that no row refers to any more: all that were last used before the oldest row. */
function deleteTexts({ prepare, site, texts, now, hasTimeLeft }: Step): boolean {
  const { id } = prepare('select min(id) as id from visits where site = ?').get(site.number) as { id: number | null };
  const before = (id === null ? now - FRESH_SECONDS : toSecond(id)) - SEEN_LATE_SECONDS;
  const remove = prepare(
    'delete from visit_texts where id in (select id from visit_texts where site = ? and seen < ? order by seen limit ?)',
  );
  for (;;) {
    const { changes } = remove.run(site.number, before, ROWS_PER_STATEMENT);
    if (Number(changes) > 0) texts.clear();
    if (Number(changes) < ROWS_PER_STATEMENT) return false;
    if (!hasTimeLeft()) return true;
  }
}

function deleteAggregates({ prepare, site, now }: Step): boolean {
  const before = toHour(now - AGGREGATES_SECONDS);
  const day = new Date(before * 1000).toISOString().slice(0, 10);
  prepare('delete from visit_hours where site = ? and hour < ?').run(site.number, before);
  prepare('delete from event_hours where site = ? and hour < ?').run(site.number, before);
  for (const table of ['attack_days', 'attackers', 'address_sketches']) {
    prepare(`delete from ${table} where site = ? and day < ?`).run(site.number, day);
  }
  prepare('delete from top_visits where site = ? and day < ?').run(site.number, day);
  return false;
}

function countBy(keys: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
