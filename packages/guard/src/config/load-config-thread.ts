import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../lib/process-tuning.js';
import { ConfigError, loadConfig } from './load-config.js';
import type { ThreadInput, ThreadOutput } from './load-config-in-thread.js';
import { findChange } from './site-digests.js';

/** Requests have priority. */
const NICE = 5;

async function load({ source, inForce }: ThreadInput): Promise<ThreadOutput> {
  try {
    const { sites, quarantined, ...rest } = await loadConfig(source);
    const { trustedProxies } = rest;
    return { rest, change: findChange(inForce, { sites, quarantined, trustedProxies }) };
  } catch (error) {
    if (error instanceof ConfigError) return { mistakes: error.mistakes };
    throw error;
  }
}

lowerPriority(NICE);
parentPort?.postMessage(await load(workerData as ThreadInput));
