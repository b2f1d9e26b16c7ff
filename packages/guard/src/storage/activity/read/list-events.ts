import type { SelectQueryBuilder } from 'kysely';
import type { Counted, EventFilter, EventRow, Window } from '../../../activity/activity-store.js';
import type { SiteId } from '../../../site.js';
import type { ActivitySchema } from '../activity-schema.js';
import { secondOf } from '../row-id.js';
import type { Reader } from './reader.js';
import { type IdRange, idRange } from './selection.js';

/** Events that are counted at most. */
const COUNTED_EVENTS = 100_000;

/** Events of one page, newest first. */
export async function listEvents(reader: Reader, window: Window<EventFilter>): Promise<readonly EventRow[]> {
  const site = await reader.siteNumber(window.site);
  const rows = await matching(reader, site, window.filter, idRange(window.filter, window))
    .leftJoin('visitors', 'visitors.id', 'events.address_visitor')
    .selectAll('events')
    .select('visitors.hostname')
    .orderBy('events.id', 'desc')
    .limit(window.limit)
    .offset(window.skip)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    at: secondOf(row.id),
    address: row.address,
    hostname: row.hostname,
    visitorId: row.visitor,
    userId: row.user_id,
    login: row.login,
    kind: row.kind,
    object: row.object,
    objectType: row.object_type,
    before: row.before,
    after: row.after,
    origin: row.origin,
  }));
}

/** How many events match up to the anchor. */
export async function countEvents(
  reader: Reader,
  site: SiteId,
  filter: EventFilter,
  anchor: number | null,
): Promise<Counted> {
  const rows = await count(reader, site, filter, idRange(filter, { anchor }), COUNTED_EVENTS);
  return { rows, exact: rows < COUNTED_EVENTS };
}

/** Events newer than `since`, counted to `most`. */
export function countNewEvents(
  reader: Reader,
  site: SiteId,
  filter: EventFilter,
  since: number,
  most: number,
): Promise<number> {
  return count(reader, site, filter, idRange(filter, { after: since }), most);
}

async function count(reader: Reader, site: SiteId, filter: EventFilter, range: IdRange, most: number): Promise<number> {
  const number = await reader.siteNumber(site);
  const row = await reader.db
    .selectFrom(matching(reader, number, filter, range).select('events.id').limit(most).as('found'))
    .select((from) => from.fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow();
  return row.rows;
}

function matching(
  { db }: Reader,
  site: number,
  filter: EventFilter,
  range: IdRange,
): SelectQueryBuilder<ActivitySchema, 'events', object> {
  let query = db
    .selectFrom('events')
    .where('events.site', '=', site)
    .where('events.id', '>=', range.low)
    .where('events.id', '<=', range.high);
  if (filter.user !== null) query = query.where('events.visitor', '=', filter.user);
  if (filter.activity !== null) query = query.where('events.kind', '=', filter.activity);
  return query;
}
