import type { Visit } from '../../../activity/visit.js';
import type { Prepare } from '../../sqlite-worker/prepared-statements.js';
import type { KindBook } from './kind-book.js';
import type { SiteBook } from './site-book.js';
import type { VisitorBook } from './visitor-book.js';

/** Rules that refuse log-ins; who meets them counts among the failed log-ins. */
export const LOGIN_RULES: ReadonlySet<string> = new Set(['login-limit', 'login-access', 'away-mode']);

const ONE_ROW = { visits: 1, events: 0 };

/** Writes visits and counts them; the caller holds the transaction and flushes the books. */
export function writeVisits(
  prepare: Prepare,
  books: { readonly site: SiteBook; readonly visitors: VisitorBook; readonly kinds: KindBook },
  visits: Iterable<Visit>,
): void {
  const { site, visitors, kinds } = books;
  const insert = prepare('insert into visits (site, id, kind, visitor, count, target) values (?, ?, ?, ?, ?, ?)');
  for (const visit of fold(visits)) {
    const second = Math.floor(visit.at / 1000);
    const visitor = visitors.count(site.number, visit.address, second, ONE_ROW);
    const kind = kinds.idOf(kinds.typeOf(visit.agent, visitor.verifiedBot), visit.status, visit.rule);
    const id = site.newId(second);
    insert.run(site.number, id, kind, visitor.id, visit.count, visit.target);
    site.countRow(id, kind);
    site.countHits(second, kind, visit.count);
    site.countTop(second, 'address', visit.address, visit.count);
    if (visit.rule === null && visit.status < 300) site.countTop(second, 'page', pageOf(visit.target), visit.count);
    if (visit.rule !== null && LOGIN_RULES.has(visit.rule)) {
      site.countTop(second, 'failed-login', visit.address, visit.count);
    }
  }
}

/** Makes one of what is the same within a second. */
function fold(visits: Iterable<Visit>): Iterable<Visit> {
  const folded = new Map<string, Visit>();
  for (const visit of visits) {
    const second = Math.floor(visit.at / 1000);
    // The target comes last: it is the only part in which a stranger could write the sign between the parts.
    const key = `${second}\n${visit.address}\n${visit.status}\n${visit.rule ?? ''}\n${visit.agent ?? ''}\n${visit.target}`;
    const same = folded.get(key);
    if (same) same.count += visit.count;
    else folded.set(key, visit);
  }
  return folded.values();
}

function pageOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
