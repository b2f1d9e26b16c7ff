import { resolve } from 'node:path';
import type { SiteEntry } from '../config/config-file.js';
import { getDatabaseUrl } from '../config/load-config.js';
import type { ConfigFile } from '../config/parse-config.js';
import type { SocketAddress } from '../lib/socket-address.js';
import type { SiteId } from '../site.js';
import { toNamedPath } from '../wordpress/must-use-folder.js';
import { runSiteTask, type SharedKey, SiteFilesError } from '../wordpress/site-files.js';
import { CommandError, UsageError } from './command.js';
import { hasConfig, readConfig, updateConfig } from './config-store.js';
import {
  type FileRecord,
  fileRecord,
  findConnectorSources,
  installConnector,
  isKeyFile,
  SECRET,
} from './connector-files.js';
import {
  describeWrongLocation,
  type InstalledLocation,
  type LocationOutcome,
  type ReportedMuPlugins,
  readMuPluginsFolder,
  removeMisplaced,
  toPage,
  verifyLocation,
} from './connector-location.js';
import { enterRelease, isSameRelease, type Release, readReleases, toUsualMuPlugins } from './releases.js';
import { findRetiredIn, forgetRetired } from './retired-sites.js';
import {
  findRetainedData,
  locateSites,
  newSiteId,
  refuseInvalidEntry,
  refuseTakenHosts,
  refuseUnlessShared,
  refuseUnlessVisited,
  siteSecret,
  toProof,
  withoutLinks,
} from './site-entry.js';
import { findNamedSite, type LocatedSite, toKeyLocation } from './site-identity.js';
import { type AttachedState, readNotes, restoreData, restoreNotes, undoAttach } from './undo-attach.js';

export interface AttachOptions {
  /** Folder that contains wp-load.php. */
  readonly wordpressDir: string;
  /** Folder of must-use plugins, for a site that has moved it. Default: the value in the site's configuration. */
  readonly muPluginsDir?: string;
  /**
   * Origin of WordPress's web server, for example `http://127.0.0.1:8081`. Default: the value in the site's
   * configuration.
   */
  readonly upstream?: string;
  /** Default: the value in the configuration. */
  readonly listen?: SocketAddress;
  readonly dataDir: string;
  /** Id of a detached site whose settings and log are used again. Default: a new id that was never in use. */
  readonly site?: SiteId;
  /** This site is not the one that is already attached with the same folder. */
  readonly newSite?: boolean;
  /** Other sites use the same folder of must-use plugins. */
  readonly sharedMuPlugins?: boolean;
  /**
   * The operator provides the key to the site's PHP, and guard writes none. Default: the value in the site's
   * configuration.
   */
  readonly externalKey?: boolean;
  /** The attached site that `site` names has moved to this folder. */
  readonly moved?: boolean;
  /** Host names of the site. Default: every host. */
  readonly hosts?: readonly string[];
  /** Proxies in front of guard. Default: the value in the configuration. */
  readonly trustedProxies?: readonly string[];
  /** WordPress answers requests that did not come through guard, as in a site that is attached for the first time. */
  readonly allowDirect?: boolean;
  /**
   * WordPress refuses requests that did not come through guard. This is rejected until guard has seen visitors of the
   * site, since otherwise every visitor would be refused; `force` skips that check. Without this option and
   * `allowDirect` the site's setting does not change.
   */
  readonly requireGuard?: boolean | 'force';
  /** Folder with the releases that sites share; null for a copy of the site's own. Default: unchanged. */
  readonly sharedConnector?: string | null;
  /** URL path of a site in a sub-directory. Needed only until the connector has reported it. */
  readonly home?: string;
  /** Proxies, limits and branding of this site alone. Default: the values in the site's configuration. */
  readonly own?: Pick<SiteEntry, 'trustedProxies' | 'limits' | 'branding'>;
}

