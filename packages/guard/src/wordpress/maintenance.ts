import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { SiteConfig } from '../site.js';

/** After this time WordPress ignores the file as a leftover of an update, milliseconds (`wp_is_maintenance_mode`). */
const LEFTOVER_AFTER_MS = 10 * 60_000;
/** Number of bytes that are read. WordPress's own file has one line. */
const READ_BYTES = 4096;

/**
 * Whether WordPress is in maintenance mode. In this mode it loads no plugin and shows a page, which may be a page of
 * the site with status 200. False where guard can't read the site's folder.
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

/** Whether the file is in force. A file that holds no number, such as `time()`, is in force as long as it exists. */
export function isMaintenanceResponse(php: string, now: number): boolean {
  const since = /\$upgrading\s*=\s*['"]?(\d+)/.exec(php)?.[1];
  return since === undefined || now - Number(since) * 1000 < LEFTOVER_AFTER_MS;
}
