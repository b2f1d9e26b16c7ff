import type { BlockedRow } from '@security-optimizer/contract/activity';
import { LIMITED_ROWS, PAGE_ROWS } from '@security-optimizer/contract/activity-limits';
import type { Clock } from '../lib/clock.js';
import { isAddressKey } from '../login/address-key.js';
import type { StoredAttempt } from '../login/attempts.js';
import type { SiteId } from '../site.js';
import type { ActivityStore, Visitor } from './activity-store.js';
import type { BlockedVisitor, BlockedVisitorsStore } from './blocked-visitors.js';
import { type ListReadings, readCursor, writeCursor } from './cursors.js';
import type { ListAnswer, ListAsk } from './list-activity.js';
import { localTimestamp } from './local-days.js';

export interface ListBlockedDeps {
  readonly blocked: Pick<BlockedVisitorsStore, 'list' | 'count' | 'setVisitorId'>;
  readonly visitors: Pick<ActivityStore, 'visitor' | 'visitorOfAddress'>;
  /** Addresses that are locked by failed log-ins now, newest first. */
  readonly locks: (site: SiteId) => readonly StoredAttempt[];
  readonly readings: ListReadings;
  readonly timeZone: (site: SiteId) => string;
  readonly clock: Clock;
}

/** Locks that are shown; under attack there may be many thousands. */
const LOCKS_MAX = 1000;

type Entry = { readonly at: number } & ({ readonly block: BlockedVisitor } | { readonly lock: StoredAttempt });

/**
 * A page of everyone who is blocked now: addresses, ranges and users by the owner, addresses by failed log-ins. Newest
 * first; what is blocked while the list is read does not shift its pages. Throws StorageError.
 */
export async function listBlocked(deps: ListBlockedDeps, ask: ListAsk): Promise<ListAnswer<BlockedRow>> {
  const site = ask.site.id;
  const { page, anchor } = placeOf(deps, ask);
  const rows = ask.limited ? LIMITED_ROWS : PAGE_ROWS;
  const skip = (page - 1) * rows;
  const locks = deps.locks(site).filter(({ lastFailure }) => lastFailure <= anchor);
  const shownLocks = locks.slice(0, LOCKS_MAX);
  // Blocks further on than that come behind at most all the locks; see below.
  const passed = Math.max(0, skip - shownLocks.length);
  const [blocks, count] = await Promise.all([
    deps.blocked.list(site, { until: anchor, skip: passed, limit: rows + Math.min(skip, shownLocks.length) }),
    deps.blocked.count(site, anchor),
  ]);
  const merged: Entry[] = [
    ...blocks.map((block) => ({ at: block.at, block })),
    ...shownLocks.map((lock) => ({ at: lock.lastFailure, lock })),
  ];
  // Sorting keeps the order of equal times.
  const entries = merged.sort((a, b) => b.at - a.at).slice(skip - passed, skip - passed + rows);
  const total = count + shownLocks.length;
  const pages = ask.limited ? 1 : Math.max(1, Math.ceil(total / rows));
  const timeZone = deps.timeZone(site);
  return {
    entries: await Promise.all(entries.map((entry) => rowOf(deps, site, timeZone, entry))),
    filters: [],
    page,
    pages,
    cursor: page < pages ? writeCursor(anchor, 0, page + 1) : null,
    total,
  };
}

/** How many the list of the blocked holds now, for the figure on the Security Dashboard. Throws StorageError. */
export async function countBlocked(
  {
    blocked,
    locks,
    clock,
  }: Pick<ListBlockedDeps, 'locks' | 'clock'> & { blocked: Pick<BlockedVisitorsStore, 'count'> },
  site: SiteId,
): Promise<number> {
  return (await blocked.count(site, clock())) + Math.min(locks(site).length, LOCKS_MAX);
}

/** Addresses that are locked now; devices are no visitors, what other sites' pages send keeps nobody out, and with the limit off nobody is locked. */
export function visibleLocks(
  attempts: { locked(site: SiteId, now: number): readonly StoredAttempt[] },
  limit: number,
  site: SiteId,
  now: number,
): readonly StoredAttempt[] {
  return limit === 0 ? [] : attempts.locked(site, now).filter(({ key }) => isAddressKey(key));
}

/** Page and anchor (milliseconds): by the cursor, by what is remembered of the list, else the list begins now. */
function placeOf(
  { readings, clock }: ListBlockedDeps,
  ask: ListAsk,
): { readonly page: number; readonly anchor: number } {
  const now = clock();
  if (ask.limited) return { page: 1, anchor: now };
  const key = JSON.stringify([ask.site.id, 'blocked', ask.caller.id]);
  if (ask.cursor !== null && ask.cursor !== '') return readCursor(ask.cursor);
  const known = ask.page === 1 ? null : readings.place(key, ask.page, PAGE_ROWS, now);
  if (known === null) readings.begin(key, now, now);
  return { page: ask.page, anchor: known?.anchor ?? now };
}

async function rowOf(deps: ListBlockedDeps, site: SiteId, timeZone: string, entry: Entry): Promise<BlockedRow> {
  const ts_unix = Math.floor(entry.at / 1000);
  const times = { ts: localTimestamp(timeZone, ts_unix), ts_unix };
  if ('lock' in entry) {
    const { key, lockedUntil } = entry.lock;
    const until = localTimestamp(timeZone, Math.floor(lockedUntil / 1000));
    return { ...times, id: `lock-${key}`, until, user: key, visitor_id: 0, type: 'ip', hostname: '' };
  }
  const { block } = entry;
  const visitor = await visitorOf(deps, site, block);
  return {
    ...times,
    id: `block-${block.id}`,
    until: null,
    user: block.kind === 'user' ? (visitor?.name ?? block.name) : block.name,
    visitor_id: visitor?.id ?? block.visitorId,
    type: block.kind === 'user' ? 'user' : 'ip',
    hostname: visitor?.hostname ?? '',
  };
}

/** An address that was blocked before the log knew it gets its visitor when it is first shown. */
async function visitorOf(deps: ListBlockedDeps, site: SiteId, block: BlockedVisitor): Promise<Visitor | null> {
  if (block.visitorId !== 0) return deps.visitors.visitor(site, block.visitorId);
  const visitor = await deps.visitors.visitorOfAddress(site, block.value);
  await deps.blocked.setVisitorId(site, block.id, visitor.id);
  return visitor;
}
