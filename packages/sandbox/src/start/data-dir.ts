import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeRecord, tryLock } from '../lib/process-record.js';
import { stopLeftover } from '../lib/service.js';

const MARKER = '.security-optimizer-sandbox';

/**
 * Locks the data folder for this process and stops processes that a crashed start left behind. With `fresh` it empties
 * the folder.
 * @returns a function that releases the lock
 * @throws Error if another start uses the folder, or if it contains something else: `--fresh` must never empty a folder
 *   named by mistake
 */
export async function lockDataDir(dir: string, fresh: boolean): Promise<() => void> {
  mkdirSync(dir, { recursive: true });
  if (!existsSync(join(dir, MARKER))) {
    if (readdirSync(dir).length > 0) {
      throw new Error(`${dir} is not empty and was not made by this command. Name another folder with --data-dir.`);
    }
    writeFileSync(join(dir, MARKER), 'Made by npm start. Everything in this folder can be deleted by --fresh.\n');
  }
  const lock = join(dir, 'start.lock');
  const holder = tryLock(lock);
  if (holder !== null) {
    throw new Error(
      `${dir} is in use by another start (process ${holder.pid}). Stop that one, or name another folder with --data-dir.`,
    );
  }
  await stopLeftovers(join(dir, 'run'));
  if (fresh) {
    for (const name of readdirSync(dir)) {
      if (name !== MARKER && name !== 'start.lock') rmSync(join(dir, name), { recursive: true, force: true });
    }
  }
  return () => removeRecord(lock);
}

async function stopLeftovers(runDir: string): Promise<void> {
  if (!existsSync(runDir)) return;
  for (const name of readdirSync(runDir)) {
    if (name.endsWith('.json')) await stopLeftover(join(runDir, name));
  }
}
