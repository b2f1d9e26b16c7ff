import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listGroup, listWatchdogs, waitForWatchdog, waitUntilEmpty } from '../../test/support/process-table.js';

const service = fileURLToPath(new URL('../../dist/lib/service.js', import.meta.url));

let dir: string;
let child: ChildProcess;
let group: number;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'watchdog-'));
});

afterEach(async () => {
  if (isRunning()) {
    const over = exited();
    child.kill('SIGKILL');
    await over;
  }
  if (listGroup(group).length > 0) process.kill(-group, 'SIGKILL');
  // So that none of them writes into the folder while it is removed.
  await waitUntilEmpty(() => listGroup(group));
  rmSync(dir, { recursive: true, force: true });
});

const pidFile = () => join(dir, 'run/service.json');

/** Starts a process that starts a service with a worker, like PHP's web server. Resolves when the service is ready. */
async function startParent(options: { readonly service?: object; readonly worker?: string } = {}): Promise<void> {
  const worker = options.worker ?? 'setInterval(() => {}, 1000);';
  writeFileSync(join(dir, 'worker.mjs'), worker);
  writeFileSync(
    join(dir, 'service.mjs'),
    `import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    spawn(process.execPath, [${JSON.stringify(join(dir, 'worker.mjs'))}], { stdio: 'inherit' });
    writeFileSync(${JSON.stringify(join(dir, 'ready'))}, '');
    ${worker}`,
  );
  writeFileSync(
    join(dir, 'parent.mjs'),
    `import { existsSync } from 'node:fs';
    import { startService } from ${JSON.stringify(service)};
    const service = await startService({
      name: 'service', command: process.execPath, args: [${JSON.stringify(join(dir, 'service.mjs'))}],
      pidFile: ${JSON.stringify(pidFile())}, logFile: ${JSON.stringify(join(dir, 'log'))},
      ready: async () => existsSync(${JSON.stringify(join(dir, 'ready'))}), readySeconds: 90,
      ...${JSON.stringify(options.service ?? {})},
    });
    process.send(service.pid);
    process.on('message', async (message) => {
      if (message === 'throw') setTimeout(() => { throw new Error('a fault'); });
      if (message === 'stop') { await service.stop(); process.disconnect(); }
    });`,
  );
  child = spawn(process.execPath, [join(dir, 'parent.mjs')], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  group = await new Promise<number>((resolve, reject) => {
    child.once('message', (pid) => resolve(Number(pid)));
    child.once('exit', () => reject(new Error('the parent ended')));
  });
  expect(listGroup(group)).toHaveLength(2);
}

const isRunning = () => child.exitCode === null && child.signalCode === null;
const exited = () => new Promise<void>((resolve) => child.once('exit', () => resolve()));

describe('what a process has started', { timeout: 120_000 }, () => {
  it('ends when that process is killed', async () => {
    await startParent();
    child.kill('SIGKILL');
    expect(await waitUntilEmpty(() => listGroup(group))).toEqual([]);
    // The watchdog removes it once they are gone.
    await expect.poll(() => existsSync(pidFile()), { timeout: 60_000 }).toBe(false);
  });

  it('ends when a fault ends that process', async () => {
    await startParent();
    child.send('throw');
    expect(await waitUntilEmpty(() => listGroup(group))).toEqual([]);
  });

  it('ends although it does not listen to signals', async () => {
    await startParent({ worker: "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);" });
    child.kill('SIGKILL');
    expect(await waitUntilEmpty(() => listGroup(group))).toEqual([]);
  });

  it('ends with its workers when it is killed together with that process', async () => {
    await startParent();
    process.kill(group, 'SIGKILL');
    child.kill('SIGKILL');
    expect(await waitUntilEmpty(() => listGroup(group))).toEqual([]);
  });

  it('ends when the watchdog was killed before, since there is another', async () => {
    await startParent();
    const first = await waitForWatchdog(child.pid);
    process.kill(first, 'SIGKILL');
    await waitForWatchdog(child.pid, first);
    child.kill('SIGKILL');
    expect(await waitUntilEmpty(() => listGroup(group))).toEqual([]);
  });

  it('keeps running with `outlivesParent`, and the next start stops it', async () => {
    await startParent({ service: { outlivesParent: true } });
    expect(listWatchdogs(child.pid)).toEqual([]);
    const over = exited();
    child.kill('SIGKILL');
    await over;
    const first = group;
    expect(listGroup(first)).toHaveLength(2);
    rmSync(join(dir, 'ready'));
    await startParent();
    expect(await waitUntilEmpty(() => listGroup(first))).toEqual([]);
  });

  it('leaves no watchdog behind, and none keeps the process from ending', async () => {
    await startParent();
    const watchdog = await waitForWatchdog(child.pid);
    const over = exited();
    child.send('stop');
    await over;
    expect(await waitUntilEmpty(() => listGroup(watchdog))).toEqual([]);
    expect(await waitUntilEmpty(() => listGroup(group))).toEqual([]);
  });
});
