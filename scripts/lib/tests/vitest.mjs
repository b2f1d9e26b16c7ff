import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from '../run.mjs';
import { clearAway } from './clear-away.mjs';

/** Where the reporter finds the open file for failures: the first after standard error. */
const FAILURES = 3;

/**
 * Runs the tests of one folder. Failures are shown on standard error as soon as they are known, whatever `output` is.
 *
 * @param options `folder`, from the root of the checkout; `config`: where it is not the folder's usual one; `results`:
 *   path for the results as JSON; `node`: program to run the tests with; `env`: additional environment variables;
 *   `file`: run this test file alone, a path from the root of the checkout; `shuffle`: number that decides the order of
 *   the test files, where they are not to run in their usual one; `output`: open file for what is printed
 * @returns `{ passed, failed, failures, files, seconds }`: the tests of the files that passed, the failures that belong
 *   to no file with a line about each, the files that failed, as the reporter describes them, and the time of all files
 */
export async function vitest({ folder, config, results, node = process.execPath, env = {}, file, shuffle, output }) {
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...(file === undefined ? [] : [join(root, file)]),
    '--root',
    folder,
    ...(config === undefined ? [] : ['--config', join(root, folder, config)]),
    ...(shuffle === undefined ? [] : ['--sequence.shuffle.files', `--sequence.seed=${shuffle}`]),
    `--reporter=${join(root, 'scripts/lib/tests/reporter.mjs')}`,
  ];
  // Everything that the tests start and write is recorded below this folder, so that leftovers can be found.
  const home = mkdtempSync(join(tmpdir(), 'so-'));
  // Tests of commands for root act as other users, who need access to it.
  chmodSync(home, 0o711);
  rmSync(results, { force: true });
  const own = { NO_COLOR: '1', TMPDIR: home, TEST_RESULTS: results, TEST_FAILURES: String(FAILURES) };
  const code = await run(node, args, { ...process.env, ...own, ...env }, output, [2]);
  await clearAway(home);
  return judge(folder, code, existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : null);
}

/**
 * What a run of Vitest means.
 *
 * @param name of the run, for messages
 * @param code its exit code
 * @param results what the reporter wrote; null: nothing, since the run crashed
 * @returns as `vitest` does
 */
function judge(name, code, results) {
  if (results === null) {
    return { passed: 0, failed: 1, failures: [`${name}: ended with ${code}, without results`], files: [], seconds: 0 };
  }
  const files = results.files.filter(({ failures }) => failures.length > 0);
  const complete = results.files.filter(({ failures }) => failures.length === 0);
  const failures = [
    ...results.errors.map((error) => `${name}: ${error.split('\n')[0]}`),
    ...complete.filter(({ ended }) => !ended).map(({ file }) => `${file}: did not end`),
  ];
  // Vitest found something to complain about that is none of these, for example that there is no test at all.
  if (code !== 0 && failures.length === 0 && files.length === 0) failures.push(`${name}: ended with ${code}`);
  const passed = complete.reduce((sum, file) => sum + file.passed, 0);
  const seconds = results.files.reduce((sum, file) => sum + file.seconds, 0);
  return { passed, failed: failures.length, failures, files, seconds };
}
