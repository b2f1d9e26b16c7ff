import { sql } from 'kysely';
import type { SiteId } from '../../site.js';
import type { ActivityStore, AttackFacts, VisitDetails, Visitor, VisitRow } from '../activity-store.js';
import { estimateDistinct } from './address-sketch.js';
import { top } from './read-aggregates.js';
import { readRows } from './read-visits.js';
import type { Reader } from './reader.js';
import { toAddressKey, toFirstId, toVisitor } from './row-keys.js';
import { FAILED_LOGINS } from './site-counters.js';

/** Paths that are ranked. */
const TARGETS = 20;
/** Kinds of events that are a login. */
const LOGIN_EVENTS = ['login'] as const;

/** Counts wrong passwords per hour. */
export async function failedLogins(
  reader: Reader,
  site: SiteId,
  from: number,
  to: number,
): Promise<readonly { readonly hour: number; readonly count: number }[]> {
  const number = await reader.siteNumber(site);
  return reader.db
    .selectFrom('visit_hours')
    .select(['hour', 'hits as count'])
    .where('site', '=', number)
    .where('kind', '=', FAILED_LOGINS)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .orderBy('hour')
    .execute();
}

/** Counts the addresses that sent wrong passwords: exact while each of them has a counter, else estimated. */
export async function failedLoginAddresses(
  reader: Reader,
  site: SiteId,
  fromDay: string,
  toDay: string,
): Promise<number> {
  const number = await reader.siteNumber(site);
  const counted = await reader.db
    .selectFrom('top_visits')
    .select((row) => [
      sql<number>`count(distinct value)`.as('addresses'),
      row.fn.sum<number | null>('excess').as('excess'),
    ])
    .where('site', '=', number)
    .where('what', '=', 'failed-login')
    .where('day', '>=', fromDay)
    .where('day', '<=', toDay)
    .executeTakeFirstOrThrow();
  if ((counted.excess ?? 0) === 0) return counted.addresses;
  return Math.max(counted.addresses, await estimate(reader, number, 'failed-login', fromDay, toDay));
}

async function estimate(
  { db }: Reader,
  site: number,
  what: 'attacker' | 'failed-login',
  fromDay: string,
  toDay: string,
): Promise<number> {
  const rows = await db
    .selectFrom('address_sketches')
    .select('registers')
    .where('site', '=', site)
    .where('what', '=', what)
    .where('day', '>=', fromDay)
    .where('day', '<=', toDay)
    .execute();
  return estimateDistinct(rows.map(({ registers }) => registers));
}

/** Returns the attackers of some days. */
export async function attacks(reader: Reader, site: SiteId, fromDay: string, toDay: string): Promise<AttackFacts> {
  const number = await reader.siteNumber(site);
  const { db } = reader;
  const [totals, attackers, targets, estimatedAddresses] = await Promise.all([
    db
      .selectFrom('attack_days')
      .select((row) => [
        'goal',
        row.fn.sum<number>('refused').as('refused'),
        row.fn.sum<number>('failed').as('failed'),
        row.fn.sum<number>('scanned').as('scanned'),
      ])
      .where('site', '=', number)
      .where('day', '>=', fromDay)
      .where('day', '<=', toDay)
      .groupBy('goal')
      .execute(),
    db
      .selectFrom('attackers')
      .selectAll()
      .where('site', '=', number)
      .where('day', '>=', fromDay)
      .where('day', '<=', toDay)
      .execute(),
    top(reader, site, 'attacked-page', fromDay, toDay, TARGETS),
    estimate(reader, number, 'attacker', fromDay, toDay),
  ]);
  return {
    totals,
    targets,
    estimatedAddresses,
    attackers: attackers.map(({ day, who, value, hits, excess, goals, scans, targets, since }) => ({
      ...{ day, who, value, hits: hits - excess, isReplaced: excess > 0, scans, since },
      goals: goals.split(',').map(Number),
      targets: JSON.parse(targets),
    })),
  };
}