export interface AttachedSite {
  readonly id: SiteId;
  /** The site was attached before and has now been brought up to date. */
  readonly again: boolean;
  /** Ids of detached sites that used this folder before and whose settings and log are kept. */
  readonly before: readonly SiteId[];
  /** Whether WordPress refuses requests that did not come through guard. */
  readonly requireGuard: boolean;
  /** Folder with the releases that sites share; null for a copy of the site's own. */
  readonly sharedConnector: string | null;
  /** Location of the site's key in a folder with the keys of other sites; null when the folder is the site's own. */
  readonly sharedKey: SharedKey | null;
  /** Sites whose key is readable by every site of that folder until they are attached again. */
  readonly toMove: readonly SiteId[];
  /** Where the connector was installed. */
  readonly location: InstalledLocation;
  /** WordPress's configuration names the folder of must-use plugins, and it is not the usual one. */
  readonly isLocationReported: boolean;
  /** For `undoAttach`. */
  readonly state: AttachedState;
}

/**
 * Connects a WordPress with guard: creates the secret, writes the configuration, installs the connector and the
 * dashboard. Safe to repeat: the secret and every setting stay, and files are brought up to date. A folder that was
 * detached becomes a new site unless its former id is named, since it may belong to another customer by now.
 * Guard's side is written first, so that WordPress never depends on a guard that does not know it, and only after a
 * check that the site's files can be written. If writing them fails nevertheless, the previous state is restored.
 *
 * @throws CommandError, ConfigError, SiteFilesError, or the system's error for a file that can't be written
 */
