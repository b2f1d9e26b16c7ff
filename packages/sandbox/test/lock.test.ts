import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { withLock } from '../src/process/lock.js';

it('lets work of the same process wait for each other, too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const steps: string[] = [];
  const work = (name: string) =>
    withLock(
      join(folder, 'work.lock'),
      () => steps.push(`${name} waits`),
      async () => {
        steps.push(`${name} begins`);
        await pause(50);
        steps.push(`${name} ends`);
      },
    );
  await Promise.all([work('one'), work('two')]);
  expect(steps).toEqual(['one begins', 'two waits', 'one ends', 'two begins', 'two ends']);
});
