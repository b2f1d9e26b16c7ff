import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder for one test, removed after it. */
export async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'guard-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A wait ends when what it waits for is there; how soon that is on a busy machine is no test's matter. Milliseconds. */
export const PATIENCE_MS = 100_000;

/** Asks until the answer is yes. A test that moves the clock does not shorten this. */
export async function eventually(question: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await question())) {
    if (performance.now() > end) throw new Error('It did not come true.');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
