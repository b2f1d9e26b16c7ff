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
  /** Number of visits that the store dropped. */
  readonly dropped: number;
  /** Largest growth of the process's memory after a third of the time. */
  readonly grownBytes: number;
  /** Processor time of all threads per visit, creation of the visits included. */
  readonly processorMicroseconds: number;
}

const program = fileURLToPath(new URL('flood-program.js', import.meta.url));

/** Writes visits to a store in its own process, so that its memory can be measured. */
export async function floodActivity(bench: Bench, seconds: number, perSecond: number): Promise<FloodReport> {
  const dataDir = join(bench.dir, 'flood');
  await mkdir(dataDir);
  const ended = new AbortController();
  bench.stopAtEnd({ stop: async () => ended.abort() });
  const args = [program, dataDir, String(seconds), String(perSecond)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { signal: ended.signal });
  return JSON.parse(stdout) as FloodReport;
}
