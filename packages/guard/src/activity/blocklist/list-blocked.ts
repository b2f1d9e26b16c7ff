import { LIMITED_ROWS, PAGE_ROWS } from '@security-optimizer/contract/activity/limits';
import type { BlockedRow } from '@security-optimizer/contract/activity/schemas';
import type { Clock } from '../../lib/clock.js';
import { toLocalTimestamp } from '../../lib/time-zone.js';
import type { StoredAttempt } from '../../login/index.js';
import type { SiteId } from '../../site.js';
import type { ActivityStore, Visitor } from '../activity-store.js';
import { type ListCursors, type ListPage, type ListQuery, readCursor, writeCursor } from '../list-activity.js';
import type { BlockedVisitor, BlocklistStore } from './blocklist-store.js';

export interface BlockedListContext {
  readonly blocked: Pick<BlocklistStore, 'list' | 'count' | 'setVisitorId'>;
  readonly visitors: Pick<ActivityStore, 'visitor' | 'getAddressVisitor'>;
  /** Returns the addresses that are locked by failed logins, newest first. */
  readonly locks: (site: SiteId) => readonly StoredAttempt[];
  readonly cursors: ListCursors;
  readonly timeZone: (site: SiteId) => string;
  readonly clock: Clock;
}

/** Lockouts that are listed; during an attack there may be many thousands. */
const LOCKS_MAX = 1000;

type Entry = { readonly at: number } & ({ readonly block: BlockedVisitor } | { readonly lock: StoredAttempt });

/**
 * Returns a page of all blocked visitors: addresses, ranges and users by the owner, addresses by failed logins. Newest
 * first; visitors that are blocked while the list is read do not shift its pages. Throws StorageError.
 */
export async function listBlocked(deps: BlockedListContext, query: ListQuery): Promise<ListPage<BlockedRow>> {
  const site = query.site.id;
  const { page, anchor } = findPosition(deps, query);
  const now = deps.clock();
  const rows = query.limited ? LIMITED_ROWS : PAGE_ROWS;
  const skip = (page - 1) * rows;
  const locks = deps.locks(site).filter(({ lastFailure }) => lastFailure <= anchor);
  const shownLocks = locks.slice(0, LOCKS_MAX);
  // At most all lockouts precede the blocks of this page, so at least this many blocks are on earlier pages.
  const passed = Math.max(0, skip - shownLocks.length);
  const [blocks, count] = await Promise.all([
    deps.blocked.list(site, { until: anchor, now, skip: passed, limit: rows + Math.min(skip, shownLocks.length) }),
    deps.blocked.count(site, anchor, now),
  ]);
  const merged: Entry[] = [
    ...blocks.map((block) => ({ at: block.at, block })),
    ...shownLocks.map((lock) => ({ at: lock.lastFailure, lock })),
  ];
  // Sorting is stable, so equal times keep their order.
  const entries = merged.sort((a, b) => b.at - a.at).slice(skip - passed, skip - passed + rows);
  const total = count + shownLocks.length;
  const pages = query.limited ? 1 : Math.max(1, Math.ceil(total / rows));
  const timeZone = deps.timeZone(site);
  return {
    entries: await Promise.all(entries.map((entry) => toRow(deps, site, timeZone, entry))),
    filters: [],
    page,
    pages,
    cursor: page < pages ? writeCursor(anchor, 0, page + 1) : null,
    total,
  };
}

/** Returns the length of the list of blocked visitors, for the Security Dashboard. Throws StorageError. */
export async function countBlocked(
  { blocked, locks, clock }: Pick<BlockedListContext, 'locks' | 'clock'> & { blocked: Pick<BlocklistStore, 'count'> },
  site: SiteId,
): Promise<number> {
  return (await blocked.count(site, clock())) + Math.min(locks(site).length, LOCKS_MAX);
}

/** Returns page and anchor (milliseconds): from the cursor, or from the open list; else the list begins now. */
function findPosition(
  { cursors, clock }: BlockedListContext,
  query: ListQuery,
): { readonly page: number; readonly anchor: number } {
  const now = clock();
  if (query.limited) return { page: 1, anchor: now };
  const key = JSON.stringify([query.site.id, 'blocked', query.caller.id]);
  if (query.cursor !== null && query.cursor !== '') return readCursor(query.cursor);
  const known = query.page === 1 ? null : cursors.findPosition(key, query.page, PAGE_ROWS, now);
  if (known === null) cursors.begin(key, now, now);
  return { page: query.page, anchor: known?.anchor ?? now };
}

async function toRow(deps: BlockedListContext, site: SiteId, timeZone: string, entry: Entry): Promise<BlockedRow> {
  const ts_unix = Math.floor(entry.at / 1000);
  const times = { ts: toLocalTimestamp(timeZone, ts_unix), ts_unix };
  if ('lock' in entry) {
    const { key, lockedUntil } = entry.lock;
    return {
      ...times,
      ...toEnd(timeZone, lockedUntil),
      ...{ id: `lock-${key}`, user: key, visitor_id: 0, type: 'ip', hostname: '' },
      ...{ by: 'lock', by_login: '', note: '' },
    };
  }
  const { block } = entry;
  const visitor = await findVisitor(deps, site, block);
  return {
    ...times,
    id: `block-${block.id}`,
    ...toEnd(timeZone, block.until),
    by: block.by,
    by_login: block.byLogin,
    note: block.note,
    user: block.kind === 'user' ? (visitor?.name ?? block.name) : block.name,
    visitor_id: visitor?.id ?? block.visitorId,
    type: block.kind === 'user' ? 'user' : 'ip',
    hostname: visitor?.hostname ?? '',
  };
}

/** @param until milliseconds since the Unix epoch; null: permanent */
function toEnd(timeZone: string, until: number | null): Pick<BlockedRow, 'until' | 'until_unix'> {
  if (until === null) return { until: null, until_unix: null };
  const until_unix = Math.floor(until / 1000);
  return { until: toLocalTimestamp(timeZone, until_unix), until_unix };
}

/**
 * Finds the visitor of a block. An address that was blocked before the log contained it gets its visitor when it is
 * first listed.
 */
async function findVisitor(deps: BlockedListContext, site: SiteId, block: BlockedVisitor): Promise<Visitor | null> {
  if (block.visitorId !== 0) return deps.visitors.visitor(site, block.visitorId);
  const visitor = await deps.visitors.getAddressVisitor(site, block.value);
  await deps.blocked.setVisitorId(site, block.id, visitor.id);
  return visitor;
}
