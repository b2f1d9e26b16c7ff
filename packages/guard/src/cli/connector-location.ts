import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import { ConfigError, loadConfig } from '../config/load-config.js';
import { listSiteFolders } from '../config/parse-config.js';
import { systemClock } from '../lib/clock.js';
import { silentLogger } from '../lib/logger.js';
import { lineText } from '../lib/plain-text.js';
import { migrations } from '../migrations.js';
import type { SiteConfig, SiteFacts, SiteId } from '../site.js';
import { createSiteFactsStore } from '../sites/site-facts-store.js';
import { openDatabaseReadOnly } from '../storage/database.js';
import { StorageError } from '../storage/storage-error.js';
import { createConnectorClient } from '../wordpress/connector-client.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import type { WordPressFolders } from '../wordpress/connector-secret.js';
import { judgeLocation, type LocationResponse, type ReportedFolder } from '../wordpress/must-use-folder.js';
import { type KeyLocation, type KeyProof, runSiteTask, SiteFilesError } from '../wordpress/site-files.js';
import { toNamedHost } from '../wordpress/site-origin.js';
import { updateConfig } from './config-store.js';
import { forgetRelease, type Release, readReleases } from './releases.js';
import { removeFromRelease } from './remove-connector.js';
import { sharedAdvice } from './shared-connector.js';

/** How long PHP may take to read WordPress's configuration, milliseconds. */
const PHP_MS = 10_000;
/** How long WordPress may take to answer, milliseconds. */
const RESPONSE_MS = 10_000;
/** PHP may run a cached copy of the previous key file for two seconds (opcache.revalidate_freq). */
const CACHED_KEY_MS = 3000;

const KEY_ADVICE =
  'The key is found by the folder of WordPress: where PHP sees that under another path, as in a container, attach with --external-key.';

/** What WordPress's configuration says, and the user with whose rights it was read. */
export interface ReportedMuPlugins extends ReportedFolder {
  readonly uid: number;
}

/**
 * Reads from WordPress's own configuration where must-use plugins are. Changes nothing.
 * @param site `host` and `path` of a page, since the configuration of several sites may depend on them
 * @returns null when the configuration can't be read: without PHP on the command line, without `wp-config.php`, …
 */
export async function readMuPluginsFolder(
  folders: WordPressFolders,
  site: { readonly host: string; readonly path: string },
  proof: KeyProof | undefined,
): Promise<ReportedMuPlugins | null> {
  try {
    const task = { kind: 'ask-folder', ...site, timeoutMs: PHP_MS } as const;
    const { folder, uid } = await runSiteTask(folders, task, { proof });
    return folder && { ...folder, uid };
  } catch (error) {
    // A fault in the site's files is reported when the connector is installed.
    if (error instanceof SiteFilesError) return null;
    throw error;
  }
}

/** Where a connector was installed, and where WordPress reports its must-use plugins. */
export interface InstalledLocation extends Release {
  readonly reported: ReportedMuPlugins | null;
  readonly key: KeyLocation;
}

/** Outcome of the check whether the connector runs; `text` is for the operator. */
export type LocationOutcome =
  | { readonly kind: 'confirmed' }
  /** WordPress loads must-use plugins from another folder. */
  | { readonly kind: 'wrong'; readonly text: string }
  /** WordPress answers without the connector. */
  | { readonly kind: 'missing'; readonly text: string }
  /** WordPress does not answer, so the outcome is unknown. */
  | { readonly kind: 'unverified'; readonly text: string };

/**
 * Verifies by a signed call that WordPress runs the connector from where it was installed. The caller must not hold the
 * lock of the configuration, since WordPress may be slow.
 */
export async function verifyLocation(
  dataDir: string,
  id: SiteId,
  location: InstalledLocation,
): Promise<LocationOutcome> {
  const { wordpressDir, muPluginsDir } = location;
  const called = await callConnector(dataDir, id);
  const reportedDir = location.reported?.muPluginsDir ?? null;
  const verdict = judgeLocation({ wordpressDir, muPluginsDir, reported: reportedDir, response: called.response });
  const advice = called.shared === null ? '' : ` ${sharedAdvice(called.shared)}`;
  const check = `security-optimizer doctor ${id} --data-dir ${dataDir}`;
  const byHand = `The operator puts its key in place: \`attach --print --site ${id}\` shows it, and where it may be.`;
  switch (verdict.kind) {
    case 'confirmed':
      return verdict;
    case 'wrong':
      return { kind: 'wrong', text: describeWrongLocation(muPluginsDir, verdict.folder) };
    case 'missing': {
      if (location.key === 'external') {
        return { kind: 'unverified', text: `WordPress does not run with the key of the site ${id} yet. ${byHand}` };
      }
      const where =
        reportedDir === null
          ? `The connector is in ${muPluginsDir}; if WordPress loads its must-use plugins from another folder, attach it again with --mu-plugins and that folder.`
          : `The connector is in ${muPluginsDir}, from where WordPress loads its must-use plugins: check that --upstream and --host lead to this WordPress.`;
      const key = location.key === 'by-path' ? ` ${KEY_ADVICE}` : '';
      return { kind: 'missing', text: `${called.detail} ${where}${key} To look again: ${check}${advice}` };
    }
    case 'unverified': {
      const key = location.key === 'external' ? ` ${byHand}` : '';
      const text = `It is not verified that WordPress runs the connector from ${muPluginsDir}: ${called.detail} When WordPress runs: ${check}${key}${advice}`;
      // A site that refuses requests because its shared connector is missing answers 503.
      const isClosed = called.shared !== null && / 503\b/.test(called.detail);
      return { kind: isClosed ? 'missing' : 'unverified', text };
    }
  }
}

