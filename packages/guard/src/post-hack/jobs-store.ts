import { JOB_KINDS, type JobItem, type JobKind } from '@security-optimizer/contract/post-hack/endpoints';
import type { ServerText } from '@security-optimizer/contract/server-message';
import type { Kysely, Migration } from 'kysely';
import type { Actor, JsonValue } from '../settings/audit-store.js';
import type { SiteId } from '../site.js';
import { type Database, inTransaction, withTables } from '../storage/database.js';
import type { Migrations } from '../storage/migrations.js';
import { StorageError } from '../storage/storage-error.js';

/** Jobs of one kind that are kept for each site. */
const JOBS_MAX = 10;

/** Stores jobs in an SQL table. */
export function createJobStore(database: Database): JobStore {
  const db = withTables<JobTables>(database);
  return {
    async save(job) {
      const { id, site, kind, state, startedAt, endedAt, ...rest } = job;
      const row = { state, ended_at: endedAt, job: JSON.stringify(rest) };
      await inTransaction(db, site, async (transaction) => {
        await transaction
          .insertInto('jobs')
          .values({ id, site, kind, started_at: startedAt, ...row })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute();
        const newest = transaction
          .selectFrom('jobs')
          .select('id')
          .where('site', '=', site)
          .where('kind', '=', kind)
          .orderBy('started_at', 'desc')
          .limit(JOBS_MAX);
        await transaction
          .deleteFrom('jobs')
          .where('site', '=', site)
          .where('kind', '=', kind)
          .where('id', 'not in', newest)
          .execute();
      });
    },

    async latest(site) {
      const rows = await Promise.all(
        JOB_KINDS.map((kind) =>
          db
            .selectFrom('jobs')
            .selectAll()
            .where('site', '=', site)
            .where('kind', '=', kind)
            .orderBy('started_at', 'desc')
            .limit(1)
            .executeTakeFirst(),
        ),
      );
      return rows.flatMap((row) => (row === undefined ? [] : [toJob(row)]));
    },

    async running() {
      const rows = await db.selectFrom('jobs').selectAll().where('state', '=', 'running').execute();
      return rows.map(toJob);
    },
  };
}

function toJob(row: JobTables['jobs']): StoredJob {
  const { id, site, kind, state, started_at: startedAt, ended_at: endedAt } = row;
  try {
    const rest = JSON.parse(row.job) as Omit<StoredJob, 'id' | 'site' | 'kind' | 'state' | 'startedAt' | 'endedAt'>;
    return {
      ...rest,
      id,
      site,
      kind: kind as StoredJob['kind'],
      state: state as StoredJob['state'],
      startedAt: Number(startedAt),
      endedAt: endedAt === null ? null : Number(endedAt),
    };
  } catch (cause) {
    throw new StorageError('corrupt', `The stored job ${id} is not JSON.`, { cause });
  }
}

/** Jobs, which continue after a restart: one row per job. */
export interface JobTables {
  jobs: {
    id: string;
    site: string;
    kind: string;
    /** `running`, `done` or `stopped`. */
    state: string;
    started_at: number;
    ended_at: number | null;
    /** JSON: actor, cursor, items, progress, summary, error. */
    job: string;
  };
}

const jobsMigration: Migration = {
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

export const jobMigrations: Migrations = {
  '020_jobs': jobsMigration,
};

export type StoredItem = Omit<JobItem, 'reason'> & { readonly reason: ServerText };

/** State of a job. Plain data; each step returns a new value. Times are milliseconds. */
export interface StoredJob {
  readonly id: string;
  readonly site: SiteId;
  readonly kind: JobKind;
  readonly state: 'running' | 'done' | 'stopped';
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly actor: Actor;
  /** Progress; its format depends on the kind. */
  readonly cursor: JsonValue;
  readonly items: readonly StoredItem[];
  readonly done: number;
  readonly total: number;
  readonly summary: readonly ServerText[];
  readonly error: ServerText;
}

/** Repository of jobs. Every method may throw StorageError. */
export interface JobStore {
  /** Stores a new job or a job's next state. */
  save(job: StoredJob): Promise<void>;
  /** The latest job of each kind. */
  latest(site: SiteId): Promise<readonly StoredJob[]>;
  /** The running jobs of all sites. */
  running(): Promise<readonly StoredJob[]>;
}
