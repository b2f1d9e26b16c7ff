import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { silentLogger } from '@security-optimizer/guard/lib/logger';
import { openActivityStore } from '@security-optimizer/guard/storage/activity/open-activity-store';
import { ALL_KINDS } from '@security-optimizer/guard/storage/activity/write/site-book';
import type { Bench } from '../measure.js';
import { generateActivity } from './generate-activity.js';

const FILE = 'activity.sqlite';

/** Makes an Activity Log of so many visits, the newest of them now, in a folder that must not be there yet. */
export async function makeUpLog(
  bench: Bench,
  { dataDir, site, rows }: { readonly dataDir: string; readonly site: string; readonly rows: number },
): Promise<void> {
  await mkdir(dataDir);
  // The store makes its tables; they are filled while it is closed.
  await (await openActivityStore({ dataDir, logger: silentLogger(), clock: Date.now })).close();
  bench.say(`Making up ${rows.toLocaleString('en-GB')} visits.`);
  const to = Math.floor(Date.now() / 1000);
  generateActivity(logFile(dataDir), { site, rows, to, say: bench.say });
}

/** Where a data folder has its Activity Log. */
export function logFile(dataDir: string): string {
  return join(dataDir, FILE);
}

/** Visits that are in the log of a guard at work, of all its sites. */
export function rowsInLog(dataDir: string): number {
  const database = new DatabaseSync(logFile(dataDir), { readOnly: true });
  try {
    const sum = database.prepare(`select total(rows) as rows from visit_sums where kind = ${ALL_KINDS}`).get();
    return (sum as { rows: number }).rows;
  } finally {
    database.close();
  }
}
