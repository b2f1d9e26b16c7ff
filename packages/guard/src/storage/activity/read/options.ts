import { sql } from 'kysely';
import type { ActivityStore } from '../../../activity/activity-store.js';
import type { SiteId } from '../../../site.js';
import { hourOf, secondOf } from '../row-id.js';
import { ALL_KINDS } from '../write/site-book.js';
import type { Reader } from './reader.js';

/** Addresses that hold the searched text and are looked at to find the most frequent among them. */
const ADDRESSES_LOOKED_AT = 2000;
const HALF_DAY = 12 * 3600;

type Filter = Parameters<ActivityStore['options']>[1];
interface Choice {
  readonly label: string;
  readonly value: string;
}

/** Choices of a filter that hold the text, most frequent first. */
export async function options(
  reader: Reader,
  site: SiteId,
  filter: Filter,
  search: string,
  most: number,
): Promise<readonly Choice[]> {
  const number = await reader.siteNumber(site);
  if (number === 0) return [];
  return choices[filter](reader, number, search.trim(), most);
}

const choices: Record<Filter, (reader: Reader, site: number, search: string, most: number) => Promise<Choice[]>> = {
  type: (reader, site, search, most) => kindsBy(reader, site, 'type', search, most),
  code: (reader, site, search, most) => kindsBy(reader, site, 'status', search, most),

  async ip(reader, site, search, most) {
    if (search === '') return frequentAddresses(reader, site, most);
    const found = await sql<{ name: string }>`select name from (select v.name, v.visits from visitors v where v.id in
      (select id from visitors where site = ${site} and kind = 'ip' and name like ${pattern(search)} escape '\\'
       limit ${ADDRESSES_LOOKED_AT})) where visits > 0 order by visits desc, name limit ${most}`.execute(reader.db);
    return found.rows.map(({ name }) => ({ label: name, value: name }));
  },

  async user({ db }, site, search, most) {
    let query = db
      .selectFrom('visitors')
      .select(['id', 'name'])
      .where('site', '=', site)
      .where('kind', '=', 'user')
      .where('events', '>', 0);
    if (search !== '') query = query.where(sql<boolean>`name like ${pattern(search)} escape '\\'`);
    const rows = await query.orderBy('events', 'desc').limit(most).execute();
    return rows.map(({ id, name }) => ({ label: name, value: String(id) }));
  },

  async activity({ db }, site, search, most) {
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
      .where('hour', '>=', hourOf(secondOf(oldest.id)))
      .groupBy('kind')
      .orderBy((from) => from.fn.sum('count'), 'desc')
      .execute();
    return rows
      .map(({ kind }) => ({ label: kind, value: kind }))
      .filter(({ label }) => label.includes(search))
      .slice(0, most);
  },
};

async function kindsBy(
  { db }: Reader,
  site: number,
  column: 'type' | 'status',
  search: string,
  most: number,
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
    .slice(0, most);
}

/**
 * The most frequent addresses of the days of which rows are left, of the last days when the list is short. Only those
 * with a row: many addresses of a flood share the row of another.
 */
async function frequentAddresses({ db }: Reader, site: number, most: number): Promise<Choice[]> {
  const oldest = await db
    .selectFrom('visits')
    .select((from) => from.fn.min('id').as('id'))
    .where('site', '=', site)
    .executeTakeFirst();
  if (oldest?.id == null) return [];
  // Tops are kept by days of the site, which is up to twelve hours behind UTC.
  const day = new Date((secondOf(oldest.id) - HALF_DAY) * 1000).toISOString().slice(0, 10);
  // Of twice as many as are wanted, so that a flood costs neither the reader nor, mostly, the length of the list.
  const rows = await sql<{ value: string }>`select value from
    (select value, sum(hits - excess) as hits from top_visits where site = ${site} and what = 'address' and day >= ${day}
     group by value order by hits desc, value limit ${2 * most}) frequent
    where exists (select 1 from visitors v indexed by visitors_by_name
      where v.site = ${site} and v.kind = 'ip' and v.name = frequent.value and v.visits > 0)
    order by hits desc, value limit ${most}`.execute(db);
  return rows.rows.map(({ value }) => ({ label: value, value }));
}

/** Pattern for LIKE that takes the text as it is. */
function pattern(search: string): string {
  return `%${search.replace(/[\\%_]/g, '\\$&')}%`;
}
