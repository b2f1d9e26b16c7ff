import type { AttackGoal } from '@security-optimizer/contract/attackers';
import { setBounded } from '../../lib/set-bounded.js';
import type { Prepare } from '../../storage/sqlite.js';
import type { NewEvent } from '../activity-store.js';
import { attackGoal, toPath } from '../attack-goal.js';
import { countHits, readTally } from '../packed-visits.js';
import type { NumberedVisit } from '../visit.js';
import { visitorType } from '../visitor-type.js';
import { toFirstId, toHour, toLastId, toSecond } from './row-keys.js';
import { FAILED_LOGINS, type SiteCounters } from './site-counters.js';
import type { VisitorCache } from './visitor-cache.js';

/** So many visits are remembered: some seconds of a flood. */
const ROWS_REMEMBERED = 32_768;

/** Where a visit was written. */
export interface KnownRow {
  readonly id: number;
  readonly kind: number;
}

/** What a visit is. */
export interface VisitKind {
  readonly type: string;
  readonly status: number;
  readonly rule: string | null;
  readonly goal: AttackGoal | null;
  readonly failed: boolean;
}

/** Knows the rows of the last visits by their numbers, so that a repeat adds to the row instead of making another. */
export class RowBuffer {
  readonly #numbers = new Uint32Array(ROWS_REMEMBERED);
  readonly #sites = new Uint32Array(ROWS_REMEMBERED);
  readonly #ids = new Float64Array(ROWS_REMEMBERED);
  readonly #kinds = new Uint32Array(ROWS_REMEMBERED);

  /** @param number of the visit; 0 is not remembered */
  put(number: number, site: number, { id, kind }: KnownRow): void {
    const slot = number % ROWS_REMEMBERED;
    this.#numbers[slot] = number;
    this.#sites[slot] = site;
    this.#ids[slot] = id;
    this.#kinds[slot] = kind;
  }

