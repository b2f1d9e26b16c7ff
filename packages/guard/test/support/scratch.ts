import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder for one test, removed afterwards. */
export async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'guard-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Longest wait for a condition, milliseconds. A test must not depend on how fast a busy machine is. */
export const TIMEOUT_MS = 100_000;

/** Polls until the result is true. A test that moves the clock does not shorten this. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + TIMEOUT_MS;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('It did not come true.');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
