import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from '../run.mjs';
import { clearAway } from './clear-away.mjs';

/**
 * Runs the tests of one package.
 *
 * @param options `package`; `config`: where it is not the package's usual one; `report`: file for what it says as JSON;
 *   `node`: program to run it with; `env`: what the tests find in their environment beside the usual; `output`: open
 *   file that takes what is printed
 * @returns how many tests passed and failed
 */
export async function vitest({ package: name, config, report: file, node = process.execPath, env = {}, output }) {
  // Colours would make a log of thousands of dots unreadable.
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
  // A folder of its own for whatever the tests start and write: what they could not end themselves is found there.
  const home = mkdtempSync(join(tmpdir(), 'so-'));
  const code = await run(node, args, { ...process.env, ...colours, TMPDIR: home, ...env }, output);
  await clearAway(home);
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
  const failed = report?.numFailedTests ?? 0;
  // A file that does not even load, or a crash, has no failed test of its own.
  return { passed: report?.numPassedTests ?? 0, failed: code !== 0 && failed === 0 ? 1 : failed };
}
