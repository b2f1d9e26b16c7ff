import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import {
  type ConfigFile,
  homePath,
  hostName,
  listenAddress,
  type SiteEntry,
  sharedFolder,
  siteId,
  trustedProxy,
  upstreamOrigin,
} from '../config/config-file.js';
import { getDatabaseUrl, isSecret, loadConfig, secretFile } from '../config/load-config.js';
import { systemClock } from '../lib/clock.js';
import { writeFileAtomically } from '../lib/files.js';
import type { SocketAddress } from '../lib/socket-address.js';
import type { SiteId } from '../site.js';
import { createConnectorClient } from '../wordpress/connector-client.js';
import { ConnectorError, isConnectorGone } from '../wordpress/connector-error.js';
import type { WordPressFolders } from '../wordpress/connector-secret.js';
import { missingTraffic, readGuardedTraffic } from '../wordpress/guarded-traffic.js';
import { type ConnectorSources, type KeyProof, runSiteTask, type SharedKey } from '../wordpress/site-files.js';
import { type Command, CommandError, checked, readOptions, required, UsageError } from './command.js';
import { readConfig, updateConfig } from './config-store.js';
import {
  fileRecord,
  findConnectorSources,
  installConnector,
  isKeyFile,
  readConnector,
  SECRET,
} from './connector-files.js';
import { hasSiteRows, type SiteDatabases } from './erase.js';
import { printManualInstall } from './manual-install.js';
import { enterRelease, type Release, readReleases, toUsualMuPlugins } from './releases.js';
import { findRetired, findRetiredIn, forgetRetired, type RetiredSite } from './retired-sites.js';
import { tellServed } from './running-guard.js';
import { findSharedFault, sharedAdvice } from './shared-connector.js';
import { findNamedSite, type PlacedSite, toKeyPlace } from './site-identity.js';

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
  /** Whether the operator puts the key in place. */
  readonly externalKey: boolean;
  /** Sites whose key every site of that folder still finds, until they are attached again. */
  readonly toMove: readonly SiteId[];
}

/**
 * Connects a WordPress with guard: makes the secret, writes the configuration, installs the connector and the
 * dashboard. Repeatable: the secret and every setting stay, files are brought up to date. A folder that was detached
 * becomes a new site, since it may be another customer's by now, unless its former id is named. Guard's side is written
 * first, so that WordPress never waits for a guard that does not know it.
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
  return updateConfig(dataDir, async (config, write) => {
    const placed = await placeSites(dataDir, config);
    const there =
      findNamedSite(placed, {
        ...{ named, wordpressDir, hosts: options.hosts ?? null, id: options.site ?? null },
        isNew: options.newSite === true,
        upstream: options.upstream ?? null,
        muPluginsDir:
          options.muPluginsDir === undefined
            ? null
            : (withoutLinks(options.muPluginsDir) ?? resolve(options.muPluginsDir)),
      }) ?? undefined;
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
    const folders = {
      wordpressDir,
      ...(muPluginsDir !== undefined && { muPluginsDir: resolve(dataDir, muPluginsDir) }),
    };
    const proof = known === undefined ? undefined : await toProof(dataDir, known.id, folders);
    const found = await runSiteTask(folders, { kind: 'inspect' }, { proof });
    const plugins = found.muPluginsDir;
    const release = { wordpressDir, muPluginsDir: plugins };
    // A site that is attached already keeps its place: PHP may see WordPress under another path.
    const isShared = found.hasKeys || (known === undefined && found.isElsewhere) || options.sharedMuPlugins === true;
    const isExternal = options.externalKey ?? known?.externalKey ?? false;
    const key = toKeyPlace(
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
      ...(muPluginsDir !== undefined && { muPluginsDir }),
      ...(shared !== null && { sharedConnector: shared }),
      ...(isExternal && { externalKey: true }),
      requireGuard: options.allowDirect ? false : options.requireGuard ? true : (known?.requireGuard ?? false),
      home: options.home ?? kept?.home ?? '',
    };
    refuseTakenHosts(config, site);
    if (options.requireGuard === true && !known?.requireGuard) await refuseUnlessVisited(dataDir, site.id);
    const secret = await siteSecret(dataDir, site.id);
    await write({
      ...config,
      listen: options.listen ?? config.listen,
      trustedProxies: [...(options.trustedProxies ?? config.trustedProxies)],
      sites: known ? config.sites.map((entry) => (entry === known ? site : entry)) : [...config.sites, site],
    });
    const content = { secret, requireGuard: site.requireGuard };
    const record = fileRecord(dataDir, site.id);
    await enterRelease(dataDir, site.id, release, record);
    const { sharedKey } = await installConnector(folders, sources, content, record, { shared, proof, key });
    await forgetRetired(dataDir, site.id);
    const before = known === undefined ? await findRetiredIn(dataDir, [named, wordpressDir]) : [];
    return {
      id: site.id,
      again: known !== undefined,
      before: before.map(({ id }) => id),
      requireGuard: site.requireGuard,
      sharedConnector: shared,
      sharedKey,
      externalKey: isExternal,
      toMove: key === 'secret.php' ? [] : await findToMove(dataDir, site.id, plugins, placed),
    };
  });
}

export interface PreparedRelease {
  /** Folder of the release that holds wp-load.php. */
  readonly wordpressDir: string;
  readonly dataDir: string;
  /** May be left out where one site alone is attached. */
  readonly site?: SiteId;
  /** Folder of its must-use plugins; the one that the site has, in this release, when left out. */
  readonly muPluginsDir?: string;
}

