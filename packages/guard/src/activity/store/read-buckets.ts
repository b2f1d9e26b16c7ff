import { sql } from 'kysely';
import type { IdRange, Reader } from './reader.js';
import { AFTER_ALL_IDS } from './row-keys.js';
import { ALL_KINDS } from './site-counters.js';

/**
 * Counts and skips visits by the counts of whole buckets (`visit_stretches`) and of everything (`visit_sums`). Single
 * rows are read only in the buckets where a range begins and ends.
 */

/** Rows of some kinds (null for all). */
interface Rows {
  readonly site: number;
  readonly kinds: readonly number[] | null;
}

/** Returns the kinds as a query, so that the statement is the same for any number of them. */
function listed({ kinds }: Rows) {
  return sql<number>`(select value from json_each(${JSON.stringify(kinds ?? [ALL_KINDS])}))`;
}

/**
 * Counts the rows in a range of ids exactly: whole buckets by their counts, those at the ends by reading rows. For a
 * range that begins with the oldest row, newer rows are subtracted from the total.
 */
export async function countByBuckets(reader: Reader, rows: Rows, { low, high }: IdRange): Promise<number> {
  if (low > high) return 0;
  if (low > 0) return countBetween(reader, rows, { low, high });
  const newer = high < AFTER_ALL_IDS ? await countBetween(reader, rows, { low: high + 1, high: AFTER_ALL_IDS }) : 0;
  return (await countAll(reader, rows)) - newer;
}

async function countBetween(reader: Reader, rows: Rows, { low, high }: IdRange): Promise<number> {
  const first = await findBucket(reader, rows.site, low);
  const last = await findBucket(reader, rows.site, high);
  const sum = await sumBuckets(reader, rows, first.start, last.start);
  const before = low > first.start ? await countRows(reader, rows, { low: first.start, high: low - 1 }) : 0;
  const after = high + 1 < last.end ? await countRows(reader, rows, { low: high + 1, high: last.end - 1 }) : 0;
  return sum - before - after;
}

/**
 * Returns the id of the row after `skip` newer rows in a range, or null when there are not that many. Reads counts and
 * one bucket, however many rows are skipped.
 */
export async function skipRows(reader: Reader, rows: Rows, range: IdRange, skip: number): Promise<number | null> {
  const last = await findBucket(reader, rows.site, range.high);
  // Rows above the range in the same bucket are skipped, too.
  const above =
    range.high + 1 < last.end ? await countRows(reader, rows, { low: range.high + 1, high: last.end - 1 }) : 0;
  const found = await findBucketAfter(reader, rows, last.start, skip + above);
  if (found === null) return null;
  const { end } = await findBucket(reader, rows.site, found.start);
  let query = reader.db
    .selectFrom('visits')
    .select('id')
    .where('site', '=', rows.site)
    .where('id', '>=', found.start)
    .where('id', '<', end);
  if (rows.kinds !== null) query = query.where(sql`+kind`, 'in', listed(rows));
  const row = await query.orderBy('id', 'desc').limit(1).offset(found.left).executeTakeFirst();
  return row && row.id >= range.low ? row.id : null;
}

/**
 * Returns the bucket that contains the row after `skip` rows, counted from the newest at or below `from`, and the
 * number of rows that remain to be skipped in it.
 */
async function findBucketAfter(
  { db, limits }: Reader,
  rows: Rows,
  from: number,
  skip: number,
): Promise<{ readonly start: number; readonly left: number } | null> {
  let high = from;
  let left = skip;
  // Near pages are frequent and need few buckets; distant ones take a few more queries.
  for (let count = limits.bucketsPerQuery; ; count *= 4) {
    const low = await db
      .selectFrom('visit_stretches')
      .select('start')
      .where('site', '=', rows.site)
      .where('kind', '=', ALL_KINDS)
      .where('start', '<=', high)
      .orderBy('start', 'desc')
      .limit(1)
      .offset(count - 1)
      .executeTakeFirst();
    const totals = await db
      .selectFrom('visit_stretches')
      .select((row) => ['start', row.fn.sum<number>('rows').as('rows')])
      .where('site', '=', rows.site)
      .where('kind', 'in', listed(rows))
      .where('start', '>=', low?.start ?? 0)
      .where('start', '<=', high)
      .groupBy('start')
      .orderBy('start', 'desc')
      .execute();
    for (const sum of totals) {
      if (sum.rows > left) return { start: sum.start, left };
      left -= sum.rows;
    }
    if (!low) return null;
    high = low.start - 1;
  }
}

/** Returns the bucket that contains an id; `end` is exclusive. */
async function findBucket({ db }: Reader, site: number, id: number): Promise<{ start: number; end: number }> {
  const starts = db.selectFrom('visit_stretches').where('site', '=', site).where('kind', '=', ALL_KINDS);
  const row = await starts
    .select((from) => from.fn.max('start').as('start'))
    .where('start', '<=', id)
    .executeTakeFirst();
  const next = await starts
    .select((from) => from.fn.min('start').as('end'))
    .where('start', '>', id)
    .executeTakeFirst();
  return { start: row?.start ?? 0, end: next?.end ?? AFTER_ALL_IDS };
}

async function countAll({ db }: Reader, rows: Rows): Promise<number> {
  const row = await db
    .selectFrom('visit_sums')
    .select((from) => from.fn.sum<number | null>('rows').as('rows'))
    .where('site', '=', rows.site)
    .where('kind', 'in', listed(rows))
    .executeTakeFirst();
  return row?.rows ?? 0;
}

async function sumBuckets({ db }: Reader, rows: Rows, firstStart: number, lastStart: number): Promise<number> {
  const row = await db
    .selectFrom('visit_stretches')
    .select((from) => from.fn.sum<number | null>('rows').as('rows'))
    .where('site', '=', rows.site)
    .where('kind', 'in', listed(rows))
    .where('start', '>=', firstStart)
    .where('start', '<=', lastStart)
    .executeTakeFirst();
  return row?.rows ?? 0;
}

async function countRows({ db }: Reader, rows: Rows, { low, high }: IdRange): Promise<number> {
  let query = db
    .selectFrom('visits')
    .select((from) => from.fn.countAll<number>().as('rows'))
    .where('site', '=', rows.site)
    .where('id', '>=', low)
    .where('id', '<=', high);
  // The plus sign keeps SQLite from preferring the index by kind, which does not end with the bucket.
  if (rows.kinds !== null) query = query.where(sql`+kind`, 'in', listed(rows));
  return (await query.executeTakeFirstOrThrow()).rows;
}
