import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { SiteId } from '../site.js';

const installedRelease = z.strictObject({
  /** Folder that holds wp-load.php, without links in its path. */
  wordpressDir: z.string(),
  /** Folder of must-use plugins, without links in its path. */
  muPluginsDir: z.string(),
  /** Names of the files that guard has written there. Those of the last release are in the site's record of files. */
  files: z.array(z.string()),
});

/** A release of a site in which its connector was installed. */
export type InstalledRelease = z.output<typeof installedRelease>;

/**
 * The releases of a site in which its connector was installed, the most recently attached one last. Empty for a site
 * that was attached by an earlier version of guard.
 *
 * @throws the system's error, SyntaxError or ZodError for a file that can't be read
 */
export async function readInstalledReleases(dataDir: string, site: SiteId): Promise<readonly InstalledRelease[]> {
  const text = await readFile(toReleasesFile(dataDir, site), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '[]';
    throw error;
  });
  return z.array(installedRelease).parse(JSON.parse(text));
}

export function toReleasesFile(dataDir: string, site: SiteId): string {
  return join(dataDir, 'sites', `${site}.releases`);
}

/**
 * Finds out whether the path of a site leads to a release in which the connector was never installed.
 *
 * @param wordpressDir as the operator specified it, absolute
 * @returns the release; null when the connector was installed there, or when this user has no permission to look
 */
export async function findReleaseWithoutConnector(
  dataDir: string,
  site: SiteId,
  wordpressDir: string,
): Promise<string | null> {
  const current = await realpath(wordpressDir).catch(() => null);
  if (current === null) return null;
  const installed = await readInstalledReleases(dataDir, site).catch(() => []);
  const isKnown = installed.length === 0 || installed.some((release) => release.wordpressDir === current);
  return isKnown ? null : current;
}