/**
 * Installs the connector in a release of an attached site to which the site's path does not lead yet, so that no visitor
 * meets the release without it. Nothing of the site is changed.
 *
 * @returns the site's id
 * @throws as `attach`
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
    const { isShared, muPluginsDir: plugins } = await runSiteTask(folders, { kind: 'inspect' }, { proof });
    const release = { wordpressDir, muPluginsDir: plugins };
    const others = (await placeSites(dataDir, config)).filter((placed) => placed.site !== site);
    await refuseUnlessFree(dataDir, others, { named, ...release });
    const key = toKeyPlace({ ...release, isShared, isExternal: site.externalKey ?? false }, others);
    const shared = site.sharedConnector ?? null;
    if (shared !== null) await refuseUnlessShared(sources, shared);
    const content = { secret: await siteSecret(dataDir, site.id), requireGuard: site.requireGuard };
    const record = fileRecord(dataDir, site.id);
    await enterRelease(dataDir, site.id, release, record);
    await installConnector(folders, sources, content, record, { shared, proof, key });
    return site.id;
  });
}

/** The attached site that is named, or the only one that is on this machine. */
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

/** A folder of another site would get this site's key in place of its own. */
async function refuseUnlessFree(
  dataDir: string,
  others: readonly PlacedSite[],
  { named, wordpressDir, muPluginsDir }: Release & { readonly named: string },
): Promise<void> {
  const isHere = (folders: Release) => folders.wordpressDir === wordpressDir && folders.muPluginsDir === muPluginsDir;
  for (const other of others) {
    const { id } = other.site;
    if (isHere(other)) throw new CommandError(`${named} is attached as site ${id}.`);
    if ((await readReleases(dataDir, id)).some(isHere)) {
      throw new CommandError(`${named} is a release of the site ${id}.`);
    }
  }
}

/**
 * The folder of must-use plugins that a site has moved, in a release: as it lies to WordPress, where both are reached by
 * the link to the current release, and else the one that all releases share.
 */
async function toReleaseMuPlugins(dataDir: string, site: SiteEntry, release: string): Promise<string | undefined> {
  if (site.muPluginsDir === undefined || site.wordpressDir === null) return undefined;
  const [wordpress, plugins] = [resolve(dataDir, site.wordpressDir), resolve(dataDir, site.muPluginsDir)];
  let around = wordpress;
  while (!`${plugins}/`.startsWith(around === '/' ? '/' : `${around}/`)) around = dirname(around);
  const isInRelease = (await realpath(around).catch(() => null)) !== around;
  return isInRelease ? resolve(release, relative(wordpress, plugins)) : plugins;
}

/** What `attach --print` takes: nothing in it leads guard into WordPress. */
type PrintOptions = Pick<
  AttachOptions,
  'dataDir' | 'upstream' | 'listen' | 'hosts' | 'site' | 'trustedProxies' | 'allowDirect' | 'requireGuard' | 'home'
