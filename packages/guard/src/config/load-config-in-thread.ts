import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Config, LiveChange } from './config.js';
import { ConfigError, type ConfigSource } from './load-config.js';
import type { SiteDigests } from './site-digests.js';

/** Node's default of three times 16 MB, which newer versions multiply on machines with much memory. */
const resourceLimits = { maxYoungGenerationSizeMb: 48 };

const workerFile = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/load-config');

/** A configuration that was read again. */
export interface ChangedConfig {
  /** All keys that do not concern single sites. */
  readonly rest: Omit<Config, 'sites' | 'quarantined'>;
  /** The sites that differ from those in force. */
  readonly change: LiveChange;
}

/** What the thread receives. */
export interface ThreadInput {
  readonly source: ConfigSource;
  readonly inForce: SiteDigests;
}

/** The thread's only message. */
export type ThreadOutput = ChangedConfig | { readonly mistakes: readonly string[] };

/**
 * Runs `loadConfig` in a separate thread, so that no request waits for it: reading the configuration of ten thousand
 * sites takes seconds. Only what differs from the sites in force is transferred.
 *
 * @throws ConfigError, or the error that ended the thread
 */
export function loadConfigInThread(source: ConfigSource, inForce: SiteDigests): Promise<ChangedConfig> {
  return new Promise((resolve, reject) => {
    const workerData: ThreadInput = { source, inForce };
    const worker = new Worker(workerFile, { workerData, name: 'configuration', execArgv: [], resourceLimits });
    worker.once('message', (output: ThreadOutput) => {
      if ('change' in output) resolve(output);
      else reject(new ConfigError(output.mistakes));
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('The thread that reads the configuration ended without an answer.')));
  });
}
