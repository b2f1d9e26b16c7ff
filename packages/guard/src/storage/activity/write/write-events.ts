import type { NewEvent } from '../../../activity/activity-store.js';
import type { Prepare } from '../../sqlite-worker/prepared-statements.js';
import { firstIdOf, hourOf, lastIdOf } from '../row-id.js';
import type { SiteBook } from './site-book.js';
import type { VisitorBook } from './visitor-book.js';

const ONE_ROW = { visits: 0, events: 1 };

/** Writes events that are not there yet, and counts them; the caller holds the transaction and flushes the books. */
export function writeEvents(
  prepare: Prepare,
  books: { readonly site: SiteBook; readonly visitors: VisitorBook },
  events: readonly NewEvent[],
): void {
  const { site, visitors } = books;
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
    const visitor = user === null ? 0 : visitors.ofUser(site.number, user, at, 1).id;
    const addressVisitor = address === '' ? 0 : visitors.count(site.number, address, at, ONE_ROW).id;
    insert.run(
      site.number,
      newId(prepare, site.number, at),
      event.uid,
      event.kind,
      visitor,
      user?.id ?? 0,
      user?.login ?? '',
      address,
      addressVisitor,
      event.object,
      event.objectType,
      event.before,
      event.after,
      event.origin,
    );
    hour.run(site.number, hourOf(at), event.kind);
    if (event.kind === 'login.failed' && address !== '') site.countTop(at, 'failed-login', address, 1);
  }
}

function newId(prepare: Prepare, site: number, second: number): number {
  const { id } = prepare('select max(id) as id from events where site = ? and id between ? and ?').get(
    site,
    firstIdOf(second),
    lastIdOf(second),
  ) as { id: number | null };
  return id === null ? firstIdOf(second) : id + 1;
}
