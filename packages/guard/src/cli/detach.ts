import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { siteId } from '../config/config-file.js';
import { loadConfig, secretFile } from '../config/load-config.js';
import { type ConfigFile, listSiteFolders, type SiteFolders } from '../config/parse-config.js';
import type { SiteId } from '../site.js';
import { createConnectorClient } from '../wordpress/connector-client.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import type { WordPressFolders } from '../wordpress/connector-secret.js';
import { guardedTrafficFile } from '../wordpress/guarded-traffic.js';
import { SiteFilesError, type SiteResults } from '../wordpress/site-files.js';
import { type Command, CommandError, readOptions, required, UsageError } from './command.js';
import { readExistingConfig, updateConfig } from './config-store.js';
import { fileRecord } from './connector-files.js';
import { readStoredFacts } from './connector-location.js';
import { eraseSite, printErased } from './erase.js';
import { deleteReleases, forgetFormerReleases, readReleases, toUsualMuPlugins } from './releases.js';
import { removeFromRelease } from './remove-connector.js';
import { recordRetired } from './retired-sites.js';
import { printServed } from './running-guard.js';

/** How long WordPress may take to delete its rows, milliseconds. */
const FORGET_TIMEOUT_MS = 10_000;

/** How long visitors' requests under way may still load classes of the connector, milliseconds. */
const DRAIN_MS = 5000;

export interface Detached {
  readonly site: SiteId;
  /** WordPress has deleted what the connector stored in its database. */
  readonly forgotten: boolean;
  /** The connector's folder still exists, because it holds files that guard did not write. */
  readonly hasOthers: boolean;
  /** The connector is still installed, because other sites have their keys in the same folder. */
  readonly isInUse: boolean;
  /** Why the site is still attached: its files could not be removed. Null when the site is detached. */
  readonly failure: string | null;
}

/**
 * Undoes `attach`: removes the connector from WordPress, its rows in WordPress's database, the secret, and the site
 * from the configuration. Settings and log stay in guard's databases, for an `attach` that names the site's id, or for
 * `eraseSite`. WordPress is cleaned first: it must not depend on a guard that no longer knows it. Requests under
 * way keep the connector's classes for `drainMs`. A WordPress that does not answer is detached nevertheless; a site whose
 * files can't be removed stays attached.
 *
 * @param options `site`: default: every site; `drain`: waits, default: by a timer
 * @throws CommandError, ConfigError
 */
export async function detach(options: {
  readonly dataDir: string;
  readonly site?: SiteId;
  readonly drainMs?: number;
  readonly drain?: (ms: number) => Promise<unknown>;
}): Promise<Detached[]> {
  const { drainMs = DRAIN_MS, drain = pause } = options;
  const dataDir = resolve(options.dataDir);
  const chosen = chooseIds(await readExistingConfig(dataDir), options.site);
  const responses = new Map<SiteId, ForgetResponse>();
  for (const id of chosen) responses.set(id, await forgetInWordPress(dataDir, id));
  const running = new Set([...responses].filter(([, { isRunning }]) => isRunning).map(([id]) => id));
  if (running.size > 0) {
    await updateConfig(dataDir, (config) => removeLoaders(dataDir, config, running));
    // One wait for all of them, in which other commands can work.
    await drain(drainMs);
  }
  return updateConfig(dataDir, async (config, write) => {
    const all = listSiteFolders(config);
    const leaving = all.filter(({ id }) => responses.has(id));
    // Entries without an id of their own: nothing in WordPress or in the data folder is known to belong to them.
    const nameless = (config.invalidSites ?? []).filter(({ id, hasOwnId }) => !hasOwnId && responses.has(id));
    const outcomes: Detached[] = [];
    const removed: SiteFolders[] = [];
    for (const site of leaving) {
      const outcome = { site: site.id, forgotten: responses.get(site.id)?.isForgotten === true };
      try {
        const folders = toFolders(dataDir, site);
        const others = all.filter((each) => each !== site && !removed.includes(each));
        const { hasOthers, isInUse } =
          folders === null
            ? { hasOthers: false, isInUse: false }
            : await removeConnectorEverywhere(dataDir, site.id, folders, {
                others,
                // Only if another command has installed the loader again meanwhile.
                drainMs: running.has(site.id) ? drainMs : 0,
              });
        await recordRetired(dataDir, toRetired(config, site.id, folders));
        removed.push(site);
        outcomes.push({ ...outcome, hasOthers, isInUse, failure: null });
      } catch (error) {
        // A fault in one site's folder must not keep the other sites attached.
        if (!(error instanceof SiteFilesError)) throw error;
        outcomes.push({ ...outcome, hasOthers: false, isInUse: false, failure: error.message });
      }
    }
    const gone = new Set([...removed, ...nameless].map(({ id }) => id));
    await write({
      ...config,
      sites: config.sites.filter(({ id }) => !gone.has(id)),
      ...(config.invalidSites && { invalidSites: config.invalidSites.filter(({ id }) => !gone.has(id)) }),
    });
    for (const { id } of removed) {
      for (const file of [secretFile(dataDir, id), guardedTrafficFile(dataDir, id)]) await rm(file, { force: true });
    }
    for (const { id } of nameless) {
      outcomes.push({
        ...{ site: id, forgotten: true, failure: null },
        hasOthers: false,
        isInUse: false,
      });
    }
    return outcomes;
  });
}

