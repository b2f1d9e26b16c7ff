import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { getDefaultCacheDir } from '../lib/cache-dir.js';
import { createProgress } from '../lib/download.js';
import { getRegistryHost, type PinnedPackage, unpackNpmPackage } from '../lib/npm-package.js';
import { withLock } from '../lib/process-record.js';

/** The npm package with an unchanged WP-CLI 2.12.0 in it. Nothing else from the package is used. */
const wpCli: PinnedPackage = {
  name: 'wp-studio',
  version: '1.22.0',
  sha512: 'boMtahkhgWDKKyNTBA1uTK5ghnAmxXhDY6KeQCO9FmcI3/o+YOSq8JwYW5ZYnxHCxH14Jf/mD6CJTBvTWl2Ytw==',
};
const PATH_IN_PACKAGE = 'dist/cli/wp-files/wp-cli/wp-cli.phar';

/**
 * Fetches WP-CLI into the cache folder unless it is there.
 * @returns path of `wp-cli.phar`, which `php` runs
 * @throws DownloadError when the network or the server fails
 */
export async function fetchWpCli(cacheDir = getDefaultCacheDir()): Promise<string> {
  const dir = join(cacheDir, `wp-cli-of-${wpCli.name}-${wpCli.version}`);
  const phar = join(dir, PATH_IN_PACKAGE);
  const log = (line: string) => process.stderr.write(`${line}\n`);
  mkdirSync(cacheDir, { recursive: true });
  await withLock(
    join(cacheDir, 'fetch.lock'),
    () => log('Another start is fetching files; waiting for it.'),
    async () => {
      if (existsSync(phar)) return;
      log(`Fetching WP-CLI from ${getRegistryHost()} (67 MB, once).`);
      const progress = createProgress('WP-CLI', process.stderr);
      const isNeeded = (path: string) => path === PATH_IN_PACKAGE;
      await unpackNpmPackage(wpCli, dir, isNeeded, progress.update).finally(progress.end);
    },
  );
  return phar;
}
