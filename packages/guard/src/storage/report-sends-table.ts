import type { Kysely, Migration } from 'kysely';

/** One row for each weekly report and recipient. Times are milliseconds since the Unix epoch. */
export interface ReportSendTables {
  report_sends: {
    site: string;
    email: string;
    /** Time of sending that it belongs to. */
    slot: number;
    /** `sending`, `sent`, `waiting` (failed, tried again at `next_at`), `failed` (no more) or `skipped`. */
    state: string;
    tries: number;
    /** When the state was reached. */
    at: number;
    next_at: number | null;
    reason: string | null;
  };
}

export const reportSendsMigration: Migration = {
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
