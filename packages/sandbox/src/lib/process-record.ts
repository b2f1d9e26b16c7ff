import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Takes a lock file for this process. Answers the holder when another living process has it, else null. */
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
    if (holder !== null && stillRuns(holder)) return holder;
    removeRecord(file);
  }
}

/** Files that this very process holds: to another run their records would look left over. */
const held = new Set<string>();

/** Runs `work` while holding a lock file, after waiting for its present holder. */
export async function withLock<T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  let waited = false;
  while (held.has(file) || tryLock(file) !== null) {
    if (!waited) onWait();
    waited = true;
    await sleep(200);
  }
  held.add(file);
  try {
    return await work();
  } finally {
    held.delete(file);
    removeRecord(file);
  }
}

/** Names a process beyond its number: numbers are used again, a number with its time of start hardly ever. */
export interface ProcessRecord {
  readonly pid: number;
  /** When it started, in the system's own words. Its command line would not do: nginx and PHP-FPM rewrite theirs. */
  readonly started: string;
}

/** When a process started; null when there is no such process or only its exit code is left of it. */
function readStartTime(pid: number): string | null {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name in parentheses may hold anything; after it come the state and, 19 fields on, the time of start (proc(5)).
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

/** Describes a running process so that a later run can tell whether it is still the same one. */
export function toRecord(pid: number): ProcessRecord {
  return { pid, started: readStartTime(pid) ?? '' };
}

/** Whether the recorded process still runs. A record of this very process counts as left over from an earlier run. */
export function stillRuns(record: ProcessRecord): boolean {
  return record.pid !== process.pid && record.started !== '' && readStartTime(record.pid) === record.started;
}

/** Whether no process has the recorded number any more, so that only members of its group can be left. */
export function isGone(record: ProcessRecord): boolean {
  return record.started !== '' && readStartTime(record.pid) === null;
}

/** Reads a record; null when the file is missing or not a record. */
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

/** Writes a record. With `exclusive` it fails with EEXIST when the file is already there. */
export function writeRecord(file: string, record: ProcessRecord, exclusive = false): void {
  writeFileSync(file, `${JSON.stringify(record)}\n`, { flag: exclusive ? 'wx' : 'w' });
}

/** Removes a record file; silent when it is gone. */
export function removeRecord(file: string): void {
  rmSync(file, { force: true });
}
