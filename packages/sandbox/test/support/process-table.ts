import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Ids of the running processes in a group, without zombies. */
export function listGroup(group: number): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,pgid=,stat='], { encoding: 'utf8' });
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, pgid, state]) => Number(pgid) === group && !state?.startsWith('Z'))
    .map(([pid]) => Number(pid));
}

/** Waits until a list is empty. @returns the rest of the list after a timeout */
export async function waitUntilEmpty(list: () => number[], seconds = 60): Promise<number[]> {
  const end = Date.now() + seconds * 1000;
  while (list().length > 0 && Date.now() < end) await pause(50);
  return list();
}

/** Waits for the watchdog of a process. @param previous id of an earlier watchdog, which does not count */
export async function waitForWatchdog(parent: number | undefined, previous?: number): Promise<number> {
  for (;;) {
    const [pid] = listWatchdogs(parent).filter((each) => each !== previous);
    if (pid !== undefined) return pid;
    await pause(20);
  }
}

/** Ids of the children of a process that have the watchdog's title. */
export function listWatchdogs(parent: number | undefined): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,comm='], { encoding: 'utf8' });
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, ppid, state, name]) => Number(ppid) === parent && !state?.startsWith('Z') && isWatchdog(name))
    .map(([pid]) => Number(pid));
}

/** Linux truncates names to 15 characters. */
function isWatchdog(name: string | undefined): boolean {
  return name?.startsWith('sandbox-watchdo') === true;
}

/** Command line of a running process, joined by spaces; null if there is no such process. */
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