> & {
  readonly wordpressDir: string | null;
  readonly muPluginsDir: string | null;
  readonly sharedConnector: string | null;
};

/**
 * Writes guard's side of a site whose files the operator puts in place, since its code can't be written or is on another
 * machine. Of a site that `attach` installs into nothing is changed.
 *
 * @returns what to put where, with the key
 * @throws CommandError, ConfigError
 */
export async function attachByHand(options: PrintOptions): Promise<string> {
  const dataDir = resolve(options.dataDir);
  const sources = await findConnectorSources();
  return updateConfig(dataDir, async (config, write) => {
    const folder = options.wordpressDir === null ? null : resolve(options.wordpressDir);
    const known = config.sites.find(({ id, hosts, wordpressDir }) => {
      if (options.site !== undefined) return id === options.site;
      if (options.hosts !== undefined) return hosts.some((host) => options.hosts?.includes(host));
      return folder !== null && wordpressDir !== null && resolve(dataDir, wordpressDir) === folder;
    });
    const plugins = known?.muPluginsDir ?? options.muPluginsDir;
    const muPluginsDir = plugins ? resolve(dataDir, plugins) : folder && toUsualMuPlugins(folder);
    const shared = options.sharedConnector ?? known?.sharedConnector ?? null;
    if (known !== undefined && known.wordpressDir !== null) {
      const { sharedRelease } = shared === null ? { sharedRelease: null } : await readConnector(sources, shared);
      const { id, requireGuard } = known;
      return printManualInstall({
        ...{ id, requireGuard, sharedRelease, muPluginsDir },
        secret: await siteSecret(dataDir, id),
      });
    }
    if (shared === null) {
      throw new UsageError('--print needs --shared-connector: the folder out of which PHP runs the connector.');
    }
    await refuseUnlessShared(sources, shared);
    const upstream = options.upstream ?? known?.upstream;
    if (upstream === undefined) throw new UsageError('The option --upstream is missing.');
    const databases = { dataDir, url: getDatabaseUrl(config) };
    const kept = known ?? (await takeUp(databases, options.site));
    const hosts = options.hosts ?? kept?.hosts ?? ['*'];
    const site: SiteEntry = {
      ...known,
      id:
        known?.id ?? options.site ?? (await newSiteId(hosts.find((host) => host !== '*') ?? 'site', config, databases)),
      ...{ hosts: [...hosts], upstream, wordpressDir: null, sharedConnector: shared },
      requireGuard: options.allowDirect ? false : options.requireGuard ? true : (known?.requireGuard ?? false),
      home: options.home ?? kept?.home ?? '',
    };
    refuseTakenHosts(config, site);
    if (options.requireGuard === true && !known?.requireGuard) await refuseUnlessVisited(dataDir, site.id);
    const secret = await siteSecret(dataDir, site.id);
    await write({
      ...config,
      listen: options.listen ?? config.listen,
      trustedProxies: [...(options.trustedProxies ?? config.trustedProxies)],
      sites: known ? config.sites.map((entry) => (entry === known ? site : entry)) : [...config.sites, site],
    });
    await forgetRetired(dataDir, site.id);
    const { sharedRelease } = await readConnector(sources, shared);
    const { id, requireGuard } = site;
    return printManualInstall({ id, requireGuard, sharedRelease, muPluginsDir, secret });
  });
}

/** The other sites of a folder of must-use plugins that have their key in its `secret.php`. */
async function findToMove(
  dataDir: string,
  id: SiteId,
  muPluginsDir: string,
  placed: readonly PlacedSite[],
): Promise<readonly SiteId[]> {
  const found: SiteId[] = [];
  for (const { site, muPluginsDir: theirs } of placed) {
    if (site.id === id || theirs !== muPluginsDir) continue;
    const hasOwn = (await fileRecord(dataDir, site.id).read()).some((name) => isKeyFile(name) && name !== SECRET);
    if (!hasOwn && site.externalKey !== true) found.push(site.id);
  }
  return found;
}

