import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../lib/process-tuning.js';
import type { Config } from './config.js';
import { ConfigError, type ConfigSource, loadConfig } from './load-config.js';

/** The thread's only message. */
export type LoadedConfig = { readonly config: Config } | { readonly mistakes: readonly string[] };

/** Requests have priority. */
const NICE = 5;

async function load(): Promise<LoadedConfig> {
  try {
    return { config: await loadConfig(workerData as ConfigSource) };
  } catch (error) {
    if (error instanceof ConfigError) return { mistakes: error.mistakes };
    throw error;
  }
}

lowerPriority(NICE);
parentPort?.postMessage(await load());