/** Counts logins of addresses since a time of each, by address; addresses without logins are omitted. */
export async function readAttackedLogins(
  reader: Reader,
  site: SiteId,
  attackers: Parameters<ActivityStore['readAttackedLogins']>[1],
): Promise<ReadonlyMap<string, number>> {
  const number = await reader.siteNumber(site);
  const visitors = await readVisitors(
    reader,
    site,
    attackers.map(({ address }) => address),
  );
  const wanted = attackers.flatMap(({ address, since }) => {
    const visitor = visitors.get(address);
    return visitor === undefined ? [] : [[visitor.id, toFirstId(since)]];
  });
  if (wanted.length === 0) return new Map();
  const found = await sql<{ name: string; logins: number }>`with wanted as (
      select json_extract(value, '$[0]') as visitor, json_extract(value, '$[1]') as since
      from json_each(${JSON.stringify(wanted)}))
    select w.name, count(*) as logins from wanted cross join visitors w on w.id = wanted.visitor and w.events > 0
    cross join events e indexed by events_by_address
      on e.site = ${number} and e.address_visitor = wanted.visitor and e.id >= wanted.since
    where e.kind in (${sql.join([...LOGIN_EVENTS])}) group by w.id`.execute(reader.db);
  return new Map(found.rows.map(({ name, logins }) => [name, logins]));
}

/** Returns visitors by address. It is a cross join because SQLite may otherwise scan all visitors for each address. */
export async function readVisitors(
  reader: Reader,
  site: SiteId,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, Visitor>> {
  if (addresses.length === 0) return new Map();
  const number = await reader.siteNumber(site);
  const keys = addresses.map((address) => Buffer.from(toAddressKey(address)).toString('hex'));
  const rows = await sql<Parameters<typeof toVisitor>[0]>`select v.* from json_each(${JSON.stringify(keys)}) wanted
    cross join visitors v on v.site = ${number} and v.kind = 'ip' and v.key = unhex(wanted.value)`.execute(reader.db);
  return new Map(rows.rows.map((row) => [row.name, toVisitor(row)]));
}

/** Returns a visit with all its details, or null. */
export async function readVisit(reader: Reader, site: SiteId, id: number): Promise<VisitDetails | null> {
  const number = await reader.siteNumber(site);
  const [row] = await readRows(reader, number, [id]);
  if (row === undefined) return null;
  const found = await sql<{
    method: string;
    agent: string | null;
    referer: string | null;
    origin: string | null;
    reference: number;
    visits: number | null;
  }>`select v.method, a.text as agent, r.text as referer, o.text as origin, v.reference, w.visits
    from visits v left join visitors w on w.id = v.visitor
    left join visit_texts a on a.id = v.agent left join visit_texts r on r.id = v.referer
    left join visit_texts o on o.id = v.origin where v.site = ${number} and v.id = ${id}`.execute(reader.db);
  const more = found.rows[0];
  return {
    ...row,
    method: more?.method ?? '',
    agent: more?.agent ?? '',
    referer: more?.referer ?? '',
    origin: more?.origin ?? '',
    reference: more?.reference ?? 0,
    visitorRows: more?.visits ?? 0,
  };
}

/** Returns visits of a visitor around one of them, newest first; half of them are older, if there are enough. */
export async function visitsAround(
  reader: Reader,
  site: SiteId,
  { id, visitorId }: { readonly id: number; readonly visitorId: number },
  limit: number,
): Promise<readonly VisitRow[]> {
  const number = await reader.siteNumber(site);
  const list = async (from: ReturnType<typeof sql>, order: 'asc' | 'desc') =>
    (
      await sql<{ id: number }>`select id from visits indexed by visits_by_visitor
        where site = ${number} and visitor = ${visitorId} and ${from} order by id ${sql.raw(order)}
        limit ${limit}`.execute(reader.db)
    ).rows.map((row) => row.id);
  const newer = (await list(sql`id > ${id}`, 'asc')).reverse();
  const older = await list(sql`id <= ${id}`, 'desc');
  // The requested visit is the first of the older ones.
  const shownNewer = Math.min(newer.length, Math.max(Math.floor(limit / 2), limit - older.length));
  const ids = [...newer.slice(newer.length - shownNewer), ...older.slice(0, limit - shownNewer)];
  return readRows(reader, number, ids);
}