/** Closing a site in front of its visitors would refuse all of them. */
async function refuseUnlessVisited(dataDir: string, site: SiteId): Promise<void> {
  const missing = missingTraffic(await readGuardedTraffic(dataDir, site), systemClock());
  if (missing === null) return;
  throw new CommandError(
    `${missing} WordPress would refuse visitors who come past guard. Lead the traffic through guard first, open some pages of the site, and try again; with --force nothing is asked.`,
  );
}

/** @throws CommandError when sites must not, or can't, run this version's connector from the folder */
async function refuseUnlessShared(sources: ConnectorSources, shared: string): Promise<void> {
  const { sharedRelease } = await readConnector(sources, shared);
  const fault = sharedRelease === null ? null : findSharedFault(sharedRelease);
  if (fault !== null) throw new CommandError(fault);
}

/** A WordPress folder as the operator names it, absolute, and without links in its path. */
interface NamedFolder {
  readonly named: string;
  readonly wordpressDir: string;
}

/** The sites of the configuration whose folders guard knows. */
async function placeSites(dataDir: string, { sites }: ConfigFile): Promise<readonly PlacedSite[]> {
  const placed: PlacedSite[] = [];
  for (const site of sites) {
    if (site.wordpressDir === null) continue;
    const named = resolve(dataDir, site.wordpressDir);
    const wordpressDir = withoutLinks(named);
    const { muPluginsDir } = site;
    const plugins =
      muPluginsDir === undefined
        ? wordpressDir && withoutLinks(toUsualMuPlugins(wordpressDir))
        : withoutLinks(resolve(dataDir, muPluginsDir));
    if (wordpressDir !== null && plugins !== null) {
      placed.push({ site, named, wordpressDir, muPluginsDir: plugins });
      continue;
    }
    // Where guard's user may not look, root has noted what it found when the site was attached.
    const last = (await readReleases(dataDir, site.id).catch(() => [])).at(-1);
    placed.push({
      ...{ site, named },
      wordpressDir: wordpressDir ?? last?.wordpressDir ?? named,
      muPluginsDir: plugins ?? last?.muPluginsDir ?? resolve(dataDir, muPluginsDir ?? toUsualMuPlugins(named)),
    });
  }
  return placed;
}

