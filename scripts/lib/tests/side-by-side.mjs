import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Runs jobs in order, several at a time. The output of a job is kept in a file and shown when the job has ended, so
 * that outputs are not mixed. A job that runs alone prints directly.
 *
 * @param jobs `{ name, work }`; `work(output)` prints to that open file and returns `{ passed, failed }` and,
 *   where they are known, lines about the `failures`
 * @param atATime number of jobs that run at the same time
 * @param dir folder for the output, one file for each job
 * @returns the sum of the results with what failed; a job that throws counts as one failed test
 */
export async function sideBySide(jobs, atATime, dir) {
  const sums = { passed: 0, failed: 0, failures: [] };
  const waiting = [...jobs];
  const worker = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const { passed, failed, failures } = await (jobs.length === 1 ? live(job) : kept(job, dir));
      sums.passed += passed;
      sums.failed += failed;
      sums.failures.push(...(failures ?? (failed === 0 ? [] : [job.name])));
    }
  };
  // A signal ends the whole run, not only the running jobs.
  const stop = () => {
    sums.failed += waiting.splice(0).length;
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  mkdirSync(dir, { recursive: true });
  await Promise.all(Array.from({ length: atATime }, worker));
  process.off('SIGINT', stop).off('SIGTERM', stop);
  return sums;
}

async function live(job) {
  process.stderr.write(`\n== ${job.name}\n`);
  return report(job, await outcome(job, 2));
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
  return report(job, sums);
}

function report({ name }, sums) {
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
