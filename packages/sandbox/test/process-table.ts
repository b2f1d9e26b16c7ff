import { execFileSync } from 'node:child_process';
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

/** Waits until a list is empty; answers what is left of it after some seconds. */
export async function leftOf(list: () => number[], seconds = 10): Promise<number[]> {
  const end = Date.now() + seconds * 1000;
  while (list().length > 0 && Date.now() < end) await pause(50);
  return list();
}

/** The children of a process that run in a session of their own and are named like the watchdog. */
export function watchdogsOf(parent: number | undefined): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,comm='], { encoding: 'utf8' });
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, ppid, state, name]) => Number(ppid) === parent && !state?.startsWith('Z') && name === 'sandbox-watchdo')
    .map(([pid]) => Number(pid));
}
