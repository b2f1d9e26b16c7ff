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
  const insert = prepare('insert into visits (site, id, kind, visitor, count, target) values (?, ?, ?, ?, ?, ?)');
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
    insert.run(site.number, id, kind, visitor.id, visit.count, visit.target);
    site.countRow(id, kind);
    return { id, kind };
  }

  for (const visit of visits) {
    const second = Math.floor(visit.at / 1000);
    const row = addToRow(visit, second) ?? writeRow(visit, second);
    rows.put(visit.number, site.number, row);
    site.countHits(second, row.kind, visit.count);
    site.countTop(second, 'address', visit.address, visit.count);
    if (visit.rule === null && visit.status < 300) site.countTop(second, 'page', pageOf(visit.target), visit.count);
    if (visit.rule !== null && LOGIN_RULES.has(visit.rule)) {
      site.countTop(second, 'failed-login', visit.address, visit.count);
    }
  }
}

function pageOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
