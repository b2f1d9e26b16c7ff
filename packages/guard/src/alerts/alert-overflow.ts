import type { Transaction } from 'kysely';
import type { SiteId } from '../site.js';
import { URGENT } from './alert-rules.js';
import type { AlertTables } from './alert-tables.js';

/** Waiting alerts of one channel. Of more, the oldest are only counted; urgent ones are the last of them. */
const WAITING_MAX = 200;

/** Keeps at most `WAITING_MAX` waiting alerts of a channel; of the others only the number is kept. */
export async function limitWaiting(
  transaction: Transaction<AlertTables>,
  site: SiteId,
  channel: string,
): Promise<void> {
  const { count } = await transaction
    .selectFrom('alert_queue')
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .where('site', '=', site)
    .where('channel', '=', channel)
    .where('state', '=', 'waiting')
    .executeTakeFirstOrThrow();
  const excess = Number(count) - WAITING_MAX;
  if (excess <= 0) return;
  const rows = await transaction
    .selectFrom('alert_queue')
    .select(['uid', 'kind', 'created_at'])
    .where('site', '=', site)
    .where('channel', '=', channel)
    .where('state', '=', 'waiting')
    .orderBy((row) =>
      row
        .case()
        .when('kind', 'in', [...URGENT])
        .then(1)
        .else(0)
        .end(),
    )
    .orderBy('created_at')
    .limit(excess)
    .execute();
  await transaction
    .deleteFrom('alert_queue')
    .where('site', '=', site)
    .where('channel', '=', channel)
    .where(
      'uid',
      'in',
      rows.map(({ uid }) => uid),
    )
    .execute();
  for (const [kind, { count, since }] of countByKind(rows)) {
    await transaction
      .insertInto('alert_overflow')
      .values({ site, channel, kind, count, since })
      .onConflict((conflict) =>
        conflict
          .columns(['site', 'channel', 'kind'])
          .doUpdateSet((row) => ({ count: row('alert_overflow.count', '+', count) })),
      )
      .execute();
  }
}

/** Returns the number of alerts of each kind, and when the first of them was queued. */
function countByKind(
  rows: readonly { readonly kind: string; readonly created_at: number | string | bigint }[],
): ReadonlyMap<string, { readonly count: number; readonly since: number }> {
  const counts = new Map<string, { count: number; since: number }>();
  for (const { kind, created_at } of rows) {
    const { count, since } = counts.get(kind) ?? { count: 0, since: Number(created_at) };
    counts.set(kind, { count: count + 1, since: Math.min(since, Number(created_at)) });
  }
  return counts;
}
