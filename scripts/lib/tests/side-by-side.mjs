import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Runs jobs in their order, some at a time. What a job prints is kept in a file and shown when the job has ended, so
 * that no two are mixed up; a job that is alone prints at once.
 *
 * @param jobs `{ name, work }`; `work(output)` prints to that open file and answers `{ passed, failed }`
 * @param atATime how many run at once
 * @param dir folder for what they print, one file a job
 * @returns the sum of their answers; a job that throws counts as one failed test
 */
export async function sideBySide(jobs, atATime, dir) {
  const sums = { passed: 0, failed: 0 };
  const waiting = [...jobs];
  const lane = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const { passed, failed } = await (jobs.length === 1 ? live(job) : kept(job, dir));
      sums.passed += passed;
      sums.failed += failed;
    }
  };
  // Whoever stops the run means all of it, not only the jobs of this moment.
  const stop = () => {
    sums.failed += waiting.splice(0).length;
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  mkdirSync(dir, { recursive: true });
  await Promise.all(Array.from({ length: atATime }, lane));
  process.off('SIGINT', stop).off('SIGTERM', stop);
  return sums;
}

async function live(job) {
  process.stderr.write(`\n== ${job.name}\n`);
  return told(job, await outcome(job, 2));
}

async function kept(job, dir) {
  const file = join(dir, `${job.name.replace(/[^\w.]+/g, '-')}.log`);
  const output = openSync(file, 'w');
  const began = Date.now();
  process.stderr.write(`begun: ${job.name}\n`);
  const sums = await outcome(job, output);
  closeSync(output);
  const seconds = Math.round((Date.now() - began) / 1000);
  process.stderr.write(`\n== ${job.name} (${seconds} s)\n${readFileSync(file, 'utf8')}`);
  return told(job, sums);
}

function told({ name }, sums) {
  process.stderr.write(`${sums.failed === 0 ? 'passed' : 'FAILED'}: ${name}\n`);
  return sums;
}

async function outcome({ name, work }, output) {
  try {
    return await work(output);
  } catch (error) {
    process.stderr.write(`${name}: ${error.message}\n`);
    return { passed: 0, failed: 1 };
  }
}
