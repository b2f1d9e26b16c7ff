import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { SiteEntry } from '../config/config-file.js';
import { CONFIG_FILE, secretFile } from '../config/load-config.js';
import { type ConfigFile, listSiteFolders } from '../config/parse-config.js';
import { isSecret } from '../config/secret-form.js';
import { systemClock } from '../lib/clock.js';
import { writeFileAtomically } from '../lib/files.js';
import type { SiteId } from '../site.js';
import type { WordPressFolders } from '../wordpress/connector-secret.js';
import { missingTraffic, readGuardedTraffic } from '../wordpress/guarded-traffic.js';
import type { ConnectorSources, KeyProof } from '../wordpress/site-files.js';
import { CommandError } from './command.js';
import { readConnector } from './connector-files.js';
import { hasSiteRows, type SiteDatabases } from './erase.js';
import { readReleases, toUsualMuPlugins } from './releases.js';
import { findRetired, type RetiredSite } from './retired-sites.js';
import { findSharedFault } from './shared-connector.js';
import type { LocatedSite } from './site-identity.js';

/** Shared by the commands that connect a site: its id, its key, its stored data, and the reasons to refuse. */

/** The sites of the configuration whose folders guard knows. */
export async function locateSites(dataDir: string, { sites }: ConfigFile): Promise<readonly LocatedSite[]> {
  const placed: LocatedSite[] = [];
  for (const site of sites) {
    if (site.wordpressDir === null) continue;
    const named = resolve(dataDir, site.wordpressDir);
    const wordpressDir = withoutLinks(named);
    const { muPluginsDir } = site;
    const plugins =
      muPluginsDir === undefined
        ? wordpressDir && toFutureFolder(toUsualMuPlugins(wordpressDir))
        : toFutureFolder(resolve(dataDir, muPluginsDir));
    if (wordpressDir !== null && plugins !== null) {
      placed.push({ site, named, wordpressDir, muPluginsDir: plugins });
      continue;
    }
    // Where guard's user has no access, use what root recorded when the site was attached.
    const last = (await readReleases(dataDir, site.id).catch(() => [])).at(-1);
    placed.push({
      ...{ site, named },
      wordpressDir: wordpressDir ?? last?.wordpressDir ?? named,
      muPluginsDir: plugins ?? last?.muPluginsDir ?? resolve(dataDir, muPluginsDir ?? toUsualMuPlugins(named)),
    });
  }
  return placed;
}

/** The path with links resolved; null when it does not exist or this user has no access. */
export function withoutLinks(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/** Like `withoutLinks`, but also for a folder that does not exist yet. */
function toFutureFolder(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return null;
    const around = toFutureFolder(dirname(path));
    return around && join(around, basename(path));
  }
}

/** Folders in which the site's connector may already be; the folder itself first, for an update in place. */
export async function toProof(dataDir: string, site: SiteId, folders: WordPressFolders): Promise<KeyProof> {
  const { wordpressDir, muPluginsDir = toUsualMuPlugins(wordpressDir) } = folders;
  const former = [...(await readReleases(dataDir, site))].reverse();
  const secret = await readFile(secretFile(dataDir, site), 'utf8').catch(() => '');
  return { secret: secret.trim(), installed: [{ wordpressDir, muPluginsDir }, ...former] };
}

/** The site's existing secret, or a new one of 32 random bytes. */
export async function siteSecret(dataDir: string, site: SiteId): Promise<string> {
  const file = secretFile(dataDir, site);
  const present = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (present !== null) {
    const secret = present.trim();
    if (!isSecret(secret)) {
      throw new CommandError(`${file} does not hold a secret. Remove it, and the next attach makes a new one.`);
    }
    return secret;
  }
  const secret = randomBytes(32).toString('hex');
  await writeFileAtomically(file, `${secret}\n`, { mode: 0o600 });
  return secret;
}

/**
 * The stored data of a detached site that is attached again; null when none was named.
 * @throws CommandError when nothing is stored
 */
