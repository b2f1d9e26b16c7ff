import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectDir } from '../suites/installs/helpers.js';

const run = promisify(execFile);

/** What tests set for npm: nothing on standard output but results, and no question to anybody. */
export const npmEnv = { ...process.env, npm_config_loglevel: 'error', npm_config_update_notifier: 'false' };

/**
 * Makes packages as `npm run package` does.
 *
 * @param to folder for them
 * @param options further options of the script
 * @returns paths of what lies in the folder then
 */
export async function makePackages(to: string, ...options: readonly string[]): Promise<readonly string[]> {
  const args = [join(projectDir, 'scripts/package.mjs'), '--to', to, ...options];
  await run(process.execPath, args, { cwd: projectDir, env: npmEnv });
  return readdirSync(to)
    .sort()
    .map((name) => join(to, name));
}
