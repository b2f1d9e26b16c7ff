import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Length of the kernel's clock tick in /proc, seconds; 100 a second on every Linux that Node runs on. */
const TICK = 0.01;

/** Processor time of a process and its children in seconds, user and system. */
export function getProcessorSeconds(pid: number): number {
  return listProcesses(pid).reduce((sum, each) => sum + (readStat(each)?.ticks ?? 0), 0) * TICK;
}

/** A process that runs, and its children. */
export function listProcesses(pid: number): number[] {
  const all = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  return all.map(Number).filter((each) => each === pid || readStat(each)?.parent === pid);
}

/** How long a server is watched, and how long at most until it is idle, milliseconds. */
const WATCHED_MS = 250;
const IDLE_WITHIN_MS = 20_000;

/** Waits until a server has done what earlier load has left, such as writing to its database. */
export async function whenIdle(pid: number): Promise<void> {
  for (let waited = 0; waited < IDLE_WITHIN_MS; waited += WATCHED_MS) {
    const before = getProcessorSeconds(pid);
    await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
    if (getProcessorSeconds(pid) - before <= TICK) return;
  }
}

/** Resident memory of a process in bytes. */
export function getResidentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** See proc(5). The name in brackets may contain spaces, so fields are counted after it. */
function readStat(pid: number): { parent: number; ticks: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return null;
  }
}

/** Lets a process run only during `work`. Its background work would otherwise disturb the turns of the others. */
export async function whileRunning<Result>(pid: number, work: () => Promise<Result>): Promise<Result> {
  process.kill(pid, 'SIGCONT');
  try {
    return await work();
  } finally {
    process.kill(pid, 'SIGSTOP');
  }
}

/** Priorities of `SCHED_FIFO` (see sched(7)): the probe first, then the upstream web server, then the load. */
const PRIORITIES = { load: 1, upstream: 2, probe: 3 } as const;

export type Priority = keyof typeof PRIORITIES;

let allowed: boolean | undefined;

/**
 * The beginning of a command line for programs that represent other machines (visitors, web servers). They share one
 * processor, at real-time priority, so that they measure no wait of their own. On any processor they would move guard
 * from one to the other thousands of times a second, which no other machine does. Empty for users without that right.
 */
export function priorityCommand(priority: Priority): readonly string[] {
  allowed ??= spawnSync('chrt', ['--fifo', '1', 'true']).status === 0;
  if (!allowed) return [];
  return [...pinToLastProcessor(), 'chrt', '--fifo', String(PRIORITIES[priority])];
}

/**
 * The same for the main thread of a process that already runs. Not for its other threads: V8 waits for them without
 * yielding its processor, so they would never run.
 */
export function setPriority(pid: number, priority: Priority): void {
  if (priorityCommand(priority).length === 0) return;
  spawnSync('chrt', ['--fifo', '--pid', String(PRIORITIES[priority]), String(pid)]);
  const [command, ...how] = pinToLastProcessor();
  if (command !== undefined) spawnSync(command, ['--pid', ...how, String(pid)]);
}

/** Pins to the last processor; nothing if there is only one. */
function pinToLastProcessor(): readonly string[] {
  const last = cpus().length - 1;
  return last < 1 ? [] : ['taskset', '--cpu-list', String(last)];
}
