import { randomUUID } from 'node:crypto';
import type { JobItem, JobKind } from '@security-optimizer/contract/post-hack';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import { KeyedMutex } from '../lib/mutex.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { Actor, JsonValue } from '../storage/settings-store.js';
import type { JobStore, StoredJob } from './job.js';

/** One small piece of work, which may be repeated without harm. @returns the job as it stands then */
export type Step = (site: SiteConfig, job: StoredJob) => Promise<StoredJob>;

/** Rests before a step that failed is tried again, milliseconds. */
const RESTS_MS = [1000, 5000, 15_000];

export interface JobRunnerDeps {
  readonly store: JobStore;
  readonly steps: Readonly<Record<JobKind, Step>>;
  readonly siteOf: (id: SiteId) => SiteConfig | null;
  /** Told of each start and end. */
  readonly onChanged: (job: StoredJob) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly restsMs?: readonly number[];
}

/** What a new job begins with. */
export interface NewJob {
  readonly kind: JobKind;
  readonly actor: Actor;
  readonly cursor: JsonValue;
  readonly items: readonly JobItem[];
  readonly total: number;
}

export interface JobRunner {
  /** Starts a job, or joins the one of this kind that runs. Resolves when it is stored. Throws StorageError. */
  start(site: SiteConfig, make: () => Promise<NewJob>, kind: JobKind): Promise<StoredJob>;
  /** The same; resolves after the first step, and throws what stopped it. */
  startAndStep(site: SiteConfig, make: () => Promise<NewJob>, kind: JobKind): Promise<StoredJob>;
  /** Goes on with the latest job of this kind where it stopped; null when it did not. Throws StorageError. */
  goOn(site: SiteConfig, kind: JobKind): Promise<StoredJob | null>;
  /** Goes on with what a restart has cut off. Throws StorageError. */
  resume(): Promise<void>;
  /** No step begins any more. */
  stop(): void;
}

/**
 * Runs jobs step by step. Each state is stored before the next step begins, so that a killed process goes on where it
 * was; a step that fails is tried again, then the job stops and says why. One job of a kind at a time for each site.
 */
export function createJobRunner(deps: JobRunnerDeps): JobRunner {
  const { store, steps, clock, logger, restsMs = RESTS_MS } = deps;
  const mutex = new KeyedMutex();
  const running = new Map<string, StoredJob>();
  const rests = new Set<() => void>();
  let stopped = false;

  const keyOf = (job: Pick<StoredJob, 'site' | 'kind'>) => `${job.site} ${job.kind}`;
  const keep = async (job: StoredJob): Promise<StoredJob> => {
    await store.save(job);
    if (job.state === 'running') running.set(keyOf(job), job);
    else {
      running.delete(keyOf(job));
      deps.onChanged(job);
    }
    return job;
  };
  const rest = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        rests.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      rests.add(done);
    });

  const stepOnce = async (site: SiteConfig, job: StoredJob): Promise<StoredJob> => {
    const after = await steps[job.kind](site, job);
    return keep(after.state === 'running' ? after : { ...after, endedAt: clock() });
  };

  /** @returns the job after one step, or stopped after the last try */
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
        const ms = restsMs[attempt];
        if (ms === undefined) return keep(stoppedBy(job, error, clock()));
        await rest(ms);
        if (stopped) return job;
      }
    }
  };

  const run = async (site: SiteConfig, begun: StoredJob): Promise<void> => {
    let job = begun;
    try {
      while (job.state === 'running' && !stopped) job = await step(site, job);
    } catch (error) {
      // Its state can't be stored; the next start of guard goes on from the last one that was.
      running.delete(keyOf(job));
      logger.error({ event: 'job-not-stored', site: site.id, kind: job.kind, err: error }, 'A job can’t go on.');
    }
  };

  /** One whose end could not be stored, and that was started anew since, must not be done a second time. */
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
      const fresh = { id: randomUUID(), site: site.id, kind, startedAt, endedAt: null, actor, cursor, items, total };
      const job = await keep({ ...fresh, state: 'running', done: 0, summary: [], error: '' });
      deps.onChanged(job);
      const after = await first(job).catch((error: unknown) => {
        // Perhaps its end could not be stored either: it must hold up no later start.
        running.delete(keyOf(job));
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
          await keep(stoppedBy(job, error, clock()));
          throw error;
        }
      }),
    goOn: (site, kind) =>
      mutex.run(`${site.id} ${kind}`, async () => {
        const known = running.get(`${site.id} ${kind}`);
        if (known) return known;
        const last = (await store.latest(site.id)).find((job) => job.kind === kind);
        // Without a cursor nothing was done yet, so there is nothing to go on with.
        if (last?.state !== 'stopped' || last.cursor === null) return null;
        const job = await keep({ ...last, state: 'running', endedAt: null, error: '' });
        deps.onChanged(job);
        void run(site, job);
        return job;
      }),
    async resume() {
      for (const job of await store.running()) {
        const site = deps.siteOf(job.site);
        if (site === null || !(await isLatest(job))) continue;
        running.set(keyOf(job), job);
        void run(site, job);
      }
    },
    stop() {
      stopped = true;
      for (const wake of rests) wake();
    },
  };
}

function stoppedBy(job: StoredJob, error: unknown, now: number): StoredJob {
  const why = error instanceof Error ? error.message : String(error);
  return { ...job, state: 'stopped', endedAt: now, error: why };
}
