import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { recordOf, stillRuns } from '@security-optimizer/sandbox/process/process-record';
import { expect, it, vi } from 'vitest';
import { readCommandLine } from './read-command-line.js';

it('knows a process again after it has rewritten its command line, as nginx does, until it ends', async () => {
  const code = 'process.once("message", () => { process.title = "renamed"; }); setInterval(() => {}, 1000);';
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const pid = child.pid as number;
  try {
    const record = recordOf(pid);
    child.send('rename');
    await vi.waitFor(() => expect(readCommandLine(pid)).toBe('renamed'), 60_000);
    expect(stillRuns(record)).toBe(true);
    expect(stillRuns({ ...record, started: `${record.started}0` })).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(stillRuns(record)).toBe(false);
  } finally {
    child.kill('SIGKILL');
  }
}, 90_000);
