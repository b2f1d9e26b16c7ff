import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Acquires a lock file for this process. Returns the holder if another running process has it, else null. */
export function tryLock(file: string): ProcessRecord | null {
  mkdirSync(dirname(file), { recursive: true });
  for (;;) {
    try {
      writeRecord(file, toRecord(process.pid), true);
      return null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = readRecord(file);
    if (holder !== null && isRunning(holder)) return holder;
    removeRecord(file);
  }
}

/** Locks of this process. `isRunning` treats a record of this process as left over, so they need their own list. */
const heldLocks = new Set<string>();

/** Waits until a lock file is free, then runs `work` while it holds the lock. */
export async function withLock<T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  let waited = false;
  while (heldLocks.has(file) || tryLock(file) !== null) {
    if (!waited) onWait();
    waited = true;
    await sleep(200);
  }
  heldLocks.add(file);
  try {
    return await work();
  } finally {
    heldLocks.delete(file);
    removeRecord(file);
  }
}

/** Identifies a process. The system reuses process ids, so the start time is part of it. */
export interface ProcessRecord {
  readonly pid: number;
  /** Start time in the format of the system. The command line is no identity: nginx and PHP-FPM rewrite theirs. */
  readonly started: string;
}

/** Start time of a process; null if there is no such process or it is a zombie. */
function readStartTime(pid: number): string | null {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name in parentheses may contain anything. After it come the state and, 19 fields on, the start time (proc(5)).
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z') return null;
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}`;
    }
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return text.trim() || null;
  } catch {
    return null;
  }
}

/** Creates the record of a running process. */
export function toRecord(pid: number): ProcessRecord {
  return { pid, started: readStartTime(pid) ?? '' };
}

/** Whether the recorded process still runs. A record of this process counts as left over from an earlier run. */
export function isRunning(record: ProcessRecord): boolean {
  return record.pid !== process.pid && record.started !== '' && readStartTime(record.pid) === record.started;
}

/** Whether no process has the recorded id any more. Members of its group may still run. */
export function hasEnded(record: ProcessRecord): boolean {
  return record.started !== '' && readStartTime(record.pid) === null;
}

/** Reads a record; null if the file is missing or is no record. */
export function readRecord(file: string): ProcessRecord | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const record = value as Partial<ProcessRecord> | null;
    if (typeof record?.pid !== 'number' || typeof record.started !== 'string') return null;
    return { pid: record.pid, started: record.started };
  } catch {
    return null;
  }
}

/** Writes a record. With `exclusive` it fails with EEXIST if the file exists. */
export function writeRecord(file: string, record: ProcessRecord, exclusive = false): void {
  writeFileSync(file, `${JSON.stringify(record)}\n`, { flag: exclusive ? 'wx' : 'w' });
}

/** Removes a record file if it exists. */
export function removeRecord(file: string): void {
  rmSync(file, { force: true });
}
