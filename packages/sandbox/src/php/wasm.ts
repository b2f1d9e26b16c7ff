import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { answersHttp, findFreePort } from '../lib/ports.js';
import { withLock } from '../lib/process-record.js';
import { type Service, startService } from '../lib/service.js';
import { phpDir, type RunPhp } from '../wordpress/install.js';
import { getPhpSettings } from './native.js';
import { createPhpPool } from './wasm-pool.js';
import type { WorkerSetup } from './wasm-worker.js';

export interface WasmPhpOptions {
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly log: (line: string) => void;
}

/** Creates a function that runs scripts with PHP in WebAssembly, which is downloaded on first use. */
export function createWasmPhpRunner(options: WasmPhpOptions): RunPhp {
  return async (script, env) => {
    const pool = createPhpPool(await createWorkerSetup(options, 'cli'), 1);
    try {
      const { body, errors } = await pool.run({ kind: 'run', script, env });
      const output = Buffer.from(body).toString('utf8');
      return errors === '' ? output : `${output}\n${errors}`;
    } finally {
      pool.close();
    }
  };
}

/** Starts the web server for PHP in WebAssembly as a service on a free loopback port. */
export async function startWasmPhp(
  options: WasmPhpOptions & { readonly wordpressDir: string },
): Promise<{ readonly upstream: string; readonly service: Service }> {
  const port = await findFreePort();
  const upstream = `http://127.0.0.1:${port}`;
  const settings = join(options.dataDir, 'run/wasm-settings');
  mkdirSync(join(options.dataDir, 'run'), { recursive: true });
  writeFileSync(
    settings,
    JSON.stringify({ port, root: options.wordpressDir, setup: await createWorkerSetup(options, 'fpm-fcgi') }),
  );
  const service = await startService({
    name: 'PHP in WebAssembly',
    command: process.execPath,
    args: [fileURLToPath(new URL('./wasm-server.js', import.meta.url)), settings],
    pidFile: join(options.dataDir, 'run/php.json'),
    logFile: join(options.dataDir, 'logs/php-server.log'),
    ready: () => answersHttp(`${upstream}/wp-includes/css/buttons.min.css`),
    readySeconds: 90,
  });
  return { upstream, service };
}

async function createWorkerSetup(options: WasmPhpOptions, sapi: WorkerSetup['sapi']): Promise<WorkerSetup> {
  const { sendmail_path: _, ...settings } = getPhpSettings(options.dataDir);
  return {
    kind: 'setup',
    runtimeDir: await installWasmRuntime(options.cacheDir, options.log),
    mounts: [options.dataDir, phpDir.replace(/\/$/, '')],
    ini: {
      ...settings,
      sendmail_path: '/usr/sbin/sendmail -t -i',
      // This build of curl rejects timeouts of a second or less, which cron uses. WordPress then uses plain sockets.
      disable_functions: 'curl_init,curl_exec',
    },
    mailDir: join(options.dataDir, 'mail'),
    sapi,
  };
}

const run = promisify(execFile);
const packageDir = fileURLToPath(new URL('../../php-wasm', import.meta.url));

/**
 * Installs PHP in WebAssembly into the cache folder on first use (100 MB, pinned by a lock file with checksums). It is no
 * dependency of this package, because machines with PHP do not need it.
 * @returns its folder
 */
async function installWasmRuntime(cacheDir: string, log: (line: string) => void): Promise<string> {
  const manifest = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'));
  const dir = join(cacheDir, `php-wasm-${manifest.dependencies['@php-wasm/node']}`);
  if (existsSync(dir)) return dir;
  const onWait = () => log('Another start is fetching PHP in WebAssembly; waiting for it.');
  await withLock(join(cacheDir, 'php-wasm.lock'), onWait, async () => {
    if (existsSync(dir)) return;
    log('Fetching PHP in WebAssembly from the npm registry (25 MB, once).');
    const fresh = `${dir}.new`;
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { recursive: true });
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(packageDir, name), join(fresh, name));
    await runNpmCi(fresh);
    renameSync(fresh, dir);
  });
  return dir;
}

async function runNpmCi(dir: string): Promise<void> {
  const path = process.env.npm_execpath;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // `npm start` passes its own settings on, such as its working folder.
  const { npm_config_local_prefix: _folder, npm_config_loglevel: _level, ...env } = process.env;
  try {
    if (path?.endsWith('.js')) await run(process.execPath, [path, ...args], { cwd: dir, env });
    else await run('npm', args, { cwd: dir, env });
  } catch (error) {
    const output = String((error as { stderr?: string }).stderr ?? '').trim();
    throw new Error(`PHP in WebAssembly could not be fetched from the npm registry.\n${output}`.trim());
  }
}
