import { HUMAN } from '@security-optimizer/contract/activity/schemas';
import { sql } from 'kysely';
import type { SiteId } from '../../site.js';
import type { ActivityStore, TopEntry, TrafficHour } from '../activity-store.js';
import type { Reader } from './reader.js';
import { ROWS_PER_SECOND, toFirstId, toHour, toSecond } from './row-keys.js';
import type { TopWhat } from './schema.js';
import { ALL_KINDS, DROPPED } from './site-counters.js';

/** Returns hits per hour of a site. */
export async function traffic(reader: Reader, site: SiteId, from: number, to: number): Promise<readonly TrafficHour[]> {
  const number = await reader.siteNumber(site);
  return reader.db
    .selectFrom('visit_hours')
    .innerJoin('visit_kinds', 'visit_kinds.id', 'visit_hours.kind')
    .select([
      'visit_hours.hour',
      sql<number>`sum(case when rule = '' and type = ${HUMAN} then hits else 0 end)`.as('humans'),
      sql<number>`sum(case when rule = '' and type <> ${HUMAN} then hits else 0 end)`.as('bots'),
      sql<number>`sum(case when rule <> '' then hits else 0 end)`.as('blocked'),
    ])
    .where('visit_hours.site', '=', number)
    .where('visit_hours.hour', '>=', from)
    .where('visit_hours.hour', '<', to)
    .groupBy('visit_hours.hour')
    .orderBy('visit_hours.hour')
    .execute();
}

/** Returns hits of one visitor per hour. */
export async function visitorHours(
  reader: Reader,
  site: SiteId,
  visitor: number,
  from: number,
  to: number,
): Promise<readonly number[]> {
  const number = await reader.siteNumber(site);
  const start = toHour(from);
  const hours = new Array<number>(Math.max(0, Math.ceil((to - start) / 3600))).fill(0);
  if (hours.length === 0) return hours;
  const low = toFirstId(start);
  const rows = await reader.db
    .selectFrom('visits')
    .select([
      sql<number>`cast((id - ${low}) / ${ROWS_PER_SECOND * 3600} as integer)`.as('hour'),
      (row) => row.fn.sum<number>('count').as('hits'),
    ])
    .where('site', '=', number)
    .where('visitor', '=', visitor)
    .where('id', '>=', low)
    .where('id', '<', toFirstId(start + hours.length * 3600))
    .groupBy('hour')
    .execute();
  for (const { hour, hits } of rows) hours[hour] = hits;
  return hours;
}

/** Returns the most frequent values of some days, by the hits that certainly belong to them. */
export async function top(
  reader: Reader,
  site: SiteId,
  what: TopWhat,
  fromDay: string,
  toDay: string,
  limit: number,
): Promise<readonly TopEntry[]> {
  const number = await reader.siteNumber(site);
  return reader.db
    .selectFrom('top_visits')
    .select(['value', sql<number>`sum(hits - excess)`.as('count')])
    .where('site', '=', number)
    .where('what', '=', what)
    .where('day', '>=', fromDay)
    .where('day', '<=', toDay)
    .groupBy('value')
    .orderBy('count', 'desc')
    .orderBy('value')
    .limit(limit)
    .execute();
}

/** Counts events by kind. */
export async function eventKinds(
  reader: Reader,
  site: SiteId,
  from: number,
  to: number,
): Promise<readonly { readonly kind: string; readonly count: number }[]> {
  const number = await reader.siteNumber(site);
  return reader.db
    .selectFrom('event_hours')
    .select(['kind', (row) => row.fn.sum<number>('count').as('count')])
    .where('site', '=', number)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy('kind')
    .orderBy('count', 'desc')
    .orderBy('kind')
    .execute();
}

/** Counts visits that were not recorded. */
export async function droppedVisits(
  reader: Reader,
  site: SiteId,
  from: number,
  to = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  const number = await reader.siteNumber(site);
  const row = await reader.db
    .selectFrom('visit_hours')
    .select((hour) => hour.fn.sum<number | null>('hits').as('dropped'))
    .where('site', '=', number)
    .where('kind', '=', DROPPED)
    .where('hour', '>=', toHour(from))
    .where('hour', '<', to)
    .executeTakeFirst();
  return row?.dropped ?? 0;
}

/** Addresses with the searched text that are examined to find the most frequent among them. */
const SCANNED_ADDRESSES_MAX = 2000;
const HALF_DAY = 12 * 3600;

type Filter = Parameters<ActivityStore['options']>[1];
interface Choice {
  readonly label: string;
  readonly value: string;
}

