import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../lib/files.js';
import type { SiteId } from '../site.js';
import type { WordPressFolders } from '../wordpress/connector-secret.js';
import {
  findReleaseWithoutConnector,
  type InstalledRelease,
  readInstalledReleases,
  toReleasesFile,
} from '../wordpress/installed-releases.js';
import { CommandError } from './command.js';
import type { FileRecord } from './connector-files.js';

/**
 * Deployment tools put each release of a site into a folder of its own, and a link leads to the current one. The
 * connector is installed in each attached release, so guard records which ones have it: `status` reports a current
 * release without it, and `detach` also removes it from releases to which the site may be rolled back.
 */

/** Folders of a release, with links resolved. */
export interface Release {
  /** Folder that contains wp-load.php. */
  readonly wordpressDir: string;
  /** Folder of must-use plugins. */
  readonly muPluginsDir: string;
}

/**
 * The releases of a site in which its connector was installed, the one that was attached last at the end. Empty for a
 * site that was attached by an earlier version of guard.
 *
 * @throws CommandError for a file that can't be read
 */
export async function readReleases(dataDir: string, site: SiteId): Promise<readonly InstalledRelease[]> {
  try {
    return await readInstalledReleases(dataDir, site);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== undefined) throw cause;
    throw new CommandError(`${toReleasesFile(dataDir, site)} is damaged. Remove it, and attach the site again.`, {
      cause,
    });
  }
}

/**
 * Moves a release to the end as the one that was attached last: the file record then lists the files that guard has
 * written in it. Releases that no longer exist are removed from the record. The caller holds the lock of the
 * configuration.
 */
export async function enterRelease(
  dataDir: string,
  site: SiteId,
  { wordpressDir, muPluginsDir }: Release,
  record: FileRecord,
): Promise<void> {
  const installed = await readReleases(dataDir, site);
  const last = installed.at(-1);
  if (last !== undefined && isSameRelease(last, { wordpressDir, muPluginsDir })) return;
  const recorded = [...(await record.read())];
  const former: InstalledRelease[] = [];
  for (const release of installed) {
    if (!(await isMissing(release))) former.push(release === last ? { ...release, files: recorded } : release);
  }
  const before = former.find((release) => release.muPluginsDir === muPluginsDir);
  const others = former.filter((release) => release !== before);
  await writeReleases(dataDir, site, [...others, { wordpressDir, muPluginsDir, files: [] }]);
  // A site that an earlier version of guard has attached has a file record without a release. It belongs to this
  // folder.
  if (last !== undefined) await record.write(before?.files ?? []);
}

/** Whether two releases have the same folders. */
export function isSameRelease(one: Release, other: Release): boolean {
  return one.wordpressDir === other.wordpressDir && one.muPluginsDir === other.muPluginsDir;
}

/** Folders of a release as the configuration names them: the usual folder of must-use plugins is omitted. */
export function toReleaseFolders({ wordpressDir, muPluginsDir }: Release): WordPressFolders {
  return muPluginsDir === toUsualMuPlugins(wordpressDir) ? { wordpressDir } : { wordpressDir, muPluginsDir };
}

/** Folder of must-use plugins of a WordPress that has not moved it. */
export function toUsualMuPlugins(wordpressDir: string): string {
  return join(wordpressDir, 'wp-content', 'mu-plugins');
}

/** Keeps only the last release: the connector was removed from the others. */
export async function forgetFormerReleases(dataDir: string, site: SiteId): Promise<void> {
  const last = (await readReleases(dataDir, site)).at(-1);
  if (last !== undefined) await writeReleases(dataDir, site, [last]);
}

/** Called after the connector was removed from a release. The caller holds the lock of the configuration. */
export async function forgetRelease(dataDir: string, site: SiteId, removed: Release): Promise<void> {
  const others = (await readReleases(dataDir, site)).filter((each) => !isSameRelease(each, removed));
  await writeReleases(dataDir, site, others);
}

export async function deleteReleases(dataDir: string, site: SiteId): Promise<void> {
  await rm(toReleasesFile(dataDir, site), { force: true });
}

/**
 * Checks whether the path of a site leads to a release in which the connector was never installed.
 *
 * @param wordpressDir absolute path, as the operator named it
 * @returns one sentence for the operator; null when the connector was installed there, or this user has no access
 */
export async function findNewRelease(dataDir: string, site: SiteId, wordpressDir: string): Promise<string | null> {
  const release = await findReleaseWithoutConnector(dataDir, site, wordpressDir);
  if (release === null) return null;
  return `${wordpressDir} leads to ${release}, a release without the connector. Run \`security-optimizer attach --all\` after each deployment.`;
}

/** A folder to which this user has no access counts as existing. */
async function isMissing({ muPluginsDir }: Release): Promise<boolean> {
  return stat(muPluginsDir).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT' || error.code === 'ENOTDIR',
  );
}

async function writeReleases(dataDir: string, site: SiteId, releases: readonly InstalledRelease[]): Promise<void> {
  await writeFileAtomically(toReleasesFile(dataDir, site), `${JSON.stringify(releases)}\n`, { mode: 0o600 });
}
