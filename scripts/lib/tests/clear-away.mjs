import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Ends what tests have left running, as they do when somebody stops them, and removes their folder. Services write down
 * their process in a file `run/<name>.json` of their own folder.
 *
 * @param home the folder in which the tests made all of theirs
 */
export async function clearAway(home) {
  const records = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json') && basename(entry.parentPath) === 'run')
    .map((entry) => join(entry.parentPath, entry.name));
  if (records.length > 0) {
    const { endLeftOver } = await import('../../../packages/sandbox/dist/process/service.js');
    for (const record of records) await endLeftOver(record);
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
