import type { Visitor } from '../../../activity/activity-store.js';
import type { SiteId } from '../../../site.js';
import { visitorOfRecord } from '../visitor-record.js';
import type { Reader } from './reader.js';

/** A visitor of this site, or null. */
export async function visitorById(reader: Reader, site: SiteId, id: number): Promise<Visitor | null> {
  const record = await reader.db
    .selectFrom('visitors')
    .selectAll()
    .where('site', '=', await reader.siteNumber(site))
    .where('id', '=', id)
    .executeTakeFirst();
  return record ? visitorOfRecord(record) : null;
}
