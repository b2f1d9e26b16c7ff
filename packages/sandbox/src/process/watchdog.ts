import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ProcessRecord } from './process-record.js';

/** What the watchdog is told, one JSON text a line: what to end, with its pid file, or that it need not any more. */
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