  /** The row of a visit if it is one of this second; the same visit in another second is another row. */
  find(number: number, site: number, second: number): KnownRow | null {
    const slot = number % ROWS_REMEMBERED;
    if (number === 0 || this.#numbers[slot] !== number || this.#sites[slot] !== site) return null;
    const id = this.#ids[slot] as number;
    return toSecond(id) === second ? { id, kind: this.#kinds[slot] as number } : null;
  }

  /** The rows were not written after all. */
  clear(): void {
    this.#numbers.fill(0);
  }
}

/** Agents whose type is remembered; a busy site sees some thousand different ones a day. */
const AGENTS_KEPT = 20_000;

/** Names what a visit is as one small number. */
export class VisitKinds {
  readonly #prepare: Prepare;
  readonly #types = new Map<string, string>();
  readonly #ids = new Map<string, number>();
  readonly #goals = new Map<number, AttackGoal | null>();

  constructor(prepare: Prepare) {
    this.#prepare = prepare;
  }

  toType(agent: string | null, verifiedBot: string | null): string {
    const key = `${verifiedBot ?? ''}\n${agent ?? ''}`;
    const known = this.#types.get(key);
    if (known !== undefined) return known;
    const type = visitorType(agent, verifiedBot);
    setBounded(this.#types, key, type, AGENTS_KEPT);
    return type;
  }

  /** Number of a kind, given out when it is new. */
  toId({ type, status, rule, goal, failed }: VisitKind): number {
    const key = `${status}\n${rule ?? ''}\n${goal ?? ''}\n${failed}\n${type}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const values = [type, status, rule ?? '', goal ?? '', failed ? 1 : 0];
    this.#prepare(
      'insert into visit_kinds (type, status, rule, goal, failed) values (?, ?, ?, ?, ?) on conflict do nothing',
    ).run(...values);
    const { id } = this.#prepare(
      'select id from visit_kinds where type = ? and status = ? and rule = ? and goal = ? and failed = ?',
    ).get(...values) as { id: number };
    this.#ids.set(key, id);
    this.#goals.set(id, goal);
    return id;
  }

  /** The goal of a kind that was given out since `clear`. */
  goalOf(id: number): AttackGoal | null {
    return this.#goals.get(id) ?? null;
  }

  /** Drops what may not be in the database after all. */
  clear(): void {
    this.#ids.clear();
  }
}

/** Texts that are remembered: agents, referers and origins. */
const TEXTS_KEPT = 10_000;
/** A text is noted as used once in so many seconds. */
const SEEN_EVERY = 86_400;

/** Gives texts of visits their ids, each once per site. */
export class VisitTexts {
  readonly #prepare: Prepare;
  readonly #known = new Map<string, { readonly id: number; seen: number }>();

  constructor(prepare: Prepare) {
    this.#prepare = prepare;
  }

  /** @param at Unix seconds of the visit @returns 0 for an empty text */
  toId(site: number, text: string, at: number): number {
    if (text === '') return 0;
    const key = `${site} ${text}`;
    const known = this.#known.get(key);
    if (known !== undefined && at - known.seen < SEEN_EVERY) return known.id;
    const { id } = this.#prepare(
      `insert into visit_texts (site, text, seen) values (?, ?, ?)
       on conflict (site, text) do update set seen = max(seen, excluded.seen) returning id`,
    ).get(site, text, at) as { id: number };
    setBounded(this.#known, key, { id, seen: at }, TEXTS_KEPT);
    return id;
  }

  /** Drops what may not be in the database after all, or not any more. */
  clear(): void {
    this.#known.clear();
  }
}

const ONE_VISIT = { visits: 1, events: 0 };

/**
 * Writes visits and counts them; the caller holds the transaction and flushes the caches. A visit that repeats one of
 * the same second adds to its row.
 */
export function writeVisits(
  prepare: Prepare,
  caches: {
    readonly site: SiteCounters;
    readonly visitors: VisitorCache;
    readonly kinds: VisitKinds;
    readonly texts: VisitTexts;
    readonly rows: RowBuffer;
  },
  visits: Iterable<NumberedVisit>,
): void {
  const { site, visitors, kinds, texts, rows } = caches;
  const insert = prepare(
    `insert into visits (site, id, kind, visitor, count, target, more, more_bits, method, agent, referer, origin,
       reference, last_reference, failed, tried) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const add = prepare(
    'update visits set count = count + ?, last_reference = max(last_reference, ?) where site = ? and id = ?',
  );

  /** Null when there is none, or not any more. */
  function addToRow(visit: NumberedVisit, second: number): KnownRow | null {
    const row = rows.find(visit.repeats, site.number, second);
    if (row === null) return null;
    const { count, lastReference = 0 } = visit;
    return add.run(count, lastReference, site.number, row.id).changes === 1 ? row : null;
  }

  function writeRow(visit: NumberedVisit, second: number): KnownRow {
    const visitor = visitors.count(site.number, visit.address, second, ONE_VISIT);
    const { agent, status, rule, target, count, more, moreBits, method = '', failedLogins = 0, tried = '' } = visit;
    const type = kinds.toType(agent, visitor.verifiedBot);
    const isKnownCrawler = visitor.verifiedBot !== null;
    const goal = attackGoal({ rule, target, status, method, failedLogins, isKnownCrawler });
    const kind = kinds.toId({ type, status, rule, goal, failed: failedLogins > 0 });
    const id = site.newId(second);
    const textIds = [agent ?? '', visit.referer ?? '', visit.origin ?? ''].map((text) =>
      texts.toId(site.number, text, second),
    ) as [number, number, number];
    const references = [visit.reference ?? 0, visit.lastReference ?? visit.reference ?? 0] as const;
    const login = tried === '' ? '' : Buffer.from(tried, 'latin1').toString('utf8');
    insert.run(
      ...[site.number, id, kind, visitor.id, count, target, more, moreBits],
      ...[method, ...textIds, ...references, failedLogins, login],
    );
    site.countRow(id, kind);
    return { id, kind };
  }

  /** Counts what was refused: each request that a rule refused, and each wrong password. */
  function countAttacks(visit: NumberedVisit, second: number, goal: AttackGoal): void {
    const { rule, address, count, more, moreBits, failedLogins = 0 } = visit;
    const isRefused = rule !== null;
    // Without a row it only tells wrong passwords of a request that has its row already.
    const passwords = isRefused ? 0 : failedLogins * Math.max(count, 1);
    if (passwords > 0) {
      site.countHits(second, FAILED_LOGINS, passwords);
      site.countTop(second, 'failed-login', address, passwords);
    }
    const path = toPath(visit.target);
    // The requests that were folded in may have asked for other paths.
    const folded = isRefused && moreBits === null ? more : 0;
    const refused = isRefused ? count - folded : 0;
    const attack = { goal, at: second, refused: 0, failed: 0, address, target: null };
    if (refused + passwords > 0) site.countAttack({ ...attack, target: path, refused, failed: passwords });
    if (folded > 0) site.countAttack({ ...attack, refused: folded });
    if (refused + passwords > 0) site.countTop(second, 'attacked-page', path, refused + passwords);
    if (!isRefused) return;
    for (const other of readTally(visit.others)) {
      site.countAttack({ ...attack, address: other.address, refused: other.hits });
    }
  }

  for (const visit of visits) {
    const { rule, address, count } = visit;
    const second = Math.floor(visit.at / 1000);
    if (count === 0) {
      countAttacks(visit, second, 'passwords');
      continue;
    }
    const row = addToRow(visit, second) ?? writeRow(visit, second);
    rows.put(visit.number, site.number, row);
    site.countHits(second, row.kind, countHits(visit));
    site.countTop(second, 'address', address, count);
    for (const other of readTally(visit.others)) site.countTop(second, 'address', other.address, other.hits);
    if (rule !== null || (visit.failedLogins ?? 0) > 0) {
      countAttacks(visit, second, kinds.goalOf(row.kind) ?? 'overload');
    }
    if (rule === null && visit.status < 300) site.countTop(second, 'page', toPath(visit.target), count);
  }
}

const ONE_EVENT = { visits: 0, events: 1 };

/** Writes events that are not there yet, and counts them; the caller holds the transaction and flushes the caches. */
export function writeEvents(
  prepare: Prepare,
  caches: { readonly site: SiteCounters; readonly visitors: VisitorCache },
  events: readonly NewEvent[],
): void {
  const { site, visitors } = caches;
  const known = prepare('select 1 from events where site = ? and uid = ?');
  const insert = prepare(
    `insert into events (site, id, uid, kind, visitor, user_id, login, address, address_visitor, object, object_type,
       before, after, origin) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const hour = prepare(
    `insert into event_hours (site, hour, kind, count) values (?, ?, ?, 1)
     on conflict (site, hour, kind) do update set count = count + 1`,
  );
  for (const event of events) {
    if (known.get(site.number, event.uid)) continue;
    const { user, address } = event;
    const at = Math.floor(event.at);
    const visitor = user === null ? 0 : visitors.findByUser(site.number, user, at, 1).id;
    const addressVisitor = address === '' ? 0 : visitors.count(site.number, address, at, ONE_EVENT).id;
    insert.run(
      site.number,
      newId(prepare, site.number, at),
      event.uid,
      event.kind,
      visitor,
      user?.id ?? 0,
      user?.login ?? event.program ?? '',
      address,
      addressVisitor,
      event.object,
      event.objectType,
      event.before,
      event.after,
      event.origin,
    );
    hour.run(site.number, toHour(at), event.kind);
  }
}

function newId(prepare: Prepare, site: number, second: number): number {
  const { id } = prepare('select max(id) as id from events where site = ? and id between ? and ?').get(
    site,
    toFirstId(second),
    toLastId(second),
  ) as { id: number | null };
  return id === null ? toFirstId(second) : id + 1;
}
