import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessRecord, readRecord, recordOf, removeRecord, stillRuns, writeRecord } from './process-record.js';

/** Takes a lock file for this process. Answers the holder when another living process has it, else null. */
export function tryLock(file: string): ProcessRecord | null {
  mkdirSync(dirname(file), { recursive: true });
  for (;;) {
    try {
      writeRecord(file, recordOf(process.pid), true);
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

/** Runs `work` while holding a lock file, after waiting for whoever holds it now. */
export async function withLock<T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  let told = false;
  while (held.has(file) || tryLock(file) !== null) {
    if (!told) onWait();
    told = true;
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
