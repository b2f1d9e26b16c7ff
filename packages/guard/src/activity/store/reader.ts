import { type Kysely, sql } from 'kysely';
import type { Range } from '../../lib/address-set.js';
import type { SiteId } from '../../site.js';
import type { Visitor } from '../activity-store.js';
import { AFTER_ALL_IDS, toFirstId, toKey, toLastId, toVisitor } from './row-keys.js';
import type { ActivitySchema } from './schema.js';

/** Limits on the work of a query. Tests make all of them small, to reach the code behind them. */
export interface ReadLimits {
  /** Visitors in a range of addresses that are read to count their rows. */
  readonly scannedVisitors: number;
  /** Buckets whose counts are read first to skip rows; then four times as many, and so on. */
  readonly bucketsPerQuery: number;
  /** Newest rows that are scanned before lists are merged: this number, and at least this many pages. */
  readonly windowRows: number;
  readonly windowPages: number;
  /** Lists that one statement merges; SQLite supports at most 500. */
  readonly mergedPerQuery: number;
  /** Rows that are scanned to count what no aggregate contains: along an index, and one by one. */
  readonly countedRows: number;
  readonly countedOneByOne: number;
  /** Rows that one step of a text search scans. */
  readonly searchedRows: number;
}

export const readLimits: ReadLimits = {
  scannedVisitors: 5000,
  bucketsPerQuery: 64,
  windowRows: 2000,
  windowPages: 4,
  mergedPerQuery: 200,
  countedRows: 50_000,
  countedOneByOne: 5000,
  searchedRows: 40_000,
};

/** The read-only connection. */
export interface Reader {
  readonly db: Kysely<ActivitySchema>;
  readonly limits: ReadLimits;
  /** Returns the number of a site in the tables; 0 when nothing was ever stored for it. */
  siteNumber(site: SiteId): Promise<number>;
}

export function createReader(db: Kysely<ActivitySchema>, limits: ReadLimits): Reader {
  const numbers = new Map<SiteId, number>();
  return {
    db,
    limits,
    async siteNumber(site) {
      const known = numbers.get(site);
      if (known !== undefined) return known;
      const row = await db.selectFrom('activity_sites').select('id').where('site', '=', site).executeTakeFirst();
      if (row) numbers.set(site, row.id);
      return row?.id ?? 0;
    },
  };
}

/** Returns the id of the newest row; 0 when there is none. */
export async function findNewestRow(reader: Reader, site: SiteId, table: 'visits' | 'events'): Promise<number> {
  const row = await reader.db
    .selectFrom(table)
    .select((from) => from.fn.max('id').as('id'))
    .where('site', '=', await reader.siteNumber(site))
    .executeTakeFirst();
  return row?.id ?? 0;
}

/** Returns a visitor of this site, or null. */
export async function findVisitorById(reader: Reader, site: SiteId, id: number): Promise<Visitor | null> {
  const record = await reader.db
    .selectFrom('visitors')
    .selectAll()
    .where('site', '=', await reader.siteNumber(site))
    .where('id', '=', id)
    .executeTakeFirst();
  return record ? toVisitor(record) : null;
}

/**
 * Returns the search engine that DNS verified for a visitor in this range, or null. Uses the index of those few
 * visitors.
 */
export async function findVerifiedBot(reader: Reader, site: SiteId, range: Range): Promise<string | null> {
  const { rows } = await sql<{ verified_bot: string }>`select verified_bot from visitors indexed by visitors_verified
    where site = ${await reader.siteNumber(site)} and kind = 'ip' and verified_bot is not null
    and key between ${toKey(range.from)} and ${toKey(range.to)} limit 1`.execute(reader.db);
  return rows[0]?.verified_bot ?? null;
}

/** Counts the visitors with an address in a range, up to `limit`. */
export async function countVisitorsIn(reader: Reader, site: SiteId, range: Range, limit: number): Promise<number> {
  const number = await reader.siteNumber(site);
  const row = await reader.db
    .selectFrom((from) =>
      from
        .selectFrom('visitors')
        .select('id')
        .where('site', '=', number)
        .where('kind', '=', 'ip')
        .where('key', '>=', toKey(range.from))
        .where('key', '<=', toKey(range.to))
        .limit(limit)
        .as('found'),
    )
    .select((from) => from.fn.countAll<number>().as('visitors'))
    .executeTakeFirstOrThrow();
  return row.visitors;
}

/** Ids from `low` to `high`, inclusive. */
export interface IdRange {
  readonly low: number;
  readonly high: number;
}

/** Returns the ids of a period, up to an anchor; `before` is exclusive. */
export function toIdRange(
  filter: { readonly from: number | null; readonly to: number | null },
  limits: { readonly anchor?: number | null; readonly before?: number | null; readonly after?: number | null },
): IdRange {
  const low = Math.max(filter.from === null ? 0 : toFirstId(filter.from), (limits.after ?? -1) + 1);
  const to = filter.to === null ? AFTER_ALL_IDS : toLastId(filter.to);
  return { low, high: Math.min(to, limits.anchor ?? AFTER_ALL_IDS, (limits.before ?? AFTER_ALL_IDS) - 1) };
}
