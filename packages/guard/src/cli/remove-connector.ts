import { readFile, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';

import { secretFile } from '../config/load-config.js';
import type { SiteFolders } from '../config/parse-config.js';
import type { SiteId } from '../site.js';
import { runSiteTask, type SiteResults, type SiteTaskOptions } from '../wordpress/site-files.js';
import { fileRecord, isKeyFile } from './connector-files.js';
import { type Release, readReleases, toReleaseFolders, toUsualMuPlugins } from './releases.js';

/** How `removeFromRelease` removes a connector. */
export interface RemovalOptions extends SiteTaskOptions {
  /** The other sites of the configuration. */
  readonly others: readonly SiteFolders[];
  /** What is removed of a connector that no other site runs. Default: all. */
  readonly part?: 'loader' | 'all';
  /** How long requests that already run the connector may take, milliseconds. Default: 0, there are none. */
  readonly drainMs?: number;
}

/**
 * Removes the connector and the key of a site from one folder of must-use plugins. While other sites run the connector
 * from that folder, only the key is removed. The caller holds the lock of the configuration.
 *
 * @throws SiteFilesError
 */
export async function removeFromRelease(
  dataDir: string,
  site: SiteId,
  release: Release & { readonly files: readonly string[] },
  { others, part = 'all', drainMs = 0, ...options }: RemovalOptions,
): Promise<SiteResults['remove']> {
  const users = await findUsers(dataDir, release, others);
  const secret = (await readFile(secretFile(dataDir, site), 'utf8').catch(() => '')).trim();
  const isInUse = users.length > 0;
  const task = { kind: 'remove', recorded: release.files, secret, isInUse, part, drainMs } as const;
  const removed = await runSiteTask(toReleaseFolders(release), task, options);
  if (part === 'loader') return removed;
  // The files that this site has installed are removed with the last of those sites.
  if (users[0] !== undefined) {
    const heir = fileRecord(dataDir, users[0]);
    await heir.write([...new Set([...(await heir.read()), ...release.files.filter((name) => !isKeyFile(name))])]);
  }
  return removed;
}

/** The sites that run the connector from the same folder of must-use plugins, or may be rolled back to it. */
async function findUsers(
  dataDir: string,
  { muPluginsDir }: Release,
  others: readonly SiteFolders[],
): Promise<readonly SiteId[]> {
  const users: SiteId[] = [];
  for (const other of others) {
    const installed = (await readReleases(dataDir, other.id)).map((release) => release.muPluginsDir);
    const folders = installed.length > 0 ? installed : await toConfiguredFolder(dataDir, other);
    if (folders.includes(muPluginsDir)) users.push(other.id);
  }
  return users;
}

/** The folder of a site that an earlier version of guard has attached. */
async function toConfiguredFolder(
  dataDir: string,
  { wordpressDir, muPluginsDir }: SiteFolders,
): Promise<readonly string[]> {
  if (muPluginsDir !== undefined) return [await toReal(resolve(dataDir, muPluginsDir))];
  return wordpressDir === null ? [] : [toUsualMuPlugins(await toReal(resolve(dataDir, wordpressDir)))];
}

/** The path with links resolved, or unchanged when this user has no access. */
function toReal(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