/** A path without links; null where it is not there, or this user may not follow it. */
function withoutLinks(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
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

/** Where the site's connector may be already; the folder itself first, for an update in place. */
async function toProof(dataDir: string, site: SiteId, folders: WordPressFolders): Promise<KeyProof> {
  const { wordpressDir, muPluginsDir = toUsualMuPlugins(wordpressDir) } = folders;
  const former = [...(await readReleases(dataDir, site))].reverse();
  const secret = await readFile(secretFile(dataDir, site), 'utf8').catch(() => '');
  return { secret: secret.trim(), installed: [{ wordpressDir, muPluginsDir }, ...former] };
}

/** The site's secret: the one it has, or a new one of 32 random bytes. */
async function siteSecret(dataDir: string, site: SiteId): Promise<string> {
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
 * What is kept of the site that is to be taken up again; null when none was named.
 * @throws CommandError when there is nothing
 */
async function takeUp(databases: SiteDatabases, id: SiteId | undefined): Promise<Partial<RetiredSite> | null> {
  if (id === undefined) return null;
  const retired = await findRetired(databases.dataDir, id);
  if (retired !== null && retired.erasedAt !== null) {
    throw new CommandError(`The site ${id} was erased. Its id is not given again; leave out --site.`);
  }
  if (retired === null && !hasSiteRows(id, databases)) {
    throw new CommandError(`Nothing is kept of a site ${id}. Leave out --site, and the site gets an id.`);
  }
  return retired ?? {};
}

function refuseTakenHosts(config: ConfigFile, site: SiteEntry): void {
  for (const other of config.sites) {
    const shared = other.id === site.id ? undefined : other.hosts.find((host) => site.hosts.includes(host));
    if (shared !== undefined) {
      const which = shared === '*' ? 'every other host' : `the host ${shared}`;
      throw new CommandError(
        `The site ${other.id} already takes ${which}. Name this site's hosts with --host. If this is that site in another folder, for example a new release of it, add --site ${other.id} --moved.`,
      );
    }
  }
}

export const attachCommand: Command = {
  name: 'sites add',
  summary: 'Connect a WordPress with guard: installs the connector, makes the secret, writes the configuration.',
  help: `security-optimizer sites add --wordpress DIR --upstream URL --data-dir DIR [options]
security-optimizer sites add --release DIR --data-dir DIR [--site ID] [--mu-plugins DIR]
security-optimizer sites add --all --data-dir DIR

  --wordpress DIR        folder of the WordPress installation. This path is the site, also where it is a link that leads
                         to another release after each deployment
  --upstream URL         origin of its web server, for example http://127.0.0.1:8081, or unix:/run/web.sock; without it
                         as before
  --listen HOST:PORT     where guard listens, or unix:/run/guard.sock; without it as before, at first 127.0.0.1:8080
  --data-dir DIR         guard's data folder, outside the WordPress folder
  --mu-plugins DIR       folder of its must-use plugins, where that is not wp-content/mu-plugins
  --host NAME            host name of the site; repeatable; without it every host is taken
  --trusted-proxy CIDR   proxy in front of guard whose X-Forwarded-For is believed, or unix for whoever opens guard's
                         Unix socket; repeatable
  --site ID              take up the settings and the log of a site that was detached
  --new-site             this is another site than the one that is attached with the same folder: they share it
  --shared-mu-plugins    other sites use the same folder of must-use plugins: the key is this site's alone from the start
  --external-key         write no key: you put it where SECURITY_OPTIMIZER_KEY_FILE says, a constant in wp-config.php or a
                         variable of PHP's environment
  --print                write nothing into WordPress, and show what to put where: for code that can't be written, and for
                         a site whose key you put in place. For a new site with --shared-connector, without --wordpress
  --own-key              have guard write the key again
  --moved                with --site: that site is attached, and is in this folder from now on
  --shared-connector DIR run the connector from DIR, where \`share-connector\` has put it, in place of a copy; an
                         absolute path
  --own-connector        give the site a copy of the connector again
  --home PATH            URL path of a site in a sub-directory, for example /blog
  --require-guard        have WordPress refuse requests that did not come through guard; not before visitors did
  --force                with --require-guard: without asking whether visitors come through guard
  --allow-direct         let WordPress answer requests that did not come through guard, as at the first attach
  --user NAME            as root: makes a data folder that is not there yet for the user that guard runs as
  --release DIR          install the connector in a release of an attached site before it becomes the current one, and
                         change nothing else; --site says of which site, where there are several
  --all                  bring every attached site up to date and change nothing else, for example after a deployment

As root it works in the data folder with the rights of that folder's owner, and in WordPress with those of its owner.
Safe to repeat: the secret and every setting stay, and a site that requires guard goes on to. A running guard serves the
site at once, also with another --trusted-proxy; another --listen counts after a restart.`,
  async run(args) {
    const values = readOptions(args, {
      wordpress: { type: 'string' },
      'mu-plugins': { type: 'string' },
      upstream: { type: 'string' },
      listen: { type: 'string' },
      'data-dir': { type: 'string' },
      host: { type: 'string', multiple: true },
      'trusted-proxy': { type: 'string', multiple: true },
      home: { type: 'string' },
      'shared-connector': { type: 'string' },
      'own-connector': { type: 'boolean', default: false },
      site: { type: 'string' },
      moved: { type: 'boolean', default: false },
      'new-site': { type: 'boolean', default: false },
      'shared-mu-plugins': { type: 'boolean', default: false },
      print: { type: 'boolean', default: false },
      'external-key': { type: 'boolean', default: false },
      'own-key': { type: 'boolean', default: false },
      'allow-direct': { type: 'boolean', default: false },
      // See act-as-data-owner.
      user: { type: 'string' },
      'require-guard': { type: 'boolean', default: false },
      force: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      release: { type: 'string' },
    });
    if (values.all) {
      if (args.some((arg) => /^--(?!all$|data-dir(?:=|$))/.test(arg))) {
        throw new UsageError('--all changes nothing of any site: leave out the other options.');
      }
      return attachAll(resolve(required('data-dir', values['data-dir'])));
    }
    if (values.release !== undefined) {
      if (args.some((arg) => /^--(?!(?:release|data-dir|site|mu-plugins)(?:=|$))/.test(arg))) {
        throw new UsageError('--release changes nothing of the site: use --site, --mu-plugins and --data-dir alone.');
      }
      const prepared = await prepareRelease({
        wordpressDir: values.release,
        dataDir: required('data-dir', values['data-dir']),
        ...(values.site !== undefined && { site: checked('site', siteId, values.site) }),
        ...(values['mu-plugins'] !== undefined && { muPluginsDir: values['mu-plugins'] }),
      });
      process.stdout.write(`Prepared: a release of site ${prepared}.\n`);
      return 0;
    }
    const { 'allow-direct': allowDirect, 'require-guard': requireGuard, force } = values;
    if (allowDirect && requireGuard) throw new UsageError('--allow-direct and --require-guard contradict each other.');
    if (values['own-connector'] && values['shared-connector'] !== undefined) {
      throw new UsageError('--shared-connector and --own-connector contradict each other.');
    }
    if (values.moved && values.site === undefined) throw new UsageError('--moved belongs to --site.');
    if (values['new-site'] && values.host === undefined) throw new UsageError('--new-site needs --host.');
    if (values['external-key'] && values['own-key']) {
      throw new UsageError('--external-key and --own-key contradict each other.');
    }
    if (force && !requireGuard) throw new UsageError('--force belongs to --require-guard.');
    const dataDir = required('data-dir', values['data-dir']);
    const common = {
      dataDir,
      allowDirect,
      requireGuard: requireGuard && force ? ('force' as const) : requireGuard,
      ...(values.upstream !== undefined && { upstream: checked('upstream', upstreamOrigin, values.upstream) }),
      ...(values.listen !== undefined && { listen: checked('listen', listenAddress, values.listen) }),
      ...(values.host && { hosts: checked('host', z.array(hostName), values.host) }),
      ...(values['trusted-proxy'] && {
        trustedProxies: checked('trusted-proxy', z.array(trustedProxy), values['trusted-proxy']),
      }),
      ...(values['mu-plugins'] !== undefined && { muPluginsDir: values['mu-plugins'] }),
      ...(values.site !== undefined && { site: checked('site', siteId, values.site), moved: values.moved }),
      ...(values['shared-connector'] !== undefined && {
        sharedConnector: checked('shared-connector', sharedFolder, values['shared-connector']),
      }),
      newSite: values['new-site'],
      sharedMuPlugins: values['shared-mu-plugins'],
      ...((values['external-key'] || values['own-key']) && { externalKey: values['external-key'] }),
      ...(values['own-connector'] && { sharedConnector: null }),
      ...(values.home !== undefined && { home: checked('home', homePath, values.home) }),
    };
    if (values.print) {
      const { wordpress = null, 'mu-plugins': muPluginsDir = null } = values;
      const { sharedConnector = null } = common;
      process.stdout.write(await attachByHand({ ...common, wordpressDir: wordpress, muPluginsDir, sharedConnector }));
      return (await tellServed(dataDir, { needsGuard: true })) ? 0 : 1;
    }
    const site = await attach({ wordpressDir: required('wordpress', values.wordpress), ...common });
    process.stdout.write(
      `${site.again ? 'Brought up to date' : 'Attached'}: site ${site.id}.\n${
        site.requireGuard
          ? 'Direct requests: refused. Visitors must come through guard.'
          : 'Direct requests: allowed. Run this again with --require-guard when visitors come through guard.'
      }\n`,
    );
    tellSharedKey(site);
    const isServed = await tellServed(dataDir, { needsGuard: true });
    for (const other of site.before) {
      process.stdout.write(
        `This folder was the site ${other} before, whose settings and log are kept. To take them up, detach the site ${site.id} and attach again with --site ${other}; to remove them, use \`security-optimizer erase --site ${other}\`.\n`,
      );
    }
    if (site.externalKey) process.stdout.write('Put its key in place; --print shows it, and where it may be.\n');
    const isRun =
      (site.sharedConnector === null && site.sharedKey === null) || (await tellConnectorFault(dataDir, site));
    return isServed && isRun ? 0 : 1;
  },
};

/** Says what the operator should know of a key among those of other sites. */
function tellSharedKey({ sharedKey, toMove }: AttachedSite): void {
  if (sharedKey !== null) {
    process.stdout.write(`Other sites use the same must-use plugins. The key of this one: ${sharedKey.path}\n`);
    if (sharedKey.isPublic) {
      process.stderr.write(
        'Every user of this machine may read that key, as this site’s wp-config.php. Take the right from wp-config.php and attach again.\n',
      );
    } else if (sharedKey.hasSameOwner) {
      process.stderr.write(
        'Keys of other sites there belong to the same user: code that runs in one of these sites can read the keys of all. Only a user for each site keeps them apart.\n',
      );
    }
  }
  if (toMove.length > 0) {
    process.stderr.write(
      `Every site that uses the same must-use plugins still finds the key of ${toMove.join(', ')}. Attach ${toMove.length === 1 ? 'that site' : 'these sites'} again.\n`,
    );
  }
}

/**
 * Brings every attached site up to date, one after the other. One that fails is named, and the others go on.
 * @returns the exit code
 */
async function attachAll(dataDir: string): Promise<number> {
  const { sites } = await readConfig(dataDir);
  const known = sites.filter(({ wordpressDir }) => wordpressDir !== null);
  let failed = 0;
  for (const { id, wordpressDir } of known) {
    try {
      await attach({ wordpressDir: resolve(dataDir, wordpressDir as string), dataDir, site: id });
      process.stdout.write(`Brought up to date: site ${id}.\n`);
    } catch (error) {
      failed++;
      process.stderr.write(`Site ${id}: ${(error as Error).message}\n`);
    }
  }
  process.stdout.write(`${known.length - failed} of ${sites.length} sites are up to date.\n`);
  const isServed = await tellServed(dataDir, { needsGuard: false });
  return isServed && failed === 0 ? 0 : 1;
}

/** How long WordPress may take to answer, milliseconds. */
const RESPONSE_MS = 10_000;

const KEY_ADVICE =
  'The key is found by the folder of WordPress: where PHP sees that under another path, as in a container, attach with --external-key.';

/**
 * Asks a WordPress whether it runs the connector, since only PHP knows its `open_basedir` and under which path it sees
 * the site.
 * @returns false when WordPress answers without it, or without its key
 */
async function tellConnectorFault(
  dataDir: string,
  { id, sharedConnector, sharedKey }: Pick<AttachedSite, 'id' | 'sharedConnector' | 'sharedKey'>,
): Promise<boolean> {
  const site = (await loadConfig({ dataDir: resolve(dataDir) })).sites.find((each) => each.id === id);
  if (site === undefined) return true;
  const client = createConnectorClient({ clock: systemClock, facts: () => null, answerTimeoutMs: RESPONSE_MS });
  try {
    await client.hello(site);
    return true;
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    const isKeyLacking = sharedKey !== null && isConnectorGone(error);
    const advice = [
      ...(sharedConnector === null ? [] : [sharedAdvice(sharedConnector)]),
      ...(isKeyLacking ? [KEY_ADVICE] : []),
    ];
    if (advice.length > 0) process.stderr.write(`${error.detail} ${advice.join(' ')}\n`);
    if (isKeyLacking) return false;
    // A web server that is stopped says nothing of PHP; a site that is closed without its connector answers 503.
    return error.fault.kind !== 'missing' && !/ 503\b/.test(error.detail);
  } finally {
    client.close();
  }
}

/**
 * A readable id that no site has or ever had.
 * @param name what it is made of, for example a host
 * @throws StorageError when the databases can't tell
 */
async function newSiteId(name: string, config: ConfigFile, databases: SiteDatabases): Promise<SiteId> {
  const base =
    name
      .replace(/[^a-zA-Z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 50)
      .toLowerCase() || 'site';
  const files = await readdir(join(databases.dataDir, 'sites'));
  // Secrets as well as notes: an owner who takes a site out of the configuration by hand leaves its secret.
  const taken = new Set(
    [...config.sites.map(({ id }) => id), ...files.map((file) => file.replace(/\..*$/, ''))].map((id) =>
      id.toLowerCase(),
    ),
  );
  for (let number = 1; ; number++) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(id) && !hasSiteRows(id, databases)) return id;
  }
}
