import type { VisitFilter } from '../../../activity/activity-store.js';
import type { SiteId } from '../../../site.js';
import { AFTER_ALL_IDS, firstIdOf, lastIdOf } from '../row-id.js';
import { keyOfHex } from '../visitor-key.js';
import type { Reader } from './reader.js';

/** Ids from `low` to `high`, both inside. */
export interface IdRange {
  readonly low: number;
  readonly high: number;
}

/** The visitors of a filter by address: those with a key from `low` to `high`. */
export interface VisitorSelection {
  readonly low: Uint8Array;
  readonly high: Uint8Array;
  /** Set when there is only one. */
  readonly only: number | null;
  /** Rows that they have together; null when they are too many to be looked at. */
  readonly rows: number | null;
}

/** A filter in terms of the tables. */
export interface Selection {
  readonly site: number;
  readonly range: IdRange;
  /** Kinds that match, or null for all. */
  readonly kinds: readonly number[] | null;
  readonly visitors: VisitorSelection | null;
}

/** Ids of a time and of an anchor; `before` is outside. */
export function idRange(
  filter: { readonly from: number | null; readonly to: number | null },
  limits: { readonly anchor?: number | null; readonly before?: number | null; readonly after?: number | null },
): IdRange {
  const low = Math.max(filter.from === null ? 0 : firstIdOf(filter.from), (limits.after ?? -1) + 1);
  const to = filter.to === null ? AFTER_ALL_IDS : lastIdOf(filter.to);
  return { low, high: Math.min(to, limits.anchor ?? AFTER_ALL_IDS, (limits.before ?? AFTER_ALL_IDS) - 1) };
}

/** Looks up what a filter stands for. @returns null when no row can match */
export async function selectVisits(
  reader: Reader,
  site: SiteId,
  filter: VisitFilter,
  range: IdRange,
): Promise<Selection | null> {
  const number = await reader.siteNumber(site);
  if (number === 0 || range.low > range.high) return null;
  const kinds = await kindsOf(reader, filter);
  if (kinds?.length === 0) return null;
  const visitors = filter.addresses === null ? null : await visitorsOf(reader, number, filter.addresses);
  if (visitors?.rows === 0) return null;
  return { site: number, range, kinds, visitors };
}

async function kindsOf({ db }: Reader, { type, code }: VisitFilter): Promise<readonly number[] | null> {
  if (type === null && code === null) return null;
  let query = db.selectFrom('visit_kinds').select('id');
  if (type !== null) query = query.where('type', '=', type);
  if (code !== null) query = query.where('status', '=', code);
  return (await query.execute()).map((row) => row.id);
}

async function visitorsOf(
  reader: Reader,
  site: number,
  addresses: { readonly low: string; readonly high: string },
): Promise<VisitorSelection> {
  const { db } = reader;
  const low = keyOfHex(addresses.low);
  const high = keyOfHex(addresses.high);
  const found = await db
    .selectFrom((from) =>
      from
        .selectFrom('visitors')
        .select(['id', 'visits'])
        .where('site', '=', site)
        .where('kind', '=', 'ip')
        .where('key', '>=', low)
        .where('key', '<=', high)
        .limit(reader.limits.visitorsLookedAt + 1)
        .as('found'),
    )
    .select((row) => [
      row.fn.countAll<number>().as('visitors'),
      row.fn.max('id').as('last'),
      row.fn.sum<number | null>('visits').as('rows'),
    ])
    .executeTakeFirstOrThrow();
  const tooMany = found.visitors > reader.limits.visitorsLookedAt;
  return { low, high, only: found.visitors === 1 ? found.last : null, rows: tooMany ? null : (found.rows ?? 0) };
}
