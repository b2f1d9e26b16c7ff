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

/** Asks until the answer is yes; fails after 8 seconds. */
export async function eventually(question: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 8000;
  while (!(await question())) {
    if (Date.now() > end) throw new Error('It did not come true within 8 seconds.');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