/** One line for the sites whose WordPress did not answer. */
export function toUnverifiedText(sites: readonly SiteId[]): string {
  return `Not verified, because WordPress does not answer: ${sites.join(', ')}. When it runs, look with \`security-optimizer status\`.\n`;
}

/** Text that names both folders and the option to use. */
export function describeWrongLocation(muPluginsDir: string, folder: string): string {
  return lineText(
    `WordPress loads its must-use plugins from ${folder}, and not from ${muPluginsDir}. Attach it with --mu-plugins ${folder}.`,
  );
}

/**
 * The facts that WordPress last reported about a site that was attached without a host name. They name the site among
 * others on the same web server. Null for any other site, and while nothing is stored.
 */
export async function readStoredFacts(
  { database: url, dataDir }: Pick<Config, 'database' | 'dataDir'>,
  site: SiteConfig,
): Promise<SiteFacts | null> {
  if (toNamedHost(site.hosts) !== null) return null;
  try {
    const db = await openDatabaseReadOnly({ url, dataDir, logger: silentLogger(), migrations });
    if (db === null) return null;
    try {
      return (await createSiteFactsStore(db).read(site.id)).facts;
    } finally {
      await db.destroy();
    }
  } catch (error) {
    // The site can be called without them, as at the first time.
    if (error instanceof StorageError) return null;
    throw error;
  }
}

interface Called {
  readonly response: LocationResponse;
  /** Why there was no signed response; empty when there was one. */
  readonly detail: string;
  /** Folder with the releases that sites share, or null. */
  readonly shared: string | null;
}

async function callConnector(dataDir: string, id: SiteId): Promise<Called> {
  const config = await loadConfig({ dataDir, site: id }).catch((error: unknown) => {
    if (error instanceof ConfigError) return error;
    throw error;
  });
  if (config instanceof ConfigError)
    return { response: { kind: 'none' }, detail: `${config.mistakes.join('; ')}.`, shared: null };
  const site = config.sites.find((each) => each.id === id);
  if (site === undefined) return { response: { kind: 'none' }, detail: 'The site is not served.', shared: null };
  const shared = site.sharedConnector ?? null;
  const facts = await readStoredFacts(config, site);
  const client = createConnectorClient({ clock: systemClock, facts: () => facts, responseTimeoutMs: RESPONSE_MS });
  try {
    for (let last = false; ; last = true) {
      try {
        const { folders } = await client.hello(site);
        return { response: { kind: 'signed', folders }, detail: '', shared };
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error;
        if (error.fault.kind === 'other_secret' && !last) {
          await sleep(CACHED_KEY_MS);
          continue;
        }
        const { fault } = error;
        if (fault.kind === 'missing' && fault.notSetUp) {
          return { response: { kind: 'none' }, detail: 'WordPress is not set up yet.', shared };
        }
        const kind = fault.kind === 'unreachable' ? 'none' : 'without-connector';
        return { response: { kind }, detail: error.detail, shared };
      }
    }
  } finally {
    client.close();
  }
}

/**
 * Removes the connector and its key from folders of the same WordPress in which it was installed before and from which
 * WordPress does not load it. Where other sites run it from the same folder, only the key is removed.
 *
 * @throws SiteFilesError
 */
export async function removeMisplaced(dataDir: string, id: SiteId, location: Release): Promise<readonly string[]> {
  return updateConfig(dataDir, async (config) => {
    const others = listSiteFolders(config).filter((each) => each.id !== id);
    const misplaced = (await readReleases(dataDir, id)).filter(
      (release) => release.wordpressDir === location.wordpressDir && release.muPluginsDir !== location.muPluginsDir,
    );
    const removed: string[] = [];
    for (const release of misplaced) {
      await removeFromRelease(dataDir, id, release, { others });
      await forgetRelease(dataDir, id, release);
      removed.push(release.muPluginsDir);
    }
    return removed;
  });
}

/** Host and path of a page of the site, for configurations that depend on them. */
export function toPage({ hosts, home }: { readonly hosts: readonly string[]; readonly home: string }): {
  readonly host: string;
  readonly path: string;
} {
  return { host: toNamedHost(hosts) ?? 'localhost', path: `${home}/` };
}
