import { JOB_KINDS } from '@security-optimizer/contract/post-hack';
import type { JobStore, StoredJob } from '../post-hack/job.js';
import type { Database } from './database.js';
import type { JobTables } from './jobs-table.js';
import { StorageError } from './storage-error.js';

/** Starts of one kind that are kept for each site. */
const KEPT = 10;

/** Jobs in a SQL table. */
export function sqlJobStore(db: Database): JobStore {
  return {
    async save(job) {
      const { id, site, kind, state, startedAt, endedAt, ...rest } = job;
      const row = { state, ended_at: endedAt, job: JSON.stringify(rest) };
      await db.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('jobs')
          .values({ id, site, kind, started_at: startedAt, ...row })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute();
        const kept = transaction
          .selectFrom('jobs')
          .select('id')
          .where('site', '=', site)
          .where('kind', '=', kind)
          .orderBy('started_at', 'desc')
          .limit(KEPT);
        await transaction
          .deleteFrom('jobs')
          .where('site', '=', site)
          .where('kind', '=', kind)
          .where('id', 'not in', kept)
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
      return rows.flatMap((row) => (row === undefined ? [] : [jobOf(row)]));
    },

    async running() {
      const rows = await db.selectFrom('jobs').selectAll().where('state', '=', 'running').execute();
      return rows.map(jobOf);
    },
  };
}

function jobOf(row: JobTables['jobs']): StoredJob {
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