export async function attach(options: AttachOptions): Promise<AttachedSite> {
  const named = resolve(options.wordpressDir);
  // With links resolved: a deployment may change where the named path leads at any time.
  const { wordpressDir } = await runSiteTask({ wordpressDir: named }, { kind: 'locate' });
  const dataDir = resolve(options.dataDir);
  if ([named, wordpressDir].some((folder) => `${dataDir}/`.startsWith(`${folder}/`))) {
    throw new CommandError('The data folder must not lie inside the WordPress folder: its files could be fetched.');
  }
  const sources = await findConnectorSources();
  const reported = await queryWordPress(dataDir, options, { named, wordpressDir });
  const hadConfig = await hasConfig(dataDir);
  return updateConfig(dataDir, async (config, write) => {
    const placed = await locateSites(dataDir, config);
    const present = findPresent(placed, options, { named, wordpressDir });
    if (present !== undefined && options.site !== undefined && options.site !== present.id) {
      throw new CommandError(`${named} is attached as site ${present.id}. Detach that one first.`);
    }
    if (present === undefined) {
      refuseInvalidEntry(dataDir, config, { id: options.site, wordpressDirs: [named, wordpressDir] });
    }
    const known = present ?? findMoved(config, options, named);
    const databases = { dataDir, url: getDatabaseUrl(config) };
    const retained = known ?? (await findRetainedData(databases, options.site));
    const hosts = options.hosts ?? retained?.hosts ?? ['*'];
    const upstream = options.upstream ?? known?.upstream;
    if (upstream === undefined) throw new UsageError('The option --upstream is missing.');
    // The stored folder stays as the operator wrote it. A folder that is named now is relative to the working directory.
    // A site that has moved to another folder has its must-use plugins elsewhere, too, so its stored folder is not used.
    const muPluginsDir = options.muPluginsDir === undefined ? present?.muPluginsDir : resolve(options.muPluginsDir);
    // What WordPress reports is used only when nobody has named the folder.
    const isLocationReported = muPluginsDir === undefined && reported !== null && !reported.isDefault;
    const reportedDir = isLocationReported ? toNamedPath(reported.muPluginsDir, { named, wordpressDir }) : undefined;
    const folders = {
      wordpressDir,
      ...(muPluginsDir !== undefined && { muPluginsDir: resolve(dataDir, muPluginsDir) }),
      ...(isLocationReported && { muPluginsDir: reported.muPluginsDir }),
    };
    const proof = known === undefined ? undefined : await toProof(dataDir, known.id, folders);
    const taskOptions = { proof, ...(isLocationReported && { reportedOwner: reported.uid }) };
    const found = await runSiteTask(folders, { kind: 'inspect' }, taskOptions).catch((error: unknown) => {
      if (!isLocationReported || !(error instanceof SiteFilesError)) throw error;
      const usual = toUsualMuPlugins(wordpressDir);
      throw new CommandError(`${describeWrongLocation(usual, reported.muPluginsDir)} ${error.message}`);
    });
    const release = { wordpressDir, muPluginsDir: found.muPluginsDir };
    // A site that is attached already keeps the place of its key: PHP may see WordPress under another path.
    const isShared = found.hasKeys || (known === undefined && found.isElsewhere) || options.sharedMuPlugins === true;
    const isExternal = options.externalKey ?? known?.externalKey ?? false;
    const key = toKeyLocation(
      { ...release, isShared, isExternal },
      placed.filter(({ site }) => site !== known),
    );
    const shared = options.sharedConnector === undefined ? (known?.sharedConnector ?? null) : options.sharedConnector;
    if (shared !== null) await refuseUnlessShared(sources, shared);
    const { sharedConnector: _, muPluginsDir: __, externalKey: ___, ...others } = known ?? {};
    const site: SiteEntry = {
      ...others,
      ...options.own,
      id:
        known?.id ?? options.site ?? (await newSiteId(hosts.find((host) => host !== '*') ?? 'site', config, databases)),
      hosts: [...hosts],
      upstream,
      wordpressDir: present === undefined ? named : toStoredPath(dataDir, present, { named, wordpressDir }),
      ...((muPluginsDir ?? reportedDir) !== undefined && { muPluginsDir: muPluginsDir ?? reportedDir }),
      ...(shared !== null && { sharedConnector: shared }),
      ...(isExternal && { externalKey: true }),
      requireGuard: options.allowDirect ? false : options.requireGuard ? true : (known?.requireGuard ?? false),
      home: options.home ?? retained?.home ?? '',
    };
    refuseTakenHosts(config, site);
    if (options.requireGuard === true && !known?.requireGuard) await refuseUnlessVisited(dataDir, site.id);
    const notes = await readNotes(dataDir, site.id);
    const written: ConfigFile = {
      ...config,
      listen: options.listen ?? config.listen,
      trustedProxies: [...(options.trustedProxies ?? config.trustedProxies)],
      sites: known ? config.sites.map((entry) => (entry === known ? site : entry)) : [...config.sites, site],
    };
    const changed = { id: site.id, written, former: hadConfig ? config : null, notes };
    const record = fileRecord(dataDir, site.id);
    let isNewRelease = true;
    let sharedKey: SharedKey | null = null;
    let isWritten = false;
    try {
      const secret = await siteSecret(dataDir, site.id);
      await write(written);
      isWritten = true;
      const content = { secret, requireGuard: site.requireGuard };
      if (present !== undefined && isLocationReported) await enterUsualLocation(dataDir, present.id, release, record);
      isNewRelease = !(await readReleases(dataDir, site.id)).some((each) => isSameRelease(each, release));
      await enterRelease(dataDir, site.id, release, record);
      ({ sharedKey } = await installConnector(folders, sources, content, record, { shared, ...taskOptions, key }));
      await forgetRetired(dataDir, site.id);
    } catch (error) {
      // The first error is more important than an error while restoring.
      const restored = isWritten
        ? restoreData(dataDir, changed, written, write)
        : restoreNotes(dataDir, site.id, notes);
      await restored.catch(() => {});
      throw error;
    }
    const before = known === undefined ? await findRetiredIn(dataDir, [named, wordpressDir]) : [];
    return {
      id: site.id,
      again: known !== undefined,
      before: before.map(({ id }) => id),
      requireGuard: site.requireGuard,
      sharedConnector: shared,
      sharedKey,
      toMove: key === 'secret.php' ? [] : await findToMove(dataDir, site.id, release.muPluginsDir, placed),
      location: { ...release, reported, key },
      isLocationReported,
      state: { ...changed, release, isNewRelease, options: taskOptions },
    };
  });
}

/** An attached site, and what WordPress reports about the location of its connector. */
export interface VerifiedSite extends AttachedSite {
  readonly outcome: Exclude<LocationOutcome, { readonly kind: 'wrong' }>;
  /** Folders from which WordPress does not load the connector, and from which it was removed. */
  readonly cleaned: readonly string[];
}

/**
 * Attaches a site, and verifies with WordPress that the connector runs. A connector in a folder from which WordPress
 * does not load it is removed again with its key, and the previous state is restored.
 *
 * @throws CommandError that names both folders, and what `attach` throws
 */
