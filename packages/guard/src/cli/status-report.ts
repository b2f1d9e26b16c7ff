import { resolve } from 'node:path';
import { readActivityStatus } from '../activity/index.js';
import type { Config } from '../config/config.js';
import { describeDatabase } from '../config/database-url.js';
import { systemClock } from '../lib/clock.js';
import { silentLogger } from '../lib/logger.js';
import { printSocketAddress } from '../lib/socket-address.js';
import { includesEverybody } from '../lib/typed-ranges.js';
import { version } from '../lib/version.js';
import { migrations } from '../migrations.js';
import type { QuarantinedSite, SiteConfig, SiteId } from '../site.js';
import { isDataDirInUse, readGuardPid, runningSites } from '../storage/data-dir-lock.js';
import { type Database, openDatabaseReadOnly } from '../storage/database.js';
import { StorageError } from '../storage/storage-error.js';
import { findConnectorSources, readConnector } from './connector-files.js';
import { examineSites, SITES_AT_ONCE } from './examine-sites.js';
import { guardAnswers } from './guard-response.js';
import { findOtherDatabase } from './other-database.js';
import { findSharedFault } from './shared-connector.js';
import { examineSiteStatus, type SiteStatus } from './status-site.js';
import { readStoredStates } from './stored-state.js';
import { toLocalServer } from './upstream-server-visits.js';

const DAY_SECONDS = 24 * 3600;

export interface StatusReport {
  readonly version: string;
  readonly dataDir: string;
  readonly guard: {
    readonly running: boolean;
    readonly pid: number | null;
    readonly answers: boolean;
    readonly listen: string;
  };
  /**
   * `database`: its URL without a password. `detail`: why it can't be used, or that it does not exist yet.
   */
  readonly storage: { readonly ok: boolean; readonly database: string; readonly detail: string | null };
  /** The database of the Activity Log. */
  readonly activity: { readonly ok: boolean; readonly detail: string | null; readonly bytes: number };
  readonly sites: readonly SiteStatus[];
  /** Sites that can't be served, and why. */
  readonly quarantined: readonly QuarantinedSite[];
  /** One sentence each: intended states that the operator should not forget. They are not problems. */
  readonly warnings: readonly string[];
  /** One sentence each; empty when there are none. */
  readonly problems: readonly string[];
}

