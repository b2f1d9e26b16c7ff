import type { Kysely } from 'kysely';
import type { SiteId } from '../../../site.js';
import type { ActivitySchema } from '../activity-schema.js';

/** The connection that only reads. */
export interface Reader {
  readonly db: Kysely<ActivitySchema>;
  /** Number of a site in the tables; 0 when nothing was ever stored for it. */
  siteNumber(site: SiteId): Promise<number>;
}

export function createReader(db: Kysely<ActivitySchema>): Reader {
  const numbers = new Map<SiteId, number>();
  return {
    db,
    async siteNumber(site) {
      const known = numbers.get(site);
      if (known !== undefined) return known;
      const row = await db.selectFrom('activity_sites').select('id').where('site', '=', site).executeTakeFirst();
      if (row) numbers.set(site, row.id);
      return row?.id ?? 0;
    },
  };
}
