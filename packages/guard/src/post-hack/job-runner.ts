import { randomUUID } from 'node:crypto';
import type { JobKind } from '@security-optimizer/contract/post-hack/endpoints';
import { ApiError } from '../lib/api-error.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { KeyedMutex } from '../lib/mutex.js';
import type { Actor, JsonValue } from '../settings/audit-store.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { JobStore, StoredItem, StoredJob } from './jobs-store.js';

/** One idempotent step of a job. @returns the job's next state */
export type Step = (site: SiteConfig, job: StoredJob) => Promise<StoredJob>;

/** Pauses before the retries of a failed step, milliseconds. */
const RETRY_PAUSES_MS = [1000, 5000, 15_000];

export interface JobRunnerOptions {
  readonly store: JobStore;
  readonly steps: Readonly<Record<JobKind, Step>>;
  readonly getSite: (id: SiteId) => SiteConfig | null;
  /** Called on each start and end. */
  readonly onChanged: (job: StoredJob) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retryPausesMs?: readonly number[];
}

/** Initial state of a job. */
export interface NewJob {
  readonly kind: JobKind;
  readonly actor: Actor;
  readonly cursor: JsonValue;
  readonly items: readonly StoredItem[];
  readonly total: number;
}

export interface JobRunner {
  /** Starts a job, or joins the running one of this kind. Resolves when it is stored. Throws StorageError. */
  start(site: SiteConfig, make: () => Promise<NewJob>, kind: JobKind): Promise<StoredJob>;
  /** Like `start`, but resolves after the first step, and throws the error that stopped it. */
  startAndStep(site: SiteConfig, make: () => Promise<NewJob>, kind: JobKind): Promise<StoredJob>;
  /** Continues the latest job of this kind if it is stopped; otherwise returns null. Throws StorageError. */
  continueStopped(site: SiteConfig, kind: JobKind): Promise<StoredJob | null>;
  /** Continues the jobs that a restart interrupted. Throws StorageError. */
  resume(): Promise<void>;
  /** Starts no further step. */
  stop(): void;
}

/**
 * Runs jobs step by step. Each state is stored before the next step begins, so that a killed process continues there. A
 * failed step is retried, then the job stops with an error. Each site runs one job of a kind at a time.
 */
export function createJobRunner(deps: JobRunnerOptions): JobRunner {
  const { store, steps, clock, logger, retryPausesMs = RETRY_PAUSES_MS } = deps;
  const mutex = new KeyedMutex();
  const running = new Map<string, StoredJob>();
  const pauses = new Set<() => void>();
  let stopped = false;

  const toKey = (job: Pick<StoredJob, 'site' | 'kind'>) => `${job.site} ${job.kind}`;
  const save = async (job: StoredJob): Promise<StoredJob> => {
    await store.save(job);
    if (job.state === 'running') running.set(toKey(job), job);
    else {
      running.delete(toKey(job));
      deps.onChanged(job);
    }
    return job;
  };
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        pauses.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      pauses.add(done);
    });

  const stepOnce = async (site: SiteConfig, job: StoredJob): Promise<StoredJob> => {
    const after = await steps[job.kind](site, job);
    return save(after.state === 'running' ? after : { ...after, endedAt: clock() });
  };

  /** @returns the job after one step, or stopped after the last retry */
  const step = async (site: SiteConfig, job: StoredJob): Promise<StoredJob> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await stepOnce(site, job);
      } catch (error) {
        if (stopped) return job;
        logger.warn(
          { event: 'job-step-failed', site: site.id, kind: job.kind, job: job.id, attempt, err: error },
          'A step of a job failed.',
        );
        const ms = retryPausesMs[attempt];
        if (ms === undefined) return save(toStopped(job, error, clock()));
        await pause(ms);
        if (stopped) return job;
      }
    }
  };

  const run = async (site: SiteConfig, begun: StoredJob): Promise<void> => {
    let job = begun;
    try {
      while (job.state === 'running' && !stopped) job = await step(site, job);
    } catch (error) {
      // The state can't be stored. The next start of guard continues from the last stored state.
      running.delete(toKey(job));
      logger.error({ event: 'job-store-failed', site: site.id, kind: job.kind, err: error }, 'A job can’t go on.');
    }
  };

  /** A job whose end could not be stored must not be repeated if a newer one was started since. */
  const isLatest = async ({ id, site, kind }: StoredJob): Promise<boolean> =>
    (await store.latest(site)).some((latest) => latest.kind === kind && latest.id === id);

  const begin = (
    site: SiteConfig,
    make: () => Promise<NewJob>,
    kind: JobKind,
    first: (job: StoredJob) => Promise<StoredJob>,
  ): Promise<StoredJob> =>
    mutex.run(`${site.id} ${kind}`, async () => {
      const known = running.get(`${site.id} ${kind}`);
      if (known) return known;
      const { actor, cursor, items, total } = await make();
      const startedAt = clock();
      const newJob = { id: randomUUID(), site: site.id, kind, startedAt, endedAt: null, actor, cursor, items, total };
      const job = await save({ ...newJob, state: 'running', done: 0, summary: [], error: '' });
      deps.onChanged(job);
      const after = await first(job).catch((error: unknown) => {
        // Its end may not be stored either; it must not block a later start.
        running.delete(toKey(job));
        throw error;
      });
      if (after.state === 'running') void run(site, after);
      return after;
    });

  return {
    start: (site, make, kind) => begin(site, make, kind, async (job) => job),
    startAndStep: (site, make, kind) =>
      begin(site, make, kind, async (job) => {
        try {
          return await stepOnce(site, job);
        } catch (error) {
          await save(toStopped(job, error, clock()));
          throw error;
        }
      }),
    continueStopped: (site, kind) =>
      mutex.run(`${site.id} ${kind}`, async () => {
        const known = running.get(`${site.id} ${kind}`);
        if (known) return known;
        const last = (await store.latest(site.id)).find((job) => job.kind === kind);
        // A job without a cursor has done nothing yet.
        if (last?.state !== 'stopped' || last.cursor === null) return null;
        const job = await save({ ...last, state: 'running', endedAt: null, error: '' });
        deps.onChanged(job);
        void run(site, job);
        return job;
      }),
    async resume() {
      for (const job of await store.running()) {
        const site = deps.getSite(job.site);
        if (site === null || !(await isLatest(job))) continue;
        running.set(toKey(job), job);
        void run(site, job);
      }
    },
    stop() {
      stopped = true;
      for (const wake of pauses) wake();
    },
  };
}

function toStopped(job: StoredJob, error: unknown, now: number): StoredJob {
  const why = error instanceof ApiError ? error.text : error instanceof Error ? error.message : String(error);
  return { ...job, state: 'stopped', endedAt: now, error: why };
}