/**
 * Removes the connector from every release that has it, the present one last: a site that is rolled back must not
 * depend on a guard that no longer knows it.
 *
 * @param options `others`: sites that stay attached
 * @returns why the connector's folder stays in the present release
 * @throws SiteFilesError
 */
async function removeConnectorEverywhere(
  dataDir: string,
  site: SiteId,
  folders: WordPressFolders,
  options: { readonly others: readonly SiteFolders[]; readonly drainMs: number },
): Promise<SiteResults['remove']> {
  const installed = await readReleases(dataDir, site);
  const { others } = options;
  for (const release of installed.slice(0, -1)) await removeFromRelease(dataDir, site, release, { others });
  await forgetFormerReleases(dataDir, site);
  const removed = await removeFromRelease(dataDir, site, await findPresent(dataDir, site, folders), options);
  await fileRecord(dataDir, site).delete();
  await deleteReleases(dataDir, site);
  return removed;
}

/** Removes the loaders of sites that WordPress may be running. */
async function removeLoaders(dataDir: string, config: ConfigFile, running: ReadonlySet<SiteId>): Promise<void> {
  const all = listSiteFolders(config);
  for (const site of all.filter(({ id }) => running.has(id))) {
    await removeLoader(
      dataDir,
      site,
      all.filter((each) => each !== site),
    );
  }
}

/**
 * Removes the loader from the release that WordPress runs, unless other sites run the connector there. What prevents
 * it is reported by the complete removal, which follows.
 */
async function removeLoader(dataDir: string, site: SiteFolders, others: readonly SiteFolders[]): Promise<void> {
  const folders = toFolders(dataDir, site);
  if (folders === null) return;
  try {
    const present = await findPresent(dataDir, site.id, folders);
    await removeFromRelease(dataDir, site.id, present, { others, part: 'loader' });
  } catch (error) {
    if (!(error instanceof SiteFilesError)) throw error;
  }
}

/** The release that was installed last, with the files of the connector. */
async function findPresent(
  dataDir: string,
  site: SiteId,
  folders: WordPressFolders,
): Promise<Parameters<typeof removeFromRelease>[2]> {
  const last = (await readReleases(dataDir, site)).at(-1);
  // By now the path of the site may lead to a release that was never attached.
  const present = last ?? { muPluginsDir: toUsualMuPlugins(folders.wordpressDir), ...folders };
  return { ...present, files: await fileRecord(dataDir, site).read() };
}

function toFolders(dataDir: string, { wordpressDir, muPluginsDir }: SiteFolders): WordPressFolders | null {
  if (wordpressDir === null) return null;
  return {
    wordpressDir: resolve(dataDir, wordpressDir),
    ...(muPluginsDir !== undefined && { muPluginsDir: resolve(dataDir, muPluginsDir) }),
  };
}

/** What is recorded of a site for its next `attach`. */
function toRetired(
  { sites, invalidSites = [] }: ConfigFile,
  id: SiteId,
  folders: WordPressFolders | null,
): Parameters<typeof recordRetired>[1] {
  const { hosts = [], home = '' } = sites.find((site) => site.id === id) ?? {};
  const named = [...hosts, ...(invalidSites.find((site) => site.id === id)?.hosts ?? [])];
  return { id, hosts: named.length > 0 ? named : ['*'], home, wordpressDir: folders?.wordpressDir ?? null };
}

