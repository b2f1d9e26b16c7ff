import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { SiteConfig } from '../site.js';

/** WordPress takes the file for one that an update left behind after this time, milliseconds (`wp_is_maintenance_mode`). */
const LEFT_BEHIND_MS = 10 * 60_000;
/** WordPress's own file has one line. */
const READ_BYTES = 4096;

/**
 * Whether WordPress is in maintenance mode: then it shows a page, which may be one of the site with status 200, and loads
 * no plugin. False where guard can't read the site's folder.
 *
 * @param now milliseconds since the Unix epoch
 */
export async function isInMaintenance(
  { wordpressDir }: Pick<SiteConfig, 'wordpressDir'>,
  now: number,
): Promise<boolean> {
  if (wordpressDir === null) return false;
  try {
    const file = await open(join(wordpressDir, '.maintenance'), 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, 0);
      return isMaintenanceResponse(buffer.toString('utf8', 0, bytesRead), now);
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}

/** Whether the file is in force. One that holds no number, such as `time()`, is in force for as long as it is there. */
export function isMaintenanceResponse(php: string, now: number): boolean {
  const since = /\$upgrading\s*=\s*['"]?(\d+)/.exec(php)?.[1];
  return since === undefined || now - Number(since) * 1000 < LEFT_BEHIND_MS;
}
