import type { SiteId } from '../../../site.js';
import type { Reader } from './reader.js';

/** Id of the newest row; 0 when there is none. */
export async function newestRow(reader: Reader, site: SiteId, table: 'visits' | 'events'): Promise<number> {
  const row = await reader.db
    .selectFrom(table)
    .select((from) => from.fn.max('id').as('id'))
    .where('site', '=', await reader.siteNumber(site))
    .executeTakeFirst();
  return row?.id ?? 0;
}