/** Ids of the sites to detach, also of those whose entries have mistakes. */
function chooseIds({ sites, invalidSites = [] }: ConfigFile, id: SiteId | undefined): readonly SiteId[] {
  const ids = [...sites, ...invalidSites].map((site) => site.id);
  const chosen = ids.filter((each) => id === undefined || each === id);
  // Key, folder and stored data of an id that is named twice may belong to either entry.
  const second = invalidSites.find((site) => !site.hasOwnId && (site.json as { id?: unknown } | null)?.id === id);
  if (id !== undefined && second !== undefined) {
    throw new CommandError(`The id ${id} is used twice. Take out the second entry first: --site '${second.id}'.`);
  }
  if (chosen.length > 0) return chosen;
  throw new CommandError(id === undefined ? 'No site is attached in this data folder.' : `No site has the id ${id}.`);
}

interface ForgetResponse {
  readonly isForgotten: boolean;
  /** A web server has taken the request, so visitors' requests may be under way. */
  readonly isRunning: boolean;
}

async function forgetInWordPress(dataDir: string, id: SiteId): Promise<ForgetResponse> {
  try {
    const config = await loadConfig({ dataDir, site: id });
    const site = config.sites.find((each) => each.id === id);
    if (site === undefined) return { isForgotten: false, isRunning: false };
    const facts = await readStoredFacts(config, site);
    const client = createConnectorClient({ clock: Date.now, facts: () => facts, responseTimeoutMs: FORGET_TIMEOUT_MS });
    await client.forget(site).finally(() => client.close());
    return { isForgotten: true, isRunning: true };
  } catch (error) {
    // WordPress is stopped, has moved, or lacks the key. Its files can still be removed.
    const isRunning = error instanceof ConnectorError && (error.mayBeDone || error.fault.kind !== 'unreachable');
    return { isForgotten: false, isRunning };
  }
}

export const detachCommand: Command = {
  name: 'sites remove',
  summary: 'Undo attach: removes the connector from WordPress and the site from the configuration.',
  help: `security-optimizer sites remove --data-dir DIR [--site ID] [--mu-plugins DIR] [--purge]

  --data-dir DIR   guard's data folder
  --site ID        only this site; default: every site
  --mu-plugins DIR its folder of must-use plugins, if that belongs to root and the site does not: root accepts such a
                   folder only from the command line
  --purge          erase settings, log and second factors of the site as well; needs --site

A site in quarantine, whose entry in guard.json has mistakes, is removed in the same way; an entry without a usable id is
named by its place, for example --site 'sites[2]'.
Without --purge settings and log are kept: \`attach --site ID\` restores them, \`erase --site ID\` removes them.
A running guard stops serving the site at once. WordPress should run, because it removes the connector's data from its
own database.`,
  async run(args) {
    const values = readOptions(args, {
      'data-dir': { type: 'string' },
      site: { type: 'string' },
      purge: { type: 'boolean', default: false },
      // Used by act-as-data-owner.
      'mu-plugins': { type: 'string' },
    });
    if (values.purge && values.site !== undefined && !siteId.safeParse(values.site).success) {
      throw new UsageError('--purge needs the id of a site: nothing is stored for an entry without one.');
    }
    if (values.purge && values.site === undefined)
      throw new UsageError('--purge needs --site: name what is to be erased.');
    const dataDir = resolve(required('data-dir', values['data-dir']));
    const outcomes = await detach({
      dataDir,
      ...(values.site !== undefined && { site: values.site }),
    });
    const detached = outcomes.filter(({ failure }) => failure === null);
    if (detached.length > 0) process.stdout.write(`Detached: ${detached.map(({ site }) => site).join(', ')}.\n`);
    for (const { site } of detached) {
      if (values.purge || !siteId.safeParse(site).success) continue;
      process.stdout.write(`Settings and log of ${site} are kept, for \`attach --site ${site}\`.\n`);
    }
    for (const { site } of detached.filter(({ forgotten }) => !forgotten)) {
      process.stderr.write(
        `${site}: WordPress did not answer, so its database still holds options and a table whose names start with security_optimizer_. They do nothing.\n`,
      );
    }
    for (const { site } of detached.filter(({ hasOthers }) => hasOthers)) {
      process.stderr.write(
        `${site}: The folder security-optimizer holds files that guard did not write. They were left.\n`,
      );
    }
    for (const { site } of detached.filter(({ isInUse }) => isInUse)) {
      process.stdout.write(`${site}: The connector stays, since other sites use the same must-use plugins.\n`);
    }
    for (const { site, failure } of outcomes) {
      if (failure !== null) process.stderr.write(`${site} stays attached: ${failure}\n`);
    }
    const isApplied = await printServed(dataDir, { needsGuard: false });
    for (const { site } of values.purge ? detached : [])
      await printErased(dataDir, site, await eraseSite(dataDir, site));
    return isApplied && detached.length === outcomes.length ? 0 : 1;
  },
};
