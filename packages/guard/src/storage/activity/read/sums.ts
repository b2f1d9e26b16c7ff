import { sql } from 'kysely';
import type { TopEntry, TrafficHour } from '../../../activity/activity-store.js';
import { HUMAN } from '../../../activity/visitor-type.js';
import type { SiteId } from '../../../site.js';
import type { TopWhat } from '../activity-schema.js';
import { firstIdOf, hourOf, ROWS_PER_SECOND } from '../row-id.js';
import { DROPPED } from '../write/site-book.js';
import { LOGIN_RULES } from '../write/write-visits.js';
import type { Reader } from './reader.js';

/** Hits per hour of a site. */
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

/** Log-ins that the gate refused. */
export async function refusedLogins(reader: Reader, site: SiteId, from: number, to: number): Promise<number> {
  const number = await reader.siteNumber(site);
  const row = await reader.db
    .selectFrom('visit_hours')
    .innerJoin('visit_kinds', 'visit_kinds.id', 'visit_hours.kind')
    .select((hour) => hour.fn.sum<number | null>('visit_hours.hits').as('hits'))
    .where('visit_hours.site', '=', number)
    .where('visit_hours.hour', '>=', from)
    .where('visit_hours.hour', '<', to)
    .where('visit_kinds.rule', 'in', [...LOGIN_RULES])
    .executeTakeFirst();
  return row?.hits ?? 0;
}

/** Hits of one visitor per hour. */
export async function visitorHours(
  reader: Reader,
  site: SiteId,
  visitor: number,
  from: number,
  to: number,
): Promise<readonly number[]> {
  const number = await reader.siteNumber(site);
  const start = hourOf(from);
  const hours = new Array<number>(Math.max(0, Math.ceil((to - start) / 3600))).fill(0);
  if (hours.length === 0) return hours;
  const low = firstIdOf(start);
  const rows = await reader.db
    .selectFrom('visits')
    .select([
      sql<number>`cast((id - ${low}) / ${ROWS_PER_SECOND * 3600} as integer)`.as('hour'),
      (row) => row.fn.sum<number>('count').as('hits'),
    ])
    .where('site', '=', number)
    .where('visitor', '=', visitor)
    .where('id', '>=', low)
    .where('id', '<', firstIdOf(start + hours.length * 3600))
    .groupBy('hour')
    .execute();
  for (const { hour, hits } of rows) hours[hour] = hits;
  return hours;
}

/** The most frequent values of some days, by the hits that are surely theirs. */
export async function top(
  reader: Reader,
  site: SiteId,
  what: TopWhat,
  fromDay: string,
  toDay: string,
  most: number,
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
    .limit(most)
    .execute();
}

/** Events per kind. */
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

/** Visits that were not recorded. */
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
    .where('hour', '>=', hourOf(from))
    .where('hour', '<', to)
    .executeTakeFirst();
  return row?.dropped ?? 0;
}
