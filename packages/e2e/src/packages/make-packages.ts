import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectDir } from '../suites/installs/helpers.js';

const run = promisify(execFile);

/** Settings of npm in tests: only results on standard output, and no prompts. */
export const npmEnv = { ...process.env, npm_config_loglevel: 'error', npm_config_update_notifier: 'false' };

/**
 * Builds packages as `npm run package` does.
 *
 * @param to output folder
 * @param options further options of the script
 * @returns paths of the files in the folder
 */
export async function makePackages(to: string, ...options: readonly string[]): Promise<readonly string[]> {
  const args = [join(projectDir, 'scripts/package.mjs'), '--to', to, ...options];
  await run(process.execPath, args, { cwd: projectDir, env: npmEnv });
  return readdirSync(to)
    .sort()
    .map((name) => join(to, name));
}
