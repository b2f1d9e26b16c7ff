import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRecord } from '@security-optimizer/sandbox/lib/process-record';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { get } from '../../test/support/addresses.js';
import { listGroup, readCommandLine, waitForWatchdog, waitUntilEmpty } from '../../test/support/process-table.js';

const main = new URL('../../dist/start/main.js', import.meta.url);
const program = `import { start } from '${main}'; process.exit(await start(process.argv.slice(1)));`;

let dir: string;
let children: ChildProcess[];

beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'start-')), 'data');
  children = [];
});

afterEach(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGTERM');
  await Promise.all(children.map(exit));
  rmSync(join(dir, '..'), { recursive: true, force: true });
}, 60_000);

function exit(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', resolve));
}

function launch(...args: string[]) {
  const node = ['--input-type=module', '--eval', program, '--', '--data-dir', dir, ...args];
  const child = spawn(process.execPath, node, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (data) => (output.stdout += data));
  child.stderr.on('data', (data) => (output.stderr += data));
  return { child, output };
}

/** Starts with --json and returns its output. */
async function ready(...args: string[]) {
  const { child, output } = launch('--json', ...args);
  const ended = exit(child).then((code) => {
    throw new Error(`ended with ${code}: ${output.stderr}`);
  });
  const line = new Promise<void>((resolve) => {
    child.stdout.on('data', () => output.stdout.includes('\n') && resolve());
  });
  await Promise.race([line, ended]);
  ended.catch(() => {});
  return { child, output, site: JSON.parse(output.stdout) as Record<'url' | 'adminUrl' | 'user' | 'password', string> };
}

/** Runs a start that must fail. */
async function launchFailing(...args: string[]) {
  const { child, output } = launch(...args);
  return { code: await exit(child), ...output };
}

const phpPid = () => readRecord(join(dir, 'run/php.json'))?.pid ?? 0;

describe('npm start', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'serves WordPress through guard until %s, then stops every process',
    async (signal) => {
      const { child, output, site } = await ready();
      expect(Object.keys(site)).toEqual(['url', 'adminUrl', 'user', 'password']);
      expect(site.adminUrl).toBe(`${site.url}/wp-admin/`);
      expect((await get(site.url, '/wp-login.php')).status).toBe(200);
      const pid = phpPid();
      expect(readCommandLine(pid)).toContain('php');

      child.kill(signal);
      expect(await exit(child)).toBe(0);
      expect(readCommandLine(pid)).toBeNull();
      expect(readdirSync(join(dir, 'run')).filter((name) => name.endsWith('.json'))).toEqual([]);
      expect(output.stdout.split('\n')).toHaveLength(2);
    },
    120_000,
  );

  it('leaves no PHP running when it is killed, and goes on with the same login', async () => {
    const first = await ready();
    const group = phpPid();
    expect(listGroup(group).length).toBeGreaterThan(1);
    first.child.kill('SIGKILL');
    await exit(first.child);
    expect(await waitUntilEmpty(() => listGroup(group))).toEqual([]);
    const second = await ready();
    expect(second.site.password).toBe(first.site.password);
  }, 120_000);

  it('ends what a start left behind whose watchdog was killed too', async () => {
    const first = await ready();
    const group = phpPid();
    const watchdog = await waitForWatchdog(first.child.pid);
    process.kill(watchdog, 'SIGSTOP');
    first.child.kill('SIGKILL');
    await exit(first.child);
    process.kill(watchdog, 'SIGKILL');
    expect(listGroup(group).length).toBeGreaterThan(1);
    await ready();
    expect(await waitUntilEmpty(() => listGroup(group))).toEqual([]);
  }, 120_000);

  it('refuses a data folder that another start uses', async () => {
    const { child } = await ready();
    const second = await launchFailing();
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`in use by another start (process ${child.pid})`);
  }, 120_000);

  it('refuses a port that is in use, and without --port takes another one', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen({ port: 0, host: '127.0.0.1' }, resolve));
    const { port } = other.address() as { port: number };
    const result = await launchFailing('--port', String(port));
    await new Promise((resolve) => other.close(resolve));
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(`Port ${port} on 127.0.0.1 is in use`);
  });

  it('never empties a folder that is not its own', async () => {
    mkdirSync(dir);
    writeFileSync(join(dir, 'letter.txt'), 'keep me');
    const result = await launchFailing('--fresh');
    expect(result.code).toBe(1);
    expect(result.stderr).toContain('was not made by this command');
    expect(existsSync(join(dir, 'letter.txt'))).toBe(true);
  });

  it('starts over with --fresh', async () => {
    const first = await ready();
    first.child.kill('SIGTERM');
    await exit(first.child);
    writeFileSync(join(dir, 'wordpress/mine.txt'), 'old');
    const second = await ready('--fresh');
    expect(second.site.password).not.toBe(first.site.password);
    expect(existsSync(join(dir, 'wordpress/mine.txt'))).toBe(false);
  }, 120_000);

  it('answers a mistake with exit code 2 and touches nothing', async () => {
    const result = await launchFailing('--port', 'many');
    expect([result.code, result.stdout]).toEqual([2, '']);
    expect(result.stderr).toBe("--port takes a whole number from 1 to 65535, not 'many'.\n");
    expect(existsSync(dir)).toBe(false);
  });
});
