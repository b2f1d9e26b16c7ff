import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Runs jobs in their order, several at a time. What a job prints is kept in a file and shown when the job has ended, so
 * that outputs are not mixed; a job that is alone prints at once.
 *
 * @param jobs `{ name, work }`; `work(output)` prints to that open file and returns `{ passed, failed }` and, where the
 *   job knows them, `failures` (lines about what failed) and `files` (test files that failed and can be tried again;
 *   their tests are in neither count)
 * @param atATime number of jobs that run at the same time
 * @param dir folder for what they print, one file for each job
 * @returns `{ passed, failed, failures, files }`, the sum of the results, each of the files with its `job`; a job that
 *   throws counts as one failed test
 */
export async function sideBySide(jobs, atATime, dir) {
  const sums = { passed: 0, failed: 0, failures: [], files: [] };
  const waiting = [...jobs];
  const worker = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const { passed, failed, failures, files = [] } = await (jobs.length === 1 ? live(job) : storeResult(job, dir));
      sums.passed += passed;
      sums.failed += failed;
      sums.failures.push(...(failures ?? (failed === 0 ? [] : [job.name])));
      sums.files.push(...files.map((file) => ({ ...file, job })));
    }
  };
  // A signal ends the whole run, not only the jobs of this moment.
  const stop = () => {
    for (const { name } of waiting.splice(0)) {
      sums.failed += 1;
      sums.failures.push(`${name}: not run`);
    }
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

async function storeResult(job, dir) {
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
  const passed = sums.failed === 0 && (sums.files ?? []).length === 0;
  process.stderr.write(`${passed ? 'passed' : 'FAILED'}: ${name}\n`);
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
