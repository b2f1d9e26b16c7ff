import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../process/free-port.js';
import { answersHttp } from '../process/http-ready.js';
import { type Service, startService } from '../process/service.js';
import { installWasmRuntime } from '../wasm/install-runtime.js';
import type { WorkerSetup } from '../wasm/messages.js';
import { createPhpPool } from '../wasm/php-pool.js';
import { phpDir, type RunPhp } from '../wordpress/install.js';
import { phpSettings } from './settings.js';

export interface WasmPhpOptions {
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly log: (line: string) => void;
}

/** Runs scripts with PHP in WebAssembly; fetches it on first use. */
export function wasmPhpRunner(options: WasmPhpOptions): RunPhp {
  return async (script, env) => {
    const pool = createPhpPool(await workerSetup(options, 'cli'), 1);
    try {
      const { body, errors } = await pool.run({ kind: 'run', script, env });
      const output = Buffer.from(body).toString('utf8');
      return errors === '' ? output : `${output}\n${errors}`;
    } finally {
      pool.close();
    }
  };
}

/** Starts the web server for PHP in WebAssembly, in a process of its own, on a free loopback port. */
export async function startWasmPhp(
  options: WasmPhpOptions & { readonly wordpressDir: string },
): Promise<{ readonly upstream: string; readonly service: Service }> {
  const port = await freePort();
  const upstream = `http://127.0.0.1:${port}`;
  const settings = join(options.dataDir, 'run/wasm-settings');
  mkdirSync(join(options.dataDir, 'run'), { recursive: true });
  writeFileSync(
    settings,
    JSON.stringify({ port, root: options.wordpressDir, setup: await workerSetup(options, 'fpm-fcgi') }),
  );
  const service = await startService({
    name: 'PHP in WebAssembly',
    command: process.execPath,
    args: [fileURLToPath(new URL('../wasm/main.js', import.meta.url)), settings],
    pidFile: join(options.dataDir, 'run/php.json'),
    logFile: join(options.dataDir, 'logs/php-server.log'),
    ready: () => answersHttp(`${upstream}/wp-includes/css/buttons.min.css`),
    readySeconds: 90,
  });
  return { upstream, service };
}

async function workerSetup(options: WasmPhpOptions, sapi: WorkerSetup['sapi']): Promise<WorkerSetup> {
  const { sendmail_path: _, ...settings } = phpSettings(options.dataDir);
  return {
    kind: 'setup',
    runtimeDir: await installWasmRuntime(options.cacheDir, options.log),
    mounts: [options.dataDir, phpDir.replace(/\/$/, '')],
    ini: {
      ...settings,
      sendmail_path: '/usr/sbin/sendmail -t -i',
      // Here curl refuses time-outs of a second or less, which cron asks for; WordPress then takes plain sockets.
      disable_functions: 'curl_init,curl_exec',
    },
    mailDir: join(options.dataDir, 'mail'),
    sapi,
  };
}
