import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeRecord, tryLock } from '../lib/process-record.js';
import { endLeftOver } from '../lib/service.js';

const marker = '.security-optimizer-sandbox';

/**
 * Takes the data folder for this process and, with `fresh`, empties it. Answers what gives it free again.
 * Throws when the folder holds something else, so that `--fresh` can never wipe a folder named by mistake,
 * or when another start uses it. Processes left over from a crashed start are ended.
 */
export async function lockDataDir(dir: string, fresh: boolean): Promise<() => void> {
  mkdirSync(dir, { recursive: true });
  if (!existsSync(join(dir, marker))) {
    if (readdirSync(dir).length > 0) {
      throw new Error(`${dir} is not empty and was not made by this command. Name another folder with --data-dir.`);
    }
    writeFileSync(join(dir, marker), 'Made by npm start. Everything in this folder can be deleted by --fresh.\n');
  }
  const lock = join(dir, 'start.lock');
  const holder = tryLock(lock);
  if (holder !== null) {
    throw new Error(
      `${dir} is in use by another start (process ${holder.pid}). Stop that one, or name another folder with --data-dir.`,
    );
  }
  await endLeftOvers(join(dir, 'run'));
  if (fresh) {
    for (const name of readdirSync(dir)) {
      if (name !== marker && name !== 'start.lock') rmSync(join(dir, name), { recursive: true, force: true });
    }
  }
  return () => removeRecord(lock);
}

async function endLeftOvers(runDir: string): Promise<void> {
  if (!existsSync(runDir)) return;
  for (const name of readdirSync(runDir)) {
    if (name.endsWith('.json')) await endLeftOver(join(runDir, name));
  }
}
