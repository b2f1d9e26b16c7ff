import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Numbers of the processes in a group that run, those of which only the exit code is left not among them. */
export function membersOf(group: number): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,pgid=,stat='], { encoding: 'utf8' });
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, pgid, state]) => Number(pgid) === group && !state?.startsWith('Z'))
    .map(([pid]) => Number(pid));
}

/** Waits until a list is empty; answers what is left of it when that takes far too long. */
export async function leftOf(list: () => number[], seconds = 60): Promise<number[]> {
  const end = Date.now() + seconds * 1000;
  while (list().length > 0 && Date.now() < end) await pause(50);
  return list();
}

/** Number of the watchdog of a process, once it has begun; another one than `not`. */
export async function watchdogOf(parent: number | undefined, not?: number): Promise<number> {
  for (;;) {
    const [pid] = watchdogsOf(parent).filter((each) => each !== not);
    if (pid !== undefined) return pid;
    await pause(20);
  }
}

/** Numbers of the children of a process that have the watchdog's name. */
export function watchdogsOf(parent: number | undefined): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,comm='], { encoding: 'utf8' });
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, ppid, state, name]) => Number(ppid) === parent && !state?.startsWith('Z') && isWatchdog(name))
    .map(([pid]) => Number(pid));
}

/** Linux keeps 15 letters of a name. */
function isWatchdog(name: string | undefined): boolean {
  return name?.startsWith('sandbox-watchdo') === true;
}

/** Command line of a running process, its parts joined by spaces; null when there is no such process. */
export function readCommandLine(pid: number): string | null {
  try {
    if (process.platform === 'linux') {
      const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return text === '' ? null : text.replaceAll('\0', ' ').trim();
    }
    const text = execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return text.trim() || null;
  } catch {
    return null;
  }
}
