import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** More failed files than this are no accident of a busy machine: the run fails. */
const MAX_FLAKY = 5;

/**
 * Runs each test file that failed once more, by itself, one after the other, when everything else has ended. A file that
 * passes now counts as passed and is reported as flaky. Where more than `MAX_FLAKY` files have failed, none is tried.
 *
 * @param sums what `sideBySide` returns
 * @param isStopped whether somebody has stopped the run
 * @returns `{ passed, failed, failures, flaky }`; `flaky` holds
 *   `{ job, file, seconds: { first, second }, failures: [{ name, text }] }` with the failures of the first time
 */
async function retryFailed(sums, isStopped = () => false) {
  const after = { passed: sums.passed, failed: sums.failed, failures: [...sums.failures], flaky: [] };
  if (sums.files.length > MAX_FLAKY) {
    after.failures.push(`${sums.files.length} test files failed; more than ${MAX_FLAKY} are not tried again.`);
  }
  for (const first of sums.files) {
    if (sums.files.length > MAX_FLAKY || isStopped()) {
      addFailed(after, first);
      continue;
    }
    process.stderr.write(`\n== once more, alone: ${first.file} (${first.job.name})\n`);
    const second = await first.job.workAlone(first.file, 2);
    after.passed += second.passed;
    after.failed += second.failed;
    after.failures.push(...second.failures);
    for (const file of second.files) addFailed(after, { ...file, job: first.job });
    if (second.failed > 0 || second.files.length > 0) continue;
    const { job, file, seconds, failures } = first;
    // Nothing ran: the file's failure stays.
    if (second.passed === 0) addFailed(after, first);
    else after.flaky.push({ job: job.name, file, seconds: { first: seconds, second: second.seconds }, failures });
  }
  return after;
}

function addFailed(after, { job, file, passed, failed, failures }) {
  after.passed += passed;
  after.failed += failed;
  for (const { name, text } of failures) {
    after.failures.push(`${file} > ${name} (${job.name})\n    ${text.replaceAll('\n', '\n    ')}`);
  }
}

/**
 * Ends a run: tries failed files again, and writes `flaky.json`.
 *
 * @param sums what `sideBySide` returns
 * @param dir folder for `flaky.json`: `[{ job, file, seconds: { first, second }, failures }]`
 * @param isStopped whether somebody has stopped the run
 * @returns `lines`, the last ones of the run: what failed, what was flaky, and the sums; and the exit `code`
 */
export async function conclude(sums, dir, isStopped) {
  const { passed, failed, failures, flaky } = await retryFailed(sums, isStopped);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'flaky.json'), `${JSON.stringify(flaky, null, 2)}\n`);
  const lines = failures.map((failure) => `failed: ${failure}`);
  for (const { job, file, seconds, failures: first } of flaky) {
    const times = `failed in ${seconds.first.toFixed(1)} s, passed alone in ${seconds.second.toFixed(1)} s`;
    lines.push(`flaky: ${file} (${job}): ${times}`);
    for (const { name, text } of first) lines.push(`    ${name}: ${text.split('\n')[0]}`);
  }
  return { lines: [...lines, `${passed} passed, ${failed} failed`], code: failed === 0 ? 0 : 1 };
}
