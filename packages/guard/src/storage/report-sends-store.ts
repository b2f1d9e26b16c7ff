import type { ClaimedReport, ReportSends } from '../activity/weekly-report/report-sends.js';
import { LONGEST_REST_MS, SAME_WEEK_MS } from '../activity/weekly-report/send-time.js';
import type { SiteId } from '../site.js';
import type { Database } from './database.js';

/** A mail takes a minute at most; one that was begun longer ago will not end. */
const INTERRUPTED_MS = 10 * 60_000;
/** Rows further away from the week at hand go. */
const KEPT_MS = 90 * 24 * 3600_000;

/** Which reports were sent, in a SQL table. */
export function sqlReportSends(db: Database): ReportSends {
  return {
    claim(site, email, slot, now) {
      return db.transaction().execute(async (transaction) => {
        if (slot !== null) {
          await forgetFarAway(transaction, site, slot);
          if (await begin(transaction, { site, email, slot, state: 'sending', now })) return { email, slot, tries: 0 };
        }
        return beginAgain(transaction, site, email, now);
      });
    },

    async sent(site, { email, slot, tries }, now) {
      await rowOf(db, site, email, slot)
        .set({ state: 'sent', tries: tries + 1, at: now, next_at: null, reason: null })
        .execute();
    },

    async failed(site, { email, slot, tries }, { reason, nextAt }) {
      const state = nextAt === null ? 'failed' : 'waiting';
      await rowOf(db, site, email, slot)
        .set({ state, tries: tries + 1, next_at: nextAt, reason })
        .execute();
    },

    async skip(site, emails, slot, now) {
      await db.transaction().execute(async (transaction) => {
        for (const email of emails) await begin(transaction, { site, email, slot, state: 'skipped', now });
      });
    },

    async endInterrupted(site, reason, now) {
      await db
        .updateTable('report_sends')
        .set({ state: 'failed', next_at: null, reason })
        .where('site', '=', site)
        .where('state', '=', 'sending')
        .where((row) => row.or([row('at', '<', now - INTERRUPTED_MS), row('at', '>', now + INTERRUPTED_MS)]))
        .execute();
    },

    async failures(site, emails) {
      if (emails.length === 0) return [];
      const rows = await db
        .selectFrom('report_sends')
        .select(['email', 'state', 'reason', 'next_at'])
        .where('site', '=', site)
        .where('email', 'in', [...emails])
        .where('state', 'in', ['sent', 'waiting', 'failed'])
        .orderBy('at', 'desc')
        .execute();
      const latest = new Map<string, (typeof rows)[number]>();
      for (const row of rows) if (!latest.has(row.email)) latest.set(row.email, row);
      return [...latest.values()]
        .filter(({ state }) => state !== 'sent')
        .map(({ email, reason, next_at }) => ({ email, reason: reason ?? '', nextAt: next_at }));
    },
  };
}

/** @returns whether the report of this week was nobody's before */
async function begin(
  db: Database,
  row: {
    readonly site: SiteId;
    readonly email: string;
    readonly slot: number;
    readonly state: string;
    readonly now: number;
  },
): Promise<boolean> {
  const { site, email, slot, state, now } = row;
  const same = await db
    .selectFrom('report_sends')
    .select('slot')
    .where('site', '=', site)
    .where('email', '=', email)
    .where('slot', '>', slot - SAME_WEEK_MS)
    .where('slot', '<', slot + SAME_WEEK_MS)
    .executeTakeFirst();
  if (same !== undefined) return false;
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('report_sends')
    .values({ site, email, slot, state, tries: 0, at: now, next_at: null, reason: null })
    .onConflict((conflict) => conflict.columns(['site', 'email', 'slot']).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Claims the failed report of a recipient that has rested, the latest one if there are several. */
async function beginAgain(db: Database, site: SiteId, email: string, now: number): Promise<ClaimedReport | null> {
  const row = await db
    .selectFrom('report_sends')
    .select(['slot', 'tries'])
    .where('site', '=', site)
    .where('email', '=', email)
    .where('state', '=', 'waiting')
    .where((waiting) => waiting.or([waiting('next_at', '<=', now), waiting('next_at', '>', now + LONGEST_REST_MS)]))
    .orderBy('slot', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { numUpdatedRows } = await rowOf(db, site, email, row.slot)
    .set({ state: 'sending', at: now })
    .where('state', '=', 'waiting')
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n ? { email, slot: row.slot, tries: row.tries } : null;
}

function rowOf(db: Database, site: SiteId, email: string, slot: number) {
  return db.updateTable('report_sends').where('site', '=', site).where('email', '=', email).where('slot', '=', slot);
}

async function forgetFarAway(db: Database, site: SiteId, slot: number): Promise<void> {
  await db
    .deleteFrom('report_sends')
    .where('site', '=', site)
    .where((row) => row.or([row('slot', '<', slot - KEPT_MS), row('slot', '>', slot + KEPT_MS)]))
    .execute();
}
