import { chmodSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root, run } from '../run.mjs';
import { clearAway } from './clear-away.mjs';

/** Of the message of a failed test, in the summary. */
const MESSAGE_LINES = 12;

/**
 * Runs the tests of one package.
 *
 * @param options `package`; `config`: default is the package's own; `report`: file for the JSON report; `node`:
 *   program to run the tests with; `env`: additional environment variables; `output`: open file for the output
 * @returns how many tests passed and failed, and of each failed one its file, name and message
 */
export async function vitest({ package: name, config, report: file, node = process.execPath, env = {}, output }) {
  // Colour codes would make a log of thousands of dots unreadable.
  const colours = process.stderr.isTTY && output === 2 ? {} : { NO_COLOR: '1' };
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--root',
    `packages/${name}`,
    ...(config === undefined ? [] : ['--config', join(root, 'packages', name, config)]),
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ];
  // All processes and files of the tests are recorded below this folder, so that leftovers can be found.
  const home = mkdtempSync(join(tmpdir(), 'so-'));
  // Tests of commands for root act as other users, who need access to it.
  chmodSync(home, 0o711);
  const code = await run(node, args, { ...process.env, ...colours, TMPDIR: home, ...env }, output);
  await clearAway(home);
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
  const failed = report?.numFailedTests ?? 0;
  const passed = report?.numPassedTests ?? 0;
  // A file that fails to load, or a crash, has no failed test.
  if (code !== 0 && failed === 0) return { passed, failed: 1, failures: [`${name}: ended with ${code}`] };
  return { passed, failed, failures: report === null ? [] : failuresOf(report) };
}

/** Lines about each failed test of a JSON report: its file and name, and the beginning of the message. */
function failuresOf(report) {
  return report.testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => {
        const message = failureMessages.join('\n').split('\n').slice(0, MESSAGE_LINES).join('\n    ');
        return `${relative(root, file)} > ${fullName}\n    ${message}`;
      }),
  );
}
