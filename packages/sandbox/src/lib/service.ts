import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  isGone,
  type ProcessRecord,
  readRecord,
  removeRecord,
  stillRuns,
  toRecord,
  writeRecord,
} from './process-record.js';

export interface ServiceOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Remembers the process, so that a later run can end it after a crash of this one. */
  readonly pidFile: string;
  /** Takes what the service prints; emptied at each start. */
  readonly logFile: string;
  /** Answers true once the service can be used. Asked again and again. */
  readonly ready: () => Promise<boolean>;
  readonly readySeconds: number;
  /** Signal for a clean end; SIGKILL follows when it is ignored. */
  readonly stopSignal?: NodeJS.Signals;
  readonly stopSeconds?: number;
  /** It goes on when this process ends. Unless this is said, it ends with it, however that ends. */
  readonly outlives?: boolean;
}

export interface Service {
  readonly pid: number;
  readonly running: () => boolean;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a background program in a process group of its own and waits until it is ready.
 * Errors carry the end of its log. A program left over from a crashed run (same pid file) is ended first.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  mkdirSync(dirname(options.pidFile), { recursive: true });
  mkdirSync(dirname(options.logFile), { recursive: true });
  await endLeftOver(options.pidFile);
  // Before there is anything to end: between its start and what is said of it no moment is lost.
  if (options.outlives !== true) startWatchdog();
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
    if (options.outlives !== true) endWithThisProcess(options.pidFile, record);
    writeRecord(options.pidFile, record);
  }
  const running = () => failure === null && child.exitCode === null && child.signalCode === null;
  const stop = async () => {
    await endGroup(child, options.stopSignal ?? 'SIGTERM', options.stopSeconds ?? 3);
    forgetProcess(options.pidFile);
    removeRecord(options.pidFile);
  };
  try {
    await untilReady(options, running);
  } catch (error) {
    await stop();
    const cause = failure ?? error;
    throw new Error(`${options.name} did not start: ${(cause as Error).message}${tail(options.logFile)}`);
  }
  return { pid: child.pid ?? -1, running, stop };
}

/** Ends the process (and its group) that a pid file names, if it still is that process. */
export async function endLeftOver(pidFile: string): Promise<void> {
  const record = readRecord(pidFile);
  if (record !== null) await endRecorded(record);
  removeRecord(pidFile);
}

/**
 * Ends a recorded process and its group.
 * @param options `remains`: also what is left of the group of one that has gone, which only somebody may say who knows
 *   that the record is recent: numbers are used again
 */
export async function endRecorded(record: ProcessRecord, options: { readonly remains?: boolean } = {}): Promise<void> {
  if (stillRuns(record)) {
    signalGroup(record.pid, 'SIGTERM');
    await within(3, () => !stillRuns(record));
    // Workers can outlive their master here as well.
    signalGroup(record.pid, 'SIGKILL');
    await within(2, () => !stillRuns(record));
  } else if (options.remains === true && isGone(record)) signalGroup(record.pid, 'SIGKILL');
}

async function untilReady(options: ServiceOptions, running: () => boolean): Promise<void> {
  const end = Date.now() + options.readySeconds * 1000;
  while (Date.now() < end) {
    if (!running()) throw new Error('it ended at once');
    if (await options.ready()) return;
    await sleep(50);
  }
  throw new Error(`not ready after ${options.readySeconds} s`);
}

async function endGroup(child: ChildProcess, signal: NodeJS.Signals, seconds: number): Promise<void> {
  const pid = child.pid;
  if (pid === undefined) return;
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  if (!ended()) {
    signalGroup(pid, signal);
    await within(seconds, ended);
  }
  // Workers can outlive their master, and a master can ignore the signal: the group's last members go here.
  signalGroup(pid, 'SIGKILL');
  await within(2, ended);
}

/** Signals a process group, which this program leads only when it was started by `startService`. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function within(seconds: number, done: () => boolean): Promise<boolean> {
  const end = Date.now() + seconds * 1000;
  while (!done()) {
    if (Date.now() >= end) return false;
    await sleep(20);
  }
  return true;
}

function tail(file: string): string {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' ? '' : `\n${text.slice(-1500)}`;
  } catch {
    return '';
  }
}

/** A message to the watchdog, one JSON text a line: a process to end, with its pid file, or one to forget. */
export type WatchdogMessage = { readonly watch: string; readonly record: ProcessRecord } | { readonly forget: string };

const program = fileURLToPath(new URL('./watchdog-main.js', import.meta.url));
/** Records by their pid files. */
const watched = new Map<string, ProcessRecord>();
let watchdog: ChildProcess | null = null;
/** One that keeps ending would be started for ever. */
let startsLeft = 5;

/**
 * Has a process ended, with its group, when this one has ended without doing it: by a fault, or by a signal that no
 * program can catch. A small program does it, which sees its input end with this process.
 */
export function endWithThisProcess(pidFile: string, record: ProcessRecord): void {
  watched.set(pidFile, record);
  if (watchdog === null) startWatchdog();
  else tell({ watch: pidFile, record });
}

/** Takes it back: the process has ended, and its pid file may soon be another's. */
export function forgetProcess(pidFile: string): void {
  if (watched.delete(pidFile)) tell({ forget: pidFile });
}

/** Starts the watchdog, unless it runs. */
export function startWatchdog(): void {
  if (watchdog !== null || startsLeft === 0) return;
  startsLeft -= 1;
  // In a session of its own: what is meant for this process and its terminal does not reach it.
  const child = spawn(process.execPath, [program], {
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
  // Neither keeps this process from ending.
  child.unref();
  (child.stdin as (NodeJS.WritableStream & { unref?(): void }) | null)?.unref?.();
  for (const [pidFile, record] of watched) tell({ watch: pidFile, record });
}

function tell(message: WatchdogMessage): void {
  if (watchdog?.stdin?.writable) watchdog.stdin.write(`${JSON.stringify(message)}\n`);
}