export async function attachVerified(options: AttachOptions): Promise<VerifiedSite> {
  const dataDir = resolve(options.dataDir);
  const site = await attach(options);
  const outcome = await verifyLocation(dataDir, site.id, site.location);
  if (outcome.kind === 'wrong') {
    let rest = site.state.isNewRelease
      ? 'The connector and its key were taken away again, and the configuration is as it was.'
      : 'The configuration is as it was.';
    await undoAttach(dataDir, site.state).catch((error: unknown) => {
      if (!(error instanceof SiteFilesError)) throw error;
      rest = `The connector could not be taken away again: ${error.message}`;
    });
    throw new CommandError(`${outcome.text} ${rest}`);
  }
  const isKnownLocation =
    outcome.kind === 'confirmed' || site.location.reported?.muPluginsDir === site.location.muPluginsDir;
  const cleaned = isKnownLocation ? await removeMisplaced(dataDir, site.id, site.location) : [];
  return { ...site, outcome, cleaned };
}

/** Runs before the lock is taken, since PHP may be slow. */
async function queryWordPress(
  dataDir: string,
  options: AttachOptions,
  folder: NamedFolder,
): Promise<ReportedMuPlugins | null> {
  const config = await readConfig(dataDir);
  const present = findPresent(await locateSites(dataDir, config), options, folder);
  const { wordpressDir } = folder;
  const page = toPage({ hosts: options.hosts ?? present?.hosts ?? [], home: options.home ?? present?.home ?? '' });
  const proof = present === undefined ? undefined : await toProof(dataDir, present.id, { wordpressDir });
  return readMuPluginsFolder({ wordpressDir }, page, proof);
}

/**
 * Earlier versions of guard recorded which files they had written, but not in which folder. Where nobody had named a
 * folder, it is the usual one.
 */
async function enterUsualLocation(
  dataDir: string,
  id: SiteId,
  { wordpressDir }: Release,
  record: FileRecord,
): Promise<void> {
  if ((await readReleases(dataDir, id)).length > 0 || (await record.read()).length === 0) return;
  await enterRelease(dataDir, id, { wordpressDir, muPluginsDir: toUsualMuPlugins(wordpressDir) }, record);
}

/** The other sites of a folder of must-use plugins whose key is in `secret.php` of that folder. */
async function findToMove(
  dataDir: string,
  id: SiteId,
  muPluginsDir: string,
  placed: readonly LocatedSite[],
): Promise<readonly SiteId[]> {
  const found: SiteId[] = [];
  for (const { site, muPluginsDir: otherDir } of placed) {
    if (site.id === id || otherDir !== muPluginsDir) continue;
    const hasOwn = (await fileRecord(dataDir, site.id).read()).some((name) => isKeyFile(name) && name !== SECRET);
    if (!hasOwn && site.externalKey !== true) found.push(site.id);
  }
  return found;
}

/** A WordPress folder: absolute as the operator names it, and with links resolved. */
interface NamedFolder {
  readonly named: string;
  readonly wordpressDir: string;
}

/**
 * Finds the attached site to which the options refer.
 * @throws CommandError when more than one site matches
 */
function findPresent(
  placed: readonly LocatedSite[],
  options: AttachOptions,
  folder: NamedFolder,
): SiteEntry | undefined {
  const { muPluginsDir: plugins } = options;
  const found = findNamedSite(placed, {
    ...folder,
    hosts: options.hosts ?? null,
    id: options.site ?? null,
    isNew: options.newSite === true,
    upstream: options.upstream ?? null,
    muPluginsDir: plugins === undefined ? null : (withoutLinks(plugins) ?? resolve(plugins)),
  });
  return found ?? undefined;
}

/**
 * Finds the attached site that has moved to another folder.
 * @throws CommandError unless the operator has confirmed the move: a mistyped id must not move a site
 */
function findMoved({ sites }: ConfigFile, options: AttachOptions, named: string): SiteEntry | undefined {
  const site = sites.find(({ id }) => id === options.site);
  if (site === undefined || options.moved === true) return site;
  throw new CommandError(
    `The site ${site.id} is attached already, with the folder ${site.wordpressDir}. If it is in ${named} from now on, add --moved.`,
  );
}

/**
 * The path to store for a site that is attached already. Earlier versions stored the target of a link, which is no
 * longer the site after the next deployment.
 */
function toStoredPath(dataDir: string, site: SiteEntry, { named, wordpressDir }: NamedFolder): string {
  const stored = site.wordpressDir ?? named;
  return resolve(dataDir, stored) === wordpressDir && named !== wordpressDir ? named : stored;
}
