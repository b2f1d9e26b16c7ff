import { resolve } from 'node:path';
import type { ConfigFile, SiteEntry } from '../config/config-file.js';
import { getDatabaseUrl } from '../config/load-config.js';
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
  locateSites,
  newSiteId,
  refuseTakenHosts,
  refuseUnlessShared,
  refuseUnlessVisited,
  siteSecret,
  takeUp,
  toProof,
  withoutLinks,
} from './site-entry.js';
import { findNamedSite, type LocatedSite, toKeyLocation } from './site-identity.js';
import { type AttachedState, readNotes, restoreData, undoAttach } from './undo-attach.js';

export interface AttachOptions {
  /** Folder that holds wp-load.php. */
  readonly wordpressDir: string;
  /** Folder of must-use plugins where the site has moved it; what the configuration has when left out. */
  readonly muPluginsDir?: string;
  /** Origin of WordPress's web server, for example `http://127.0.0.1:8081`; what the site has when left out. */
  readonly upstream?: string;
  /** What the configuration has when left out. */
  readonly listen?: SocketAddress;
  readonly dataDir: string;
  /** A detached site whose settings and log are taken up; a new site gets an id that was never in use. */
  readonly site?: SiteId;
  /** This is another site than the one that is attached with the same folder. */
  readonly newSite?: boolean;
  /** Other sites use the same folder of must-use plugins. */
  readonly sharedMuPlugins?: boolean;
  /** The operator puts the key where the site's PHP finds it, guard writes none; what the configuration has when left out. */
  readonly externalKey?: boolean;
  /** The attached site that `site` names is in this folder from now on. */
  readonly moved?: boolean;
  /** Host names of the site; every host when left out. */
  readonly hosts?: readonly string[];
  /** Proxies in front of guard; what the configuration has when left out. */
  readonly trustedProxies?: readonly string[];
  /** Lets WordPress answer requests that did not come through guard, as in a site that is attached for the first time. */
  readonly allowDirect?: boolean;
  /**
   * Has WordPress refuse requests that did not come through guard. Not before guard has seen visitors, since everybody
   * would be refused; `force` asks nothing. Without this and `allowDirect` a site stays as it is.
   */
  readonly requireGuard?: boolean | 'force';
  /** Folder with the releases that sites share; null for a copy of the site's own; as it is when left out. */
  readonly sharedConnector?: string | null;
  /** URL path of a site in a sub-directory; it is only needed until the connector has told it. */
  readonly home?: string;
  /** Proxies, limits and branding of this site alone; what the configuration has when left out. */
  readonly own?: Pick<SiteEntry, 'trustedProxies' | 'limits' | 'branding'>;
}

export interface AttachedSite {
  readonly id: SiteId;
  /** Whether the site was attached before and has now been brought up to date. */
  readonly again: boolean;
  /** Detached sites that this folder was before and whose settings and log are kept. */
  readonly before: readonly SiteId[];
  /** Whether WordPress refuses requests that did not come through guard. */
  readonly requireGuard: boolean;
  /** Folder with the releases that sites share; null for a copy of the site's own. */
  readonly sharedConnector: string | null;
  /** Where its key is, among those of other sites; null in a folder of its own. */
  readonly sharedKey: SharedKey | null;
  /** Sites whose key every site of that folder still finds, until they are attached again. */
  readonly toMove: readonly SiteId[];
  /** Where the connector was installed. */
  readonly location: InstalledLocation;
  /** The folder of must-use plugins is the one that WordPress's configuration names, and not the usual one. */
  readonly isPlaceTold: boolean;
  /** For `undoAttach`. */
  readonly state: AttachedState;
}

/**
 * Connects a WordPress with guard: makes the secret, writes the configuration, installs the connector and the
 * dashboard. Repeatable: the secret and every setting stay, files are brought up to date. A folder that was detached
 * becomes a new site, since it may be another customer's by now, unless its former id is named. Guard's side is written
 * first, so that WordPress never waits for a guard that does not know it, and nothing before it is known that the site's
 * files can be written; if they can't be all the same, it is as before.
 *
 * @throws CommandError, ConfigError, SiteFilesError, or the system's error for a file that can't be written
 */