export async function findRetainedData(
  databases: SiteDatabases,
  id: SiteId | undefined,
): Promise<Partial<RetiredSite> | null> {
  if (id === undefined) return null;
  const retired = await findRetired(databases.dataDir, id);
  if (retired !== null && retired.erasedAt !== null) {
    throw new CommandError(`The site ${id} was erased. Its id is not given again; leave out --site.`);
  }
  if (retired === null && !(await hasSiteRows(id, databases))) {
    throw new CommandError(`Nothing is kept of a site ${id}. Leave out --site, and the site gets an id.`);
  }
  return retired ?? {};
}

/** @throws CommandError when another site has one of the hosts, also one whose entry has mistakes */
export function refuseTakenHosts({ sites, invalidSites = [] }: ConfigFile, site: SiteEntry): void {
  for (const other of [...sites, ...invalidSites]) {
    const shared = other.id === site.id ? undefined : other.hosts.find((host) => site.hosts.includes(host));
    if (shared !== undefined) {
      const which = shared === '*' ? 'every other host' : `the host ${shared}`;
      throw new CommandError(
        `The site ${other.id} already takes ${which}. Name this site's hosts with --host. If this is that site in another folder, for example a new release of it, add --site ${other.id} --moved.`,
      );
    }
  }
}

/**
 * An entry with mistakes is never changed by a command, nor is its folder given to another site.
 * @param named what the command names: an id, folders
 * @throws CommandError for an entry with that id or folder, with its mistakes
 */
export function refuseInvalidEntry(
  dataDir: string,
  { invalidSites = [] }: ConfigFile,
  named: { readonly id?: SiteId | undefined; readonly wordpressDirs?: readonly string[] },
): void {
  for (const { id, folders, mistakes } of invalidSites) {
    const own = folders.wordpressDir === null ? null : resolve(dataDir, folders.wordpressDir);
    const paths = own === null ? [] : [own, withoutLinks(own)];
    if (id !== named.id && !paths.some((path) => path !== null && named.wordpressDirs?.includes(path))) continue;
    throw new CommandError(
      `The entry of the site ${id} in ${CONFIG_FILE} has mistakes:\n${mistakes.map((each) => `  ${each}`).join('\n')}\nCorrect it, or take it out with \`security-optimizer sites remove --site '${id}'\`.`,
    );
  }
}

/** Requiring guard before visitors use it would refuse all of them. */
export async function refuseUnlessVisited(dataDir: string, site: SiteId): Promise<void> {
  const missing = missingTraffic(await readGuardedTraffic(dataDir, site), systemClock());
  if (missing === null) return;
  throw new CommandError(
    `${missing} WordPress would refuse visitors who come past guard. Lead the traffic through guard first, open some pages of the site, and try again; with --force nothing is asked.`,
  );
}

/** @throws CommandError when sites must not, or can't, run this version's connector from the folder */
export async function refuseUnlessShared(sources: ConnectorSources, shared: string): Promise<void> {
  const { sharedRelease } = await readConnector(sources, shared);
  const fault = sharedRelease === null ? null : findSharedFault(sharedRelease);
  if (fault !== null) throw new CommandError(fault);
}

/**
 * A readable id that no site has or ever had.
 * @param name the text from which the id is derived, for example a host
 * @throws StorageError when the databases can't be read
 */
export async function newSiteId(name: string, config: ConfigFile, databases: SiteDatabases): Promise<SiteId> {
  const base =
    name
      .replace(/[^a-zA-Z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 50)
      .toLowerCase() || 'site';
  const files = await readdir(join(databases.dataDir, 'sites'));
  // Secrets count as well as notes: an owner who removes a site from the configuration by hand leaves its secret
  // behind.
  const usedIds = new Set(
    [...listSiteFolders(config).map(({ id }) => id), ...files.map((file) => file.replace(/\..*$/, ''))].map((id) =>
      id.toLowerCase(),
    ),
  );
  for (let number = 1; ; number++) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!usedIds.has(id) && !(await hasSiteRows(id, databases))) return id;
  }
}
