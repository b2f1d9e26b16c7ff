import { readTally } from '../../../activity/address-tally.js';
import { hitsOf } from '../../../activity/packed-visits.js';
import type { NumberedVisit } from '../../../activity/visit.js';
import type { Prepare } from '../../sqlite-worker/prepared-statements.js';
import type { KindBook } from './kind-book.js';
import type { KnownRow, RowBook } from './row-book.js';
import type { SiteBook } from './site-book.js';
import type { VisitorBook } from './visitor-book.js';

/** Rules that refuse log-ins; who meets them counts among the failed log-ins. */
export const LOGIN_RULES: ReadonlySet<string> = new Set(['login-limit', 'login-access', 'away-mode']);

const ONE_ROW = { visits: 1, events: 0 };

/**
 * Writes visits and counts them; the caller holds the transaction and flushes the books. A visit that repeats one of
 * the same second adds to its row.
 */
export function writeVisits(
  prepare: Prepare,
  books: {
    readonly site: SiteBook;
    readonly visitors: VisitorBook;
    readonly kinds: KindBook;
    readonly rows: RowBook;
  },
  visits: Iterable<NumberedVisit>,
): void {
  const { site, visitors, kinds, rows } = books;
  const insert = prepare(
    'insert into visits (site, id, kind, visitor, count, target, more, more_bits) values (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const add = prepare('update visits set count = count + ? where site = ? and id = ?');

  /** Null when there is none, or not any more. */
  function addToRow(visit: NumberedVisit, second: number): KnownRow | null {
    const row = rows.find(visit.repeats, site.number, second);
    return row !== null && add.run(visit.count, site.number, row.id).changes === 1 ? row : null;
  }

  function writeRow(visit: NumberedVisit, second: number): KnownRow {
    const visitor = visitors.count(site.number, visit.address, second, ONE_ROW);
    const kind = kinds.idOf(kinds.typeOf(visit.agent, visitor.verifiedBot), visit.status, visit.rule);
    const id = site.newId(second);
    insert.run(site.number, id, kind, visitor.id, visit.count, visit.target, visit.more, visit.moreBits);
    site.countRow(id, kind);
    return { id, kind };
  }

  function countAddress(second: number, rule: string | null, address: string, hits: number): void {
    site.countTop(second, 'address', address, hits);
    if (rule !== null && LOGIN_RULES.has(rule)) site.countTop(second, 'failed-login', address, hits);
  }

  for (const visit of visits) {
    const { rule, address, count } = visit;
    const second = Math.floor(visit.at / 1000);
    const row = addToRow(visit, second) ?? writeRow(visit, second);
    rows.put(visit.number, site.number, row);
    site.countHits(second, row.kind, hitsOf(visit));
    countAddress(second, rule, address, count);
    for (const other of readTally(visit.others)) countAddress(second, rule, other.address, other.hits);
    if (rule === null && visit.status < 300) site.countTop(second, 'page', pageOf(visit.target), count);
  }
}

function pageOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
