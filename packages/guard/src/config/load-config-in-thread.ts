import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Config } from './config.js';
import { ConfigError, type ConfigSource } from './load-config.js';
import type { LoadedConfig } from './load-config-thread.js';

const workerFile = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/load-config');

/**
 * Runs `loadConfig` in a separate thread, so that no request waits for it: reading the configuration of ten thousand
 * sites takes seconds.
 *
 * @throws ConfigError, or the error that ended the thread
 */
export function loadConfigInThread(source: ConfigSource): Promise<Config> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(workerFile, { workerData: source, name: 'configuration', execArgv: [] });
    worker.once('message', (loaded: LoadedConfig) => {
      if ('config' in loaded) resolve(loaded.config);
      else reject(new ConfigError(loaded.mistakes));
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('The thread that reads the configuration ended without an answer.')));
  });
}
