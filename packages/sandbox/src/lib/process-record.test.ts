import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readCommandLine } from '../../test/support/process-table.js';
import { isRunning, toRecord, withLock } from './process-record.js';

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

it('knows a process again after it has rewritten its command line, as nginx does, until it ends', async () => {
  const code = 'process.once("message", () => { process.title = "renamed"; }); setInterval(() => {}, 1000);';
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const pid = child.pid as number;
  try {
    const record = toRecord(pid);
    child.send('rename');
    await vi.waitFor(() => expect(readCommandLine(pid)).toBe('renamed'), 60_000);
    expect(isRunning(record)).toBe(true);
    expect(isRunning({ ...record, started: `${record.started}0` })).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isRunning(record)).toBe(false);
  } finally {
    child.kill('SIGKILL');
  }
});
