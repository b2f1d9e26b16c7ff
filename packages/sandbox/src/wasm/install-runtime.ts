import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withLock } from '../process/lock.js';

const run = promisify(execFile);
const packageDir = fileURLToPath(new URL('../../php-wasm/', import.meta.url));

/**
 * Installs PHP in WebAssembly into the cache folder on first use (100 MB, pinned by a lock file with checksums) and
 * answers the folder. It is no dependency of this package, so that who has PHP never pays for it.
 */
export async function installWasmRuntime(cacheDir: string, log: (line: string) => void): Promise<string> {
  const manifest = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'));
  const dir = join(cacheDir, `php-wasm-${manifest.dependencies['@php-wasm/node']}`);
  if (existsSync(dir)) return dir;
  const waiting = () => log('Another start is fetching PHP in WebAssembly; waiting for it.');
  await withLock(join(cacheDir, 'php-wasm.lock'), waiting, async () => {
    if (existsSync(dir)) return;
    log('Fetching PHP in WebAssembly from the npm registry (25 MB, once).');
    const fresh = `${dir}.new`;
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { recursive: true });
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(packageDir, name), join(fresh, name));
    await npmCi(fresh);
    renameSync(fresh, dir);
  });
  return dir;
}

async function npmCi(dir: string): Promise<void> {
  const path = process.env.npm_execpath;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // Inside `npm start` npm hands its own settings on, such as the folder it works in.
  const { npm_config_local_prefix: _folder, npm_config_loglevel: _level, ...env } = process.env;
  try {
    if (path?.endsWith('.js')) await run(process.execPath, [path, ...args], { cwd: dir, env });
    else await run('npm', args, { cwd: dir, env });
  } catch (error) {
    const output = String((error as { stderr?: string }).stderr ?? '').trim();
    throw new Error(`PHP in WebAssembly could not be fetched from the npm registry.\n${output}`.trim());
  }
}