export async function attach(options: AttachOptions): Promise<AttachedSite> {
  const named = resolve(options.wordpressDir);
  // Without links: a deployment may have the named path lead elsewhere at any time.
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
    const there = findThere(placed, options, { named, wordpressDir });
    if (there !== undefined && options.site !== undefined && options.site !== there.id) {
      throw new CommandError(`${named} is attached as site ${there.id}. Detach that one first.`);
    }
    const known = there ?? findMoved(config, options, named);
    const databases = { dataDir, url: getDatabaseUrl(config) };
    const kept = known ?? (await takeUp(databases, options.site));
    const hosts = options.hosts ?? kept?.hosts ?? ['*'];
    const upstream = options.upstream ?? known?.upstream;
    if (upstream === undefined) throw new UsageError('The option --upstream is missing.');
    // As the operator wrote it: what they name now is relative to the present folder. A site in another folder than
    // before has its must-use plugins elsewhere, too.
    const muPluginsDir = options.muPluginsDir === undefined ? there?.muPluginsDir : resolve(options.muPluginsDir);
    // WordPress's own word counts where nobody has named the folder.
    const isPlaceTold = muPluginsDir === undefined && reported !== null && !reported.isUsual;
    const reportedDir = isPlaceTold ? toNamedPath(reported.muPluginsDir, { named, wordpressDir }) : undefined;
    const folders = {
      wordpressDir,
      ...(muPluginsDir !== undefined && { muPluginsDir: resolve(dataDir, muPluginsDir) }),
      ...(isPlaceTold && { muPluginsDir: reported.muPluginsDir }),
    };
    const proof = known === undefined ? undefined : await toProof(dataDir, known.id, folders);
    const taskOptions = { proof, ...(isPlaceTold && { toldOwner: reported.uid }) };
    const found = await runSiteTask(folders, { kind: 'inspect' }, taskOptions).catch((error: unknown) => {
      if (!isPlaceTold || !(error instanceof SiteFilesError)) throw error;
      const usual = toUsualMuPlugins(wordpressDir);
      throw new CommandError(`${describeWrongLocation(usual, reported.muPluginsDir)} ${error.message}`);
    });
    const release = { wordpressDir, muPluginsDir: found.muPluginsDir };
    // A site that is attached already keeps its place: PHP may see WordPress under another path.
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
      wordpressDir: there === undefined ? named : toStoredPath(dataDir, there, { named, wordpressDir }),
      ...((muPluginsDir ?? reportedDir) !== undefined && { muPluginsDir: muPluginsDir ?? reportedDir }),
      ...(shared !== null && { sharedConnector: shared }),
      ...(isExternal && { externalKey: true }),
      requireGuard: options.allowDirect ? false : options.requireGuard ? true : (known?.requireGuard ?? false),
      home: options.home ?? kept?.home ?? '',
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
    let isNewPlace = true;
    let sharedKey: SharedKey | null = null;
    try {
      const secret = await siteSecret(dataDir, site.id);
      await write(written);
      const content = { secret, requireGuard: site.requireGuard };
      if (there !== undefined && isPlaceTold) await enterUsualLocation(dataDir, there.id, release, record);
      isNewPlace = !(await readReleases(dataDir, site.id)).some((each) => isSameRelease(each, release));
      await enterRelease(dataDir, site.id, release, record);
      ({ sharedKey } = await installConnector(folders, sources, content, record, { shared, ...taskOptions, key }));
      await forgetRetired(dataDir, site.id);
    } catch (error) {
      // What is wrong counts for more than that it can't be taken back.
      await restoreData(dataDir, changed, written, write).catch(() => {});
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
      isPlaceTold,
      state: { ...changed, place: release, isNewPlace, options: taskOptions },
    };
  });
}

/** A site that is attached, and what WordPress says of the place of its connector. */
export interface VerifiedSite extends AttachedSite {
  readonly outcome: Exclude<LocationOutcome, { readonly kind: 'wrong' }>;
  /** Folders from which WordPress does not load the connector, and out of which it was taken. */
  readonly cleaned: readonly string[];
}

/**
 * Attaches a site, and has WordPress show that it runs the connector. A connector in a place from which WordPress does not
 * load it is taken away again with its key, and everything is as before.
 *
 * @throws CommandError that names both folders, and what `attach` throws
 */
export async function attachVerified(options: AttachOptions): Promise<VerifiedSite> {
  const dataDir = resolve(options.dataDir);
  const site = await attach(options);
  const outcome = await verifyLocation(dataDir, site.id, site.location);
  if (outcome.kind === 'wrong') {
    let rest = site.state.isNewPlace
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

/** Before the lock is taken: PHP may be slow. */
async function queryWordPress(
  dataDir: string,
  options: AttachOptions,
  folder: NamedFolder,
): Promise<ReportedMuPlugins | null> {
  const config = await readConfig(dataDir);
  const there = findThere(await locateSites(dataDir, config), options, folder);
  const { wordpressDir } = folder;
  const page = toPage({ hosts: options.hosts ?? there?.hosts ?? [], home: options.home ?? there?.home ?? '' });
  const proof = there === undefined ? undefined : await toProof(dataDir, there.id, { wordpressDir });
  return readMuPluginsFolder({ wordpressDir }, page, proof);
}

/**
 * Earlier versions of guard kept a record of files, and not where they are. Where nobody had named a folder, they are in the
 * usual one.
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

/** The other sites of a folder of must-use plugins that have their key in its `secret.php`. */
async function findToMove(
  dataDir: string,
  id: SiteId,
  muPluginsDir: string,
  placed: readonly LocatedSite[],
): Promise<readonly SiteId[]> {
  const found: SiteId[] = [];
  for (const { site, muPluginsDir: theirs } of placed) {
    if (site.id === id || theirs !== muPluginsDir) continue;
    const hasOwn = (await fileRecord(dataDir, site.id).read()).some((name) => isKeyFile(name) && name !== SECRET);
    if (!hasOwn && site.externalKey !== true) found.push(site.id);
  }
  return found;
}

/** A WordPress folder as the operator names it, absolute, and without links in its path. */
interface NamedFolder {
  readonly named: string;
  readonly wordpressDir: string;
}

/**
 * The attached site that the operator means.
 * @throws CommandError when it could be one or another
 */
function findThere(placed: readonly LocatedSite[], options: AttachOptions, folder: NamedFolder): SiteEntry | undefined {
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
 * The attached site that is in another folder now.
 * @throws CommandError where the operator has not said that it is: a mistyped id must not move a site
 */
function findMoved({ sites }: ConfigFile, options: AttachOptions, named: string): SiteEntry | undefined {
  const site = sites.find(({ id }) => id === options.site);
  if (site === undefined || options.moved === true) return site;
  throw new CommandError(
    `The site ${site.id} is attached already, with the folder ${site.wordpressDir}. If it is in ${named} from now on, add --moved.`,
  );
}

/**
 * The path to store of a site that is attached already. Earlier versions stored where a link led, which is no longer the
 * site after the next deployment.
 */
function toStoredPath(dataDir: string, site: SiteEntry, { named, wordpressDir }: NamedFolder): string {
  const stored = site.wordpressDir ?? named;
  return resolve(dataDir, stored) === wordpressDir && named !== wordpressDir ? named : stored;
}