/** Examines every part from outside, whether guard runs or not. Changes nothing and creates no file. */
export async function statusReport(
  config: Config,
  isWanted: (site: Pick<SiteConfig, 'id' | 'hosts'>) => boolean = () => true,
): Promise<StatusReport> {
  const problems: string[] = [];
  const running = isDataDirInUse(config.dataDir);
  const guard = {
    running,
    pid: running ? await readGuardPid(config.dataDir) : null,
    answers: running && (await guardAnswers(config)),
    listen: printSocketAddress(config.listen),
  };
  if (!running) problems.push('Guard is not running. Start it with `security-optimizer serve`.');
  else if (!guard.answers) problems.push(`Guard is running, but does not answer on ${guard.listen}.`);
  const wanted = config.sites.filter(isWanted);
  const quarantined = config.quarantined.filter(isWanted);
  const served = running ? await readServed(config.dataDir) : null;
  if (served !== null) problems.push(...listUnserved(served, wanted));
  for (const { id, reason } of quarantined) {
    const now = served?.has(id)
      ? 'Guard serves it by its last valid configuration; after a restart visitors'
      : 'Visitors';
    problems.push(`Site ${id}: ${now} get 503. ${reason}. Then have guard read the configuration again (SIGHUP).`);
  }
  if (config.sites.length + config.quarantined.length === 0) {
    problems.push('No site is attached. `security-optimizer attach` adds one.');
  }
  problems.push(...(await findSharedFaults(wanted)));

  const other = await findOtherDatabase(config);
  if (other !== null) problems.push(other);
  const { db, detail } = await openDatabase(config);
  if (db === 'unusable') problems.push(`The database can’t be used (${detail}).`);
  const warnings = [config, ...wanted].some(({ trustedProxies }) => includesEverybody(trustedProxies ?? []))
    ? ['A range in trustedProxies means everybody, so each visitor can choose an address. Name your proxies.']
    : [];
  const ids = wanted.map(({ id }) => id);
  try {
    const server = guard.answers && !config.proxyProtocol ? toLocalServer(config.listen) : null;
    const toStored = await readStoredStates(db, ids);
    const probed = new Set<string>();
    const [{ dropped, ...activity }, examined] = await Promise.all([
      readActivityStatus(config.dataDir, ids, systemClock() / 1000 - DAY_SECONDS),
      examineSites(
        wanted,
        () => performance.now(),
        (site, timeoutMs) => {
          const withPages = wanted.length <= SITES_AT_ONCE || !probed.has(site.upstream);
          probed.add(site.upstream);
          return examineSiteStatus(site, { config, stored: toStored(site.id), guard: server, withPages, timeoutMs });
        },
      ),
    ]);
    if (!activity.ok) problems.push(`The database of the Activity Log can’t be used (${activity.detail}).`);
    const sites: SiteStatus[] = examined.map(({ site }) => ({
      ...site,
      droppedVisits: activity.ok ? (dropped.get(site.id) ?? 0) : null,
    }));
    for (const { site, ...found } of examined) {
      problems.push(...found.problems.map((text) => `Site ${site.id}: ${text}`));
      warnings.push(...found.warnings.map((text) => `Site ${site.id}: ${text}`));
    }
    const storage = { ok: db !== 'unusable', database: describeDatabase(config.database), detail };
    return { version, dataDir: config.dataDir, guard, storage, activity, sites, quarantined, warnings, problems };
  } finally {
    if (db !== 'unusable') await db?.destroy();
  }
}

/** The sites that the running guard serves; null when it is not known. */
async function readServed(dataDir: string): Promise<ReadonlySet<SiteId> | null> {
  const inUse = await runningSites(dataDir);
  return inUse === null ? null : new Set(inUse.served);
}

/** Sites of the configuration that the running guard does not serve, one sentence each. */
function listUnserved(served: ReadonlySet<SiteId>, wanted: readonly SiteConfig[]): readonly string[] {
  return wanted
    .filter(({ id }) => !served.has(id))
    .map(
      ({ id }) =>
        `Site ${id}: The running guard does not serve it. Have it read the configuration again (SIGHUP), or start it again.`,
    );
}

/** Why sites must not run the connector from a folder that they share, one sentence for each folder. */
async function findSharedFaults(wanted: readonly SiteConfig[]): Promise<readonly string[]> {
  const folders = new Set(wanted.flatMap(({ sharedConnector }) => sharedConnector ?? []));
  const faults = await Promise.all([...folders].map(findReleaseFault));
  return faults
    .filter((fault) => fault !== null)
    .map((fault) => `Shared connector: ${fault} Until then sites should not run it: \`doctor\` has the remedy.`);
}

/** Checks the release of this version in a folder that sites share. */
export async function findReleaseFault(shared: string): Promise<string | null> {
  const { sharedRelease } = await readConnector(await findConnectorSources(), shared);
  return sharedRelease === null ? null : findSharedFault(sharedRelease);
}

/** @returns `detail`: why the database can't be used, or that it does not exist yet */
async function openDatabase(
  config: Config,
): Promise<{ readonly db: Database | null | 'unusable'; readonly detail: string | null }> {
  try {
    const dataDir = resolve(config.dataDir);
    const db = await openDatabaseReadOnly({ url: config.database, dataDir, logger: silentLogger(), migrations });
    return { db, detail: db === null ? 'none yet; guard makes it when it starts' : null };
  } catch (error) {
    const detail = error instanceof StorageError ? `${error.fault}: ${error.detail}` : String(error);
    return { db: 'unusable', detail };
  }
}
