import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { RunPhp } from '../wordpress/install.js';
import { phpScriptArgs } from './settings.js';

const run = promisify(execFile);

/** Runs scripts with the system's PHP, its settings those of the site in `dataDir`. */
export function systemPhpRunner(dataDir: string, php = 'php'): RunPhp {
  return async (script, env) => {
    const args = [...phpScriptArgs(dataDir), script];
    const { stdout } = await run(php, args, { env: { ...process.env, ...env }, timeout: 120_000 });
    return stdout;
  };
}
