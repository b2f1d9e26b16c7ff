import { type SelectQueryBuilder, sql } from 'kysely';
import type { SiteId } from '../../site.js';
import type { Counted, EventFilter, EventRow, FoundRows, Window } from '../activity-store.js';
import type { Reader } from './reader.js';
import { type IdRange, toIdRange } from './reader.js';
import { parseKey, toSecond } from './row-keys.js';
import type { ActivitySchema } from './schema.js';

/** Maximum number of events that are counted. */
const COUNTED_EVENTS = 100_000;

/** Returns the events of one page, newest first. */
export async function listEvents(reader: Reader, window: Window<EventFilter>): Promise<readonly EventRow[]> {
  const site = await reader.siteNumber(window.site);
  return readEvents(matching(reader, site, window.filter, toIdRange(window.filter, window)), window);
}

/**
 * Finds events by a text in the login, the address or the name of the object, newest first, in a bounded number of
 * rows. `stoppedAt` is where to continue.
 */
export async function searchEvents(reader: Reader, window: Window<EventFilter>): Promise<FoundRows<EventRow>> {
  const { filter } = window;
  const site = await reader.siteNumber(window.site);
  const range = toIdRange(filter, window);
  if (filter.search == null) return { rows: await listEvents(reader, window), stoppedAt: null };
  const limit = reader.limits.searchedRows;
  const lastScanned = await matching(reader, site, filter, range)
    .select('events.id')
    .orderBy('events.id', 'desc')
    .limit(1)
    .offset(limit - 1)
    .executeTakeFirst();
  const low = lastScanned?.id ?? range.low;
  const rows = await readEvents(
    matching(reader, site, filter, { low, high: range.high }).where(containsText(filter.search.text)),
    window,
  );
  return { rows, stoppedAt: lastScanned === undefined || rows.length >= window.limit ? null : low };
}

function containsText(text: string) {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  return sql<boolean>`(events.login like ${pattern} escape '\\' or events.object like ${pattern} escape '\\'
    or events.address = ${text})`;
}

async function readEvents(
  query: SelectQueryBuilder<ActivitySchema, 'events', object>,
  { skip, limit }: Pick<Window<EventFilter>, 'skip' | 'limit'>,
): Promise<readonly EventRow[]> {
  const rows = await query
    .leftJoin('visitors', 'visitors.id', 'events.address_visitor')
    .selectAll('events')
    .select('visitors.hostname')
    .orderBy('events.id', 'desc')
    .limit(limit)
    .offset(skip)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    at: toSecond(row.id),
    address: row.address,
    hostname: row.hostname,
    visitorId: row.visitor,
    addressVisitorId: row.address_visitor,
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

/** Counts the events that match up to the anchor. */
export async function countEvents(
  reader: Reader,
  site: SiteId,
  filter: EventFilter,
  anchor: number | null,
): Promise<Counted> {
  // The number of matches of a text is unknown before the search.
  if (filter.search != null) return { rows: 0, exact: false };
  const rows = await count(reader, site, filter, toIdRange(filter, { anchor }), COUNTED_EVENTS);
  return { rows, exact: rows < COUNTED_EVENTS };
}

/** Counts events newer than `since`, up to `limit`. */
export function countNewEvents(
  reader: Reader,
  site: SiteId,
  filter: EventFilter,
  since: number,
  limit: number,
): Promise<number> {
  const range = toIdRange(filter, { after: since });
  return count(reader, site, filter, range, limit);
}

async function count(
  reader: Reader,
  site: SiteId,
  filter: EventFilter,
  range: IdRange,
  limit: number,
): Promise<number> {
  const number = await reader.siteNumber(site);
  const row = await reader.db
    .selectFrom(
      (filter.search == null
        ? matching(reader, number, filter, range)
        : matching(reader, number, filter, range).where(containsText(filter.search.text))
      )
        .select('events.id')
        .limit(limit)
        .as('found'),
    )
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
  if (filter.user != null) query = query.where('events.visitor', '=', filter.user);
  if (filter.activity != null) query = query.where('events.kind', '=', filter.activity);
  if (filter.addresses != null) {
    const ranges = filter.addresses.map(({ low, high }) => ({ low: parseKey(low), high: parseKey(high) }));
    query = query.where('events.address_visitor', 'in', (from) =>
      from
        .selectFrom('visitors')
        .select('visitors.id')
        .where('visitors.site', '=', site)
        .where('visitors.kind', '=', 'ip')
        .where((row) =>
          row.or(
            ranges.map(({ low, high }) => row.and([row('visitors.key', '>=', low), row('visitors.key', '<=', high)])),
          ),
        )
        .where('visitors.events', '>', 0),
    );
  }
  return query;
}
