import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  hasEnded,
  isRunning,
  type ProcessRecord,
  readRecord,
  removeRecord,
  toRecord,
  writeRecord,
} from './process-record.js';

export interface ServiceOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Record of the process, so that a later run can stop it after a crash of this one. */
  readonly pidFile: string;
  /** Output of the service; truncated at each start. */
  readonly logFile: string;
  /** Polled until it resolves to true. */
  readonly ready: () => Promise<boolean>;
  readonly readySeconds: number;
  /** SIGKILL follows SIGTERM after this time. */
  readonly stopSeconds?: number;
  /** The service keeps running when this process ends. By default it ends too, even if this process is killed. */
  readonly outlivesParent?: boolean;
}

export interface Service {
  readonly pid: number;
  readonly running: () => boolean;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a program in its own process group and waits until it is ready. It first stops a process that a crashed run
 * left behind (same pid file). Errors contain the end of the log.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  mkdirSync(dirname(options.pidFile), { recursive: true });
  mkdirSync(dirname(options.logFile), { recursive: true });
  await stopLeftover(options.pidFile);
  // Before the program, so that the watchdog already runs when the program starts.
  if (options.outlivesParent !== true) startWatchdog();
  const log = openSync(options.logFile, 'w');
  const child = spawn(options.command, options.args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: options.env ?? process.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  let failure: Error | null = null;
  child.once('error', (error) => {
    failure = error;
  });
  if (child.pid !== undefined) {
    const record = toRecord(child.pid);
    if (options.outlivesParent !== true) watchProcess(options.pidFile, record);
    writeRecord(options.pidFile, record);
  }
  const running = () => failure === null && child.exitCode === null && child.signalCode === null;
  const stop = async () => {
    await stopGroup(child, options.stopSeconds ?? 3);
    unwatchProcess(options.pidFile);
    removeRecord(options.pidFile);
  };
  try {
    await waitUntilReady(options, running);
  } catch (error) {
    await stop();
    const cause = failure ?? error;
    throw new Error(`${options.name} did not start: ${(cause as Error).message}${readLogEnd(options.logFile)}`);
  }
  return { pid: child.pid ?? -1, running, stop };
}

/** Stops the process of a pid file and its group, if it is still the same process. */
export async function stopLeftover(pidFile: string): Promise<void> {
  const record = readRecord(pidFile);
  if (record !== null) await stopRecorded(record);
  removeRecord(pidFile);
}

/**
 * Stops a recorded process and its group.
 * @param options `remains`: also kill what is left of the group if the process itself is gone. Only for recent records,
 *   because process ids are reused.
 */
export async function stopRecorded(record: ProcessRecord, options: { readonly remains?: boolean } = {}): Promise<void> {
  if (isRunning(record)) {
    signalGroup(record.pid, 'SIGTERM');
    await waitUntil(3, () => !isRunning(record));
    // Workers can outlive their master.
    signalGroup(record.pid, 'SIGKILL');
    await waitUntil(2, () => !isRunning(record));
  } else if (options.remains === true && hasEnded(record)) signalGroup(record.pid, 'SIGKILL');
}

async function waitUntilReady(options: ServiceOptions, running: () => boolean): Promise<void> {
  const end = Date.now() + options.readySeconds * 1000;
  while (Date.now() < end) {
    if (!running()) throw new Error('it ended at once');
    if (await options.ready()) return;
    await sleep(50);
  }
  throw new Error(`not ready after ${options.readySeconds} s`);
}

async function stopGroup(child: ChildProcess, seconds: number): Promise<void> {
  const pid = child.pid;
  if (pid === undefined) return;
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  if (!ended()) {
    signalGroup(pid, 'SIGTERM');
    await waitUntil(seconds, ended);
  }
  // Workers can outlive their master, and a master can ignore the signal.
  signalGroup(pid, 'SIGKILL');
  await waitUntil(2, ended);
}

/** Sends a signal to a process group. `startService` makes each service the leader of its group. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function waitUntil(seconds: number, done: () => boolean): Promise<boolean> {
  const end = Date.now() + seconds * 1000;
  while (!done()) {
    if (Date.now() >= end) return false;
    await sleep(20);
  }
  return true;
}

function readLogEnd(file: string): string {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' ? '' : `\n${text.slice(-1500)}`;
  } catch {
    return '';
  }
}

/** A message to the watchdog, one JSON text per line: start or stop watching a process. */
export type WatchdogMessage = { readonly watch: string; readonly record: ProcessRecord } | { readonly forget: string };

const watchdogProgram = fileURLToPath(new URL('./watchdog-main.js', import.meta.url));
/** Records by their pid files. */
const watched = new Map<string, ProcessRecord>();
let watchdog: ChildProcess | null = null;
/** Limits restarts of a watchdog that keeps ending. */
let remainingStarts = 5;

/**
 * Has the watchdog stop a process and its group if this process ends without doing so, by a crash or by SIGKILL. The
 * watchdog is a process of its own. Its standard input ends when this process ends.
 */
function watchProcess(pidFile: string, record: ProcessRecord): void {
  watched.set(pidFile, record);
  if (watchdog === null) startWatchdog();
  else send({ watch: pidFile, record });
}

/** Stops watching a process. It has ended, and its pid file may soon belong to another one. */
function unwatchProcess(pidFile: string): void {
  if (watched.delete(pidFile)) send({ forget: pidFile });
}

/** Starts the watchdog unless it runs. */
function startWatchdog(): void {
  if (watchdog !== null || remainingStarts === 0) return;
  remainingStarts -= 1;
  // In its own session, so that signals to this process group and its terminal do not reach it.
  const child = spawn(process.execPath, [watchdogProgram], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  watchdog = child;
  const ended = () => {
    if (watchdog !== child) return;
    watchdog = null;
    if (watched.size > 0) startWatchdog();
  };
  child.on('error', ended).on('exit', ended);
  child.stdin?.on('error', () => {});
  // Neither the process nor its pipe keeps this process alive.
  child.unref();
  (child.stdin as (NodeJS.WritableStream & { unref?(): void }) | null)?.unref?.();
  for (const [pidFile, record] of watched) send({ watch: pidFile, record });
}

function send(message: WatchdogMessage): void {
  if (watchdog?.stdin?.writable) watchdog.stdin.write(`${JSON.stringify(message)}\n`);
}
