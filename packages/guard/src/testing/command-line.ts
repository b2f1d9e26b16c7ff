import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { eventually } from './scratch.js';

const bin = fileURLToPath(new URL('../../dist/program/security-optimizer.js', import.meta.url));

/** Runs a command in a process of its own until it ends. */
export function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** The same without holding up this process, which may be the WordPress that the command asks. */
export async function runBeside(...args: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, stdout, stderr };
}

/** Starts `serve` in a process of its own. */
export async function serve(dataDir: string): Promise<{ child: ChildProcess; url: string; log: () => string }> {
  const child = spawn(process.execPath, [bin, 'serve', '--data-dir', dataDir], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stderr?.on('data', (chunk) => {
    text += chunk;
  });
  await eventually(() => text.includes('guard-started'));
  const line = text.split('\n').find((entry) => entry.includes('guard-started')) ?? '';
  return { child, url: JSON.parse(line).url, log: () => text };
}
