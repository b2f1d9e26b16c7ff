import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answersHttp } from '@security-optimizer/sandbox/lib/ports';
import { isRunning, readRecord } from '@security-optimizer/sandbox/lib/process-record';
import { startService, stopLeftover } from '@security-optimizer/sandbox/lib/service';
import type { Stack } from './stack.js';
import { until } from './until.js';

const cli = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/security-optimizer');

const pidFile = (stack: Stack) => join(stack.dir, 'run/guard.json');
const logFile = (stack: Stack) => join(stack.dir, 'logs/guard.log');

/** On the stack that is configured for guard it runs with several processes. */
const severalProcesses = (stack: Stack) => stack.kind === 'production' && { SECURITY_OPTIMIZER_PROCESSES: '2' };

/** Guard refuses this path by itself, so that WordPress need not run. */
const answers = (stack: Stack) => answersHttp(`http://127.0.0.1:${stack.port}/%zz`);

/**
 * Starts `security-optimizer serve` and waits until it answers. Its log starts empty.
 *
 * @param ready whether it answers, if it does not take plain requests at its port
 */
export async function startGuard(
  stack: Stack,
  env: Readonly<Record<string, string>> = {},
  ready = () => answers(stack),
): Promise<void> {
  await startService({
    name: 'guard',
    command: process.execPath,
    args: [cli, 'serve', '--data-dir', stack.guardDir],
    env: { ...process.env, ...severalProcesses(stack), ...env },
    pidFile: pidFile(stack),
    logFile: logFile(stack),
    ready,
    readySeconds: 90,
    stopSeconds: 10,
    // Processes of test files end; the global set-up stops guard.
    outlivesParent: true,
  });
}

/** Waits until WordPress runs guard's policy after the first start. Guard serves before that. */
export async function policyPushed(stack: Stack, sites = 1): Promise<void> {
  const pushed = () => guardLog(stack).filter(({ event }) => event === 'policy-pushed');
  await until('WordPress has the policy', () => new Set(pushed().map(({ site }) => site)).size >= sites, 90);
}

/** Stops guard gracefully. */
export async function stopGuard(stack: Stack): Promise<void> {
  await stopLeftover(pidFile(stack));
}

/** Whether guard runs. */
export function isGuardRunning(stack: Stack): boolean {
  const record = readRecord(pidFile(stack));
  return record !== null && isRunning(record);
}

/** Kills guard, as a power failure would, and waits until it is gone. */
export async function killGuard(stack: Stack): Promise<void> {
  const record = readRecord(pidFile(stack));
  if (record === null || !isRunning(record)) throw new Error('Guard does not run.');
  process.kill(record.pid, 'SIGKILL');
  // Its worker processes end when they notice.
  await until('guard is gone', async () => !isRunning(record) && !(await answers(stack)));
}

export interface LogLine {
  readonly level: number | string;
  readonly event?: string;
  readonly site?: string;
  readonly msg?: string;
}

/** Lines of guard's log since its start. */
export function guardLog(stack: Stack): LogLine[] {
  return readFileSync(logFile(stack), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** The last lines of guard's log, unparsed; none if there is no log. */
export function recentGuardLog(stack: Stack): readonly string[] {
  if (!existsSync(logFile(stack))) return [];
  return readFileSync(logFile(stack), 'utf8').trimEnd().split('\n').slice(-40);
}

export interface CommandOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line of the product. */
export async function securityOptimizer(...args: string[]): Promise<CommandOutcome> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [cli, ...args], { timeout: 120_000 });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const failed = error as { code?: unknown; stdout?: string; stderr?: string };
    if (typeof failed.code !== 'number') throw error;
    return { code: failed.code, stdout: failed.stdout ?? '', stderr: failed.stderr ?? '' };
  }
}
