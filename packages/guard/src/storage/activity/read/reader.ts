import type { Kysely } from 'kysely';
import type { SiteId } from '../../../site.js';
import type { ActivitySchema } from '../activity-schema.js';

/** How much work a question may cause. Tests make all of it small, to reach what lies behind. */
export interface ReadLimits {
  /** Visitors of a stretch of addresses that are looked at to learn how many rows they have. */
  readonly visitorsLookedAt: number;
  /** Stretches whose counts are read first to skip rows; then four times as many, and so on. */
  readonly stretchesAtOnce: number;
  /** Newest rows that are looked through before lists are merged: so many, and at least so many pages. */
  readonly windowRows: number;
  readonly windowPages: number;
  /** Lists that one statement merges; SQLite takes at most 500. */
  readonly mergedAtOnce: number;
  /** Rows that are looked at to count what no sum knows: along an index, and one by one. */
  readonly countedRows: number;
  readonly countedOneByOne: number;
}

export const readLimits: ReadLimits = {
  visitorsLookedAt: 5000,
  stretchesAtOnce: 64,
  windowRows: 2000,
  windowPages: 4,
  mergedAtOnce: 200,
  countedRows: 50_000,
  countedOneByOne: 5000,
};

/** The connection that only reads. */
export interface Reader {
  readonly db: Kysely<ActivitySchema>;
  readonly limits: ReadLimits;
  /** Number of a site in the tables; 0 when nothing was ever stored for it. */
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
