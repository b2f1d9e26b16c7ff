import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Bench } from '../measure.js';

export const FLOOD_SITE = 'flood';

export interface FloodReport {
  readonly sent: number;
  readonly stored: number;
  /** Counted by the store as not recorded. */
  readonly dropped: number;
  /** How much the process's memory grew after a third of the time, at most. */
  readonly grownBytes: number;
  /** Of all threads of the process, made-up visits included, per visit. */
  readonly processorMicroseconds: number;
}

const program = fileURLToPath(new URL('flood-program.js', import.meta.url));

/** Hands visits to a store in a process of its own: its memory is nobody else's. */
export async function floodActivity(bench: Bench, seconds: number, perSecond: number): Promise<FloodReport> {
  const dataDir = join(bench.dir, 'flood');
  await mkdir(dataDir);
  const ended = new AbortController();
  bench.keep({ stop: async () => ended.abort() });
  const args = [program, dataDir, String(seconds), String(perSecond)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { signal: ended.signal });
  return JSON.parse(stdout) as FloodReport;
}
