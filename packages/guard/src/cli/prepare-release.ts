import { realpath } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { SiteEntry } from '../config/config-file.js';
import type { ConfigFile } from '../config/parse-config.js';
import type { SiteId } from '../site.js';
import { runSiteTask } from '../wordpress/site-files.js';
import { CommandError } from './command.js';
import { updateConfig } from './config-store.js';
import { fileRecord, findConnectorSources, installConnector } from './connector-files.js';
import { enterRelease, isSameRelease, type Release, readReleases } from './releases.js';
import { locateSites, refuseUnlessShared, siteSecret, toProof } from './site-entry.js';
import { type LocatedSite, toKeyLocation } from './site-identity.js';
import { readNotes, restoreNotes } from './undo-attach.js';

export interface PreparedRelease {
  /** Folder of the release that contains wp-load.php. */
  readonly wordpressDir: string;
  readonly dataDir: string;
  /** Optional when only one site is attached. */
  readonly site?: SiteId;
  /** Folder of its must-use plugins. Default: the site's own, in this release. */
  readonly muPluginsDir?: string;
}

/**
 * Installs the connector in a release of an attached site before the site's path leads to it, so that the release never
 * serves a visitor without the connector. Nothing else of the site is changed.
 *
 * @returns the site's id
 * @throws what `attach` throws
 */
export async function prepareRelease(options: PreparedRelease): Promise<SiteId> {
  const named = resolve(options.wordpressDir);
  const { wordpressDir } = await runSiteTask({ wordpressDir: named }, { kind: 'locate' });
  const dataDir = resolve(options.dataDir);
  const sources = await findConnectorSources();
  return updateConfig(dataDir, async (config) => {
    const site = findDeployedSite(config, options.site);
    const muPluginsDir =
      options.muPluginsDir === undefined
        ? await toReleaseMuPlugins(dataDir, site, wordpressDir)
        : resolve(options.muPluginsDir);
    const folders = { wordpressDir, ...(muPluginsDir !== undefined && { muPluginsDir }) };
    const proof = await toProof(dataDir, site.id, folders);
    const { hasKeys: isShared, muPluginsDir: plugins } = await runSiteTask(folders, { kind: 'inspect' }, { proof });
    const release = { wordpressDir, muPluginsDir: plugins };
    const others = (await locateSites(dataDir, config)).filter((placed) => placed.site !== site);
    await refuseUnlessFree(dataDir, others, { named, ...release });
    const key = toKeyLocation({ ...release, isShared, isExternal: site.externalKey ?? false }, others);
    const shared = site.sharedConnector ?? null;
    if (shared !== null) await refuseUnlessShared(sources, shared);
    const content = { secret: await siteSecret(dataDir, site.id), requireGuard: site.requireGuard };
    const record = fileRecord(dataDir, site.id);
    const notes = await readNotes(dataDir, site.id);
    try {
      await enterRelease(dataDir, site.id, release, record);
      await installConnector(folders, sources, content, record, { shared, proof, key });
    } catch (error) {
      // Otherwise guard would not notice that this release has no connector.
      await restoreNotes(dataDir, site.id, notes).catch(() => {});
      throw error;
    }
    return site.id;
  });
}

/** The attached site with that id, or the only site on this machine. */
function findDeployedSite({ sites }: ConfigFile, id: SiteId | undefined): SiteEntry {
  const known = sites.filter((site) => site.wordpressDir !== null);
  const [first, ...others] = id === undefined ? known : known.filter((site) => site.id === id);
  if (first === undefined) {
    throw new CommandError(
      id === undefined ? 'No site is attached. Attach it by --wordpress first.' : `No site ${id} is attached here.`,
    );
  }
  if (others.length > 0)
    throw new CommandError('Several sites are attached. Name the one of this release with --site.');
  return first;
}

/** In a folder of another site, this site's key would replace the other site's. */
async function refuseUnlessFree(
  dataDir: string,
  others: readonly LocatedSite[],
  release: Release & { readonly named: string },
): Promise<void> {
  const isHere = (folders: Release) => isSameRelease(folders, release);
  for (const other of others) {
    const { id } = other.site;
    if (isHere(other)) throw new CommandError(`${release.named} is attached as site ${id}.`);
    if ((await readReleases(dataDir, id)).some(isHere)) {
      throw new CommandError(`${release.named} is a release of the site ${id}.`);
    }
  }
}

/**
 * The folder of moved must-use plugins in a release. When the link to the current release leads to both WordPress and
 * that folder, it has the same relative path in this release; otherwise all releases share it.
 */
async function toReleaseMuPlugins(dataDir: string, site: SiteEntry, release: string): Promise<string | undefined> {
  if (site.muPluginsDir === undefined || site.wordpressDir === null) return undefined;
  const [wordpress, plugins] = [resolve(dataDir, site.wordpressDir), resolve(dataDir, site.muPluginsDir)];
  let around = wordpress;
  while (!`${plugins}/`.startsWith(around === '/' ? '/' : `${around}/`)) around = dirname(around);
  const isInRelease = (await realpath(around).catch(() => null)) !== around;
  return isInRelease ? resolve(release, relative(wordpress, plugins)) : plugins;
}
