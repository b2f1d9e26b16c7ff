import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { siteConfig } from '../../test/support/site-config.js';
import { silentLogger } from '../lib/logger.js';
import type { SiteConfig } from '../site.js';
import { createJobRunner, type JobRunner, type NewJob, type Step } from './job-runner.js';
import { createJobStore, type JobStore, type StoredJob } from './jobs-store.js';

const site: SiteConfig = siteConfig();
const actor = { id: 1, login: 'owner', address: '192.0.2.1' };
const threeSteps: NewJob = { kind: 'reinstall-plugins', actor, cursor: 0, items: [], total: 3 };

/** Counts to three, one step at a time. */
const counting: Step = async (_site, job) => {
  const done = job.done + 1;
  return { ...job, done, cursor: done, state: done === 3 ? 'done' : 'running' };
};

async function store(): Promise<JobStore> {
  const dataDir = await scratchFolder();
  const db = await openTestDatabase(dataDir, { file: 'test.sqlite' });
  onTestFinished(() => db.destroy());
  return createJobStore(db);
}

function runner(jobs: JobStore, step: Step, ended: StoredJob[] = []): JobRunner {
  let time = 1000;
  const runner = createJobRunner({
    store: jobs,
    steps: { 'reinstall-plugins': step, 'force-password-reset': step, 'log-out-users': step },
    getSite: (id) => (id === 'site' ? site : null),
    onChanged: (job) => void ended.push(job),
    clock: () => ++time,
    logger: silentLogger(),
    retryPausesMs: [1, 1],
  });
  onTestFinished(() => runner.stop());
  return runner;
}

async function whenEnded(jobs: JobStore): Promise<StoredJob> {
  let job: StoredJob | undefined;
  await eventually(async () => {
    [job] = await jobs.latest('site');
    return job !== undefined && job.state !== 'running';
  });
  return job as StoredJob;
}

describe('a job', () => {
  it('runs its steps and reports its start and its end', async () => {
    const jobs = await store();
    const ended: StoredJob[] = [];
    await runner(jobs, counting, ended).start(site, async () => threeSteps, 'reinstall-plugins');
    const job = await whenEnded(jobs);
    expect(job).toMatchObject({ state: 'done', done: 3, total: 3, actor, error: '' });
    expect(job.endedAt).not.toBeNull();
    expect(ended.map(({ state }) => state)).toEqual(['running', 'done']);
  });

  it('is joined by a second start while it runs; a start after its end begins a new job', async () => {
    const jobs = await store();
    const run = runner(jobs, async (where, job) => {
      await pause(30);
      return counting(where, job);
    });
    const start = () => run.start(site, async () => threeSteps, 'reinstall-plugins');
    const [first, second] = await Promise.all([start(), start()]);
    expect(second?.id).toBe(first?.id);
    await whenEnded(jobs);
    expect((await start()).id).not.toBe(first?.id);
  });

  it('continues after a restart from its last state', async () => {
    const jobs = await store();
    const seen: number[] = [];
    const stuck = runner(jobs, async (where, job) => {
      if (job.done === 2) return new Promise<StoredJob>(() => undefined);
      return counting(where, job);
    });
    await stuck.start(site, async () => threeSteps, 'reinstall-plugins');
    await eventually(async () => (await jobs.latest('site'))[0]?.done === 2);
    stuck.stop();

    await runner(jobs, (where, job) => {
      seen.push(job.done);
      return counting(where, job);
    }).resume();
    expect((await whenEnded(jobs)).done).toBe(3);
    expect(seen).toEqual([2]);
  });

  it('retries a failed step, and stops with the reason when it fails repeatedly', async () => {
    const jobs = await store();
    let failures = 0;
    const run = runner(jobs, (where, job) => {
      if (job.done === 1 && failures++ < 2) throw new Error('The directory is down.');
      return counting(where, job);
    });
    await run.start(site, async () => threeSteps, 'reinstall-plugins');
    expect((await whenEnded(jobs)).state).toBe('done');

    const broken = await store();
    const failing = runner(broken, () => Promise.reject(new Error('The directory is down.')));
    await failing.start(site, async () => threeSteps, 'reinstall-plugins');
    expect(await whenEnded(broken)).toMatchObject({ state: 'stopped', error: 'The directory is down.' });
  });

  it('that stopped continues from its last state; one that was done or never began does not', async () => {
    const jobs = await store();
    const seen: number[] = [];
    let down = true;
    const run = runner(jobs, (where, job) => {
      seen.push(job.done);
      if (job.done === 1 && down) throw new Error('WordPress is down.');
      return counting(where, job);
    });
    expect(await run.continueStopped(site, 'reinstall-plugins')).toBeNull();
    const first = await run.start(site, async () => threeSteps, 'reinstall-plugins');
    expect((await whenEnded(jobs)).state).toBe('stopped');

    down = false;
    seen.length = 0;
    const [again, joined] = await Promise.all([
      run.continueStopped(site, 'reinstall-plugins'),
      run.continueStopped(site, 'reinstall-plugins'),
    ]);
    expect([again?.id, joined?.id, again?.error]).toEqual([first.id, first.id, '']);
    expect(await whenEnded(jobs)).toMatchObject({ state: 'done', done: 3, error: '' });
    expect(seen).toEqual([1, 2]);
    expect(await run.continueStopped(site, 'reinstall-plugins')).toBeNull();
  });

  it('whose first step fails at once makes the call fail, and is listed as stopped', async () => {
    const jobs = await store();
    const run = runner(jobs, () => Promise.reject(new Error('WordPress is down.')));
    await expect(run.startAndStep(site, async () => threeSteps, 'log-out-users')).rejects.toThrow('WordPress is down.');
    expect(await whenEnded(jobs)).toMatchObject({ state: 'stopped', error: 'WordPress is down.' });
  });

  it('whose state can’t be stored does not block a later start, and is not resumed by a restart', async () => {
    const jobs = await store();
    let full = true;
    const run = runner(
      {
        ...jobs,
        save: (job) =>
          full && (job.done > 0 || job.state === 'stopped')
            ? Promise.reject(new Error('The disk is full.'))
            : jobs.save(job),
      },
      async (_site, job) => ({ ...job, state: 'done', done: 1 }),
    );
    const start = () => run.startAndStep(site, async () => ({ ...threeSteps, total: 1 }), 'log-out-users');
    await expect(start()).rejects.toThrow('The disk is full.');

    full = false;
    const later = await start();
    expect(later).toMatchObject({ state: 'done', done: 1 });
    const steps: string[] = [];
    await runner(jobs, async (_site, job) => {
      steps.push(job.id);
      return { ...job, state: 'done' };
    }).resume();
    await pause(50);
    expect(steps).toEqual([]);
    expect((await jobs.latest('site'))[0]?.id).toBe(later.id);
  });

  it('is kept in the history for the last ten starts of a kind', async () => {
    const jobs = await store();
    const run = runner(jobs, async (_site, job) => ({ ...job, state: 'done' }));
    const ids: string[] = [];
    for (let round = 0; round < 12; round++) {
      ids.push((await run.startAndStep(site, async () => threeSteps, 'log-out-users')).id);
    }
    expect((await jobs.latest('site')).map(({ id }) => id)).toEqual([ids.at(-1)]);
  });
});
