import type { Kysely, Migration } from 'kysely';

/** Long work that goes on after a restart: one row per start. */
export interface JobTables {
  jobs: {
    id: string;
    site: string;
    kind: string;
    /** `running`, `done` or `stopped`. */
    state: string;
    started_at: number;
    ended_at: number | null;
    /** JSON: who started it, where it stands, items, summary, error. */
    job: string;
  };
}

export const jobsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('jobs')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('site', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('started_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .addColumn('job', 'text', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('jobs_by_kind').on('jobs').columns(['site', 'kind', 'started_at']).execute();
  },
};
