import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { recordRecentLog } from './logs.js';
import { eventually } from './scratch.js';

/** The command line as it runs in production. */
export const bin = fileURLToPath(new URL('../../dist/program/security-optimizer.js', import.meta.url));

/** Runs a command in a separate process until it ends. */
export function run(...args: string[]) {
  return runIn({}, args);
}

/**
 * Runs a command with additional environment variables.
 * @param program the command line, or a copy of it
 */
export function runIn(env: Readonly<Record<string, string>>, args: readonly string[], program = bin) {
  const options = { encoding: 'utf8', env: { ...process.env, ...env } } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], options);
  return { status, stdout, stderr };
}

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command without blocking this process, which may be the WordPress that the command queries. */
export function runInChild(...args: string[]): Promise<Outcome> {
  return waitForOutcome(spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** The output of a process and its exit code. The process is killed when the test ends. */
export async function waitForOutcome(child: ChildProcess): Promise<Outcome> {
  endWithTest(child);
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, stdout, stderr };
}

/** Kills a process when the test ends, and waits for its end: the folder that it writes to is removed next. */
function endWithTest(child: ChildProcess): void {
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    return ended;
  });
}

export interface ServeProcess {
  readonly child: ChildProcess;
  /** Its output on standard error. */
  readonly log: () => string;
}

/** Starts `serve` in a separate process, without waiting for anything. */
export function spawnServe(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
  program = bin,
): ServeProcess {
  const child = spawn(process.execPath, [program, 'serve', '--data-dir', dataDir, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  endWithTest(child);
  let text = '';
  child.stderr?.on('data', (chunk) => {
    text += chunk;
    recordRecentLog(String(chunk));
  });
  return { child, log: () => text };
}

/** Starts `serve` in a separate process; resolves once it serves. */
export async function serve(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ServeProcess & { readonly url: string }> {
  const { child, log } = spawnServe(dataDir, env);
  await eventually(() => log().includes('guard-started'));
  const line = log()
    .split('\n')
    .find((entry) => entry.includes('guard-started'));
  return { child, url: JSON.parse(line ?? '').url, log };
}