/** Returns choices of a filter that contain the text, most frequent first. */
export async function options(
  reader: Reader,
  site: SiteId,
  filter: Filter,
  search: string,
  limit: number,
): Promise<readonly Choice[]> {
  const number = await reader.siteNumber(site);
  if (number === 0) return [];
  return choices[filter](reader, number, search.trim(), limit);
}

const choices: Record<Filter, (reader: Reader, site: number, search: string, limit: number) => Promise<Choice[]>> = {
  type: (reader, site, search, limit) => kindsBy(reader, site, 'type', search, limit),
  code: (reader, site, search, limit) => kindsBy(reader, site, 'status', search, limit),

  async ip(reader, site, search, limit) {
    if (search === '') return frequentAddresses(reader, site, limit);
    const found = await sql<{ name: string }>`select name from (select v.name, v.visits from visitors v where v.id in
      (select id from visitors where site = ${site} and kind = 'ip' and name like ${pattern(search)} escape '\\'
       limit ${SCANNED_ADDRESSES_MAX})) where visits > 0 order by visits desc, name limit ${limit}`.execute(reader.db);
    return found.rows.map(({ name }) => ({ label: name, value: name }));
  },

  async user({ db }, site, search, limit) {
    let query = db
      .selectFrom('visitors')
      .select(['id', 'name'])
      .where('site', '=', site)
      .where('kind', '=', 'user')
      .where('events', '>', 0);
    if (search !== '') query = query.where(sql<boolean>`name like ${pattern(search)} escape '\\'`);
    const rows = await query.orderBy('events', 'desc').limit(limit).execute();
    return rows.map(({ id, name }) => ({ label: name, value: String(id) }));
  },

  async activity({ db }, site, search, limit) {
    const oldest = await db
      .selectFrom('events')
      .select((from) => from.fn.min('id').as('id'))
      .where('site', '=', site)
      .executeTakeFirst();
    if (oldest?.id == null) return [];
    const rows = await db
      .selectFrom('event_hours')
      .select('kind')
      .where('site', '=', site)
      .where('hour', '>=', toHour(toSecond(oldest.id)))
      .groupBy('kind')
      .orderBy((from) => from.fn.sum('count'), 'desc')
      .execute();
    return rows
      .map(({ kind }) => ({ label: kind, value: kind }))
      .filter(({ label }) => label.includes(search))
      .slice(0, limit);
  },
};

async function kindsBy(
  { db }: Reader,
  site: number,
  column: 'type' | 'status',
  search: string,
  limit: number,
): Promise<Choice[]> {
  const rows = await db
    .selectFrom('visit_sums')
    .innerJoin('visit_kinds', 'visit_kinds.id', 'visit_sums.kind')
    .select(`visit_kinds.${column} as value`)
    .where('visit_sums.site', '=', site)
    .where('visit_sums.kind', '>', ALL_KINDS)
    .where('visit_sums.rows', '>', 0)
    .groupBy('value')
    .orderBy((from) => from.fn.sum('visit_sums.rows'), 'desc')
    .execute();
  return rows
    .map(({ value }) => ({ label: String(value), value: String(value) }))
    .filter(({ label }) => label.toLowerCase().includes(search.toLowerCase()))
    .slice(0, limit);
}

/**
 * Returns the most frequent addresses of the days that have rows; of the last days when the list is short. An address
 * without a row of its own is omitted: in a flood many addresses share the row of another.
 */
async function frequentAddresses({ db }: Reader, site: number, limit: number): Promise<Choice[]> {
  const oldest = await db
    .selectFrom('visits')
    .select((from) => from.fn.min('id').as('id'))
    .where('site', '=', site)
    .executeTakeFirst();
  if (oldest?.id == null) return [];
  // Tops are counted by days of the site, which is at most twelve hours behind UTC.
  const day = new Date((toSecond(oldest.id) - HALF_DAY) * 1000).toISOString().slice(0, 10);
  // Twice as many as needed are read, so that a flood neither slows down the reader nor, in most cases, shortens the
  // list.
  const rows = await sql<{ value: string }>`select value from
    (select value, sum(hits - excess) as hits from top_visits where site = ${site} and what = 'address' and day >= ${day}
     group by value order by hits desc, value limit ${2 * limit}) frequent
    where exists (select 1 from visitors v indexed by visitors_by_name
      where v.site = ${site} and v.kind = 'ip' and v.name = frequent.value and v.visits > 0)
    order by hits desc, value limit ${limit}`.execute(db);
  return rows.rows.map(({ value }) => ({ label: value, value }));
}

/** Returns the pattern for LIKE that matches the text literally. */
function pattern(search: string): string {
  return `%${search.replace(/[\\%_]/g, '\\$&')}%`;
}
