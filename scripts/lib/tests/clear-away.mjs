import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Ends processes that tests did not end, for example because they were interrupted, and removes their folder. Services
 * record their process in `run/<name>.json` in their own folder.
 *
 * @param home the folder that contains all folders of the tests
 */
export async function clearAway(home) {
  const records = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json') && basename(entry.parentPath) === 'run')
    .map((entry) => join(entry.parentPath, entry.name));
  if (records.length > 0) {
    const { stopLeftover } = await import('../../../packages/sandbox/dist/lib/service.js');
    for (const record of records) await stopLeftover(record);
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
