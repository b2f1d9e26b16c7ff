import { isServerMessage, type ServerText } from '@security-optimizer/contract/server-message';
import type { Kysely, Migration } from 'kysely';
import type { SiteId } from '../site.js';
import { type Database, inTransaction, withTables } from '../storage/database.js';
import type { Migrations } from '../storage/migrations.js';
import { MAX_RETRY_DELAY_MS, SAME_WEEK_MS } from './send-time.js';

/** A claimed mail. The claimant must send it and report the outcome. */
export interface ClaimedReport {
  readonly email: string;
  /** Its time of sending, milliseconds since the Unix epoch, like all times in this file. */
  readonly slot: number;
  /** Number of earlier attempts. */
  readonly tries: number;
}

/** The failure of a recipient's latest report. */
export interface ReportFailure {
  readonly email: string;
  readonly reason: ServerText;
  /** When it is tried again, or null when it was given up. */
  readonly nextAt: number | null;
}

/** Records which reports were sent. Every method may throw StorageError. */
export interface ReportStore {
  /**
   * Claims the mail that a recipient is to get now, for one caller only and once per week, whatever the clock did
   * since: the report of `slot` when it was not begun, else a failed one whose pause is over.
   * @param slot null when no report is due; then only a failed one is claimed
   * @returns null when there is nothing to send
   */
  claim(site: SiteId, email: string, slot: number | null, now: number): Promise<ClaimedReport | null>;
  sent(site: SiteId, report: ClaimedReport, now: number): Promise<void>;
  failed(
    site: SiteId,
    report: ClaimedReport,
    why: { readonly reason: ServerText; readonly nextAt: number | null },
  ): Promise<void>;
  /** Records a time of sending as done for recipients who were added later. */
  skip(site: SiteId, emails: readonly string[], slot: number, now: number): Promise<void>;
  /** Gives up reports that were begun long ago and never completed, since they may have been delivered. */
  endInterrupted(site: SiteId, reason: ServerText, now: number): Promise<void>;
  /** Returns the latest report of each recipient that was not sent. */
  failures(site: SiteId, emails: readonly string[]): Promise<readonly ReportFailure[]>;
}

/** One row for each weekly report and recipient. Times are milliseconds since the Unix epoch. */
export interface ReportSendTables {
  report_sends: {
    site: string;
    email: string;
    /** Its time of sending. */
    slot: number;
    /** `sending`, `sent`, `waiting` (failed, tried again at `next_at`), `failed` (given up) or `skipped`. */
    state: string;
    tries: number;
    /** When the state was reached. */
    at: number;
    next_at: number | null;
    reason: string | null;
  };
}

const reportSendsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('report_sends')
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('slot', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('tries', 'integer', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('next_at', 'bigint')
      .addColumn('reason', 'text')
      .addPrimaryKeyConstraint('report_sends_key', ['site', 'email', 'slot'])
      .execute();
  },
};

export const reportSendMigrations: Migrations = {
  '022_report_sends': reportSendsMigration,
};

/** Sending a mail takes at most a minute; one that was begun longer ago will never be completed. */
const INTERRUPTED_MS = 10 * 60_000;
/** Rows that are further away from the current week are deleted. */
const RETENTION_MS = 90 * 24 * 3600_000;

/** Records sent reports in an SQL table. */
export function createReportStore(database: Database): ReportStore {
  const db = withTables<ReportSendTables>(database);
  return {
    claim(site, email, slot, now) {
      return inTransaction(db, site, async (transaction) => {
        if (slot !== null) {
          await deleteDistant(transaction, site, slot);
          if (await begin(transaction, { site, email, slot, state: 'sending', now })) return { email, slot, tries: 0 };
        }
        return beginAgain(transaction, site, email, now);
      });
    },

    async sent(site, { email, slot, tries }, now) {
      await updateReport(db, site, email, slot)
        .set({ state: 'sent', tries: tries + 1, at: now, next_at: null, reason: null })
        .execute();
    },

    async failed(site, { email, slot, tries }, { reason, nextAt }) {
      const state = nextAt === null ? 'failed' : 'waiting';
      await updateReport(db, site, email, slot)
        .set({ state, tries: tries + 1, next_at: nextAt, reason: printReason(reason) })
        .execute();
    },

    async skip(site, emails, slot, now) {
      await inTransaction(db, site, async (transaction) => {
        for (const email of emails) await begin(transaction, { site, email, slot, state: 'skipped', now });
      });
    },

    async endInterrupted(site, reason, now) {
      await db
        .updateTable('report_sends')
        .set({ state: 'failed', next_at: null, reason: printReason(reason) })
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
        .map(({ email, reason, next_at }) => ({ email, reason: parseReason(reason ?? ''), nextAt: next_at }));
    },
  };
}

/** @returns whether this call was the first to begin the report of this week */
async function begin(
  db: Kysely<ReportSendTables>,
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

/** Claims the failed report of a recipient whose pause is over, the latest one if there are several. */
async function beginAgain(
  db: Kysely<ReportSendTables>,
  site: SiteId,
  email: string,
  now: number,
): Promise<ClaimedReport | null> {
  const row = await db
    .selectFrom('report_sends')
    .select(['slot', 'tries'])
    .where('site', '=', site)
    .where('email', '=', email)
    .where('state', '=', 'waiting')
    .where((waiting) => waiting.or([waiting('next_at', '<=', now), waiting('next_at', '>', now + MAX_RETRY_DELAY_MS)]))
    .orderBy('slot', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { numUpdatedRows } = await updateReport(db, site, email, row.slot)
    .set({ state: 'sending', at: now })
    .where('state', '=', 'waiting')
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n ? { email, slot: row.slot, tries: row.tries } : null;
}

function updateReport(db: Kysely<ReportSendTables>, site: SiteId, email: string, slot: number) {
  return db.updateTable('report_sends').where('site', '=', site).where('email', '=', email).where('slot', '=', slot);
}

async function deleteDistant(db: Kysely<ReportSendTables>, site: SiteId, slot: number): Promise<void> {
  await db
    .deleteFrom('report_sends')
    .where('site', '=', site)
    .where((row) => row.or([row('slot', '<', slot - RETENTION_MS), row('slot', '>', slot + RETENTION_MS)]))
    .execute();
}

/** Formats a reason for storage: a text with values is JSON, a constant one is stored unchanged. */
function printReason(reason: ServerText): string {
  return typeof reason === 'string' ? reason : JSON.stringify(reason);
}

function parseReason(stored: string): ServerText {
  if (!stored.startsWith('{')) return stored;
  try {
    const parsed: unknown = JSON.parse(stored);
    return isServerMessage(parsed) ? parsed : stored;
  } catch {
    return stored;
  }
}
