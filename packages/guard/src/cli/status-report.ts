import { once } from 'node:events';
import { request } from 'node:http';
import { resolve } from 'node:path';
import type { Config } from '../config.js';
import { authorityOf } from '../lib/authority.js';
import { systemClock } from '../lib/clock.js';
import { silentLogger } from '../lib/logger.js';
import { version } from '../lib/version.js';
import { connectorPolicy } from '../settings/connector-policy.js';
import { fetchSiteSettings, settingsInForce } from '../settings/site-settings.js';
import type { SiteConfig, SiteFacts } from '../site.js';
import { readActivityStatus } from '../storage/activity/activity-status.js';
import { sqlBlockedVisitorsStore } from '../storage/blocked-visitors-store.js';
import { isDataDirInUse, runningGuard } from '../storage/data-dir-lock.js';
import { type Database, openDatabase } from '../storage/database.js';
import { sqlSettingsStore } from '../storage/settings-store.js';
import { sqlSiteFactsStore } from '../storage/site-facts-store.js';
import { sqlSlowUsersStore } from '../storage/slow-users-store.js';
import { StorageError } from '../storage/storage-error.js';
import type { HelloAnswer } from '../wordpress/connector-answers.js';
import { connectorClient } from '../wordpress/connector-client.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import { policyHash } from '../wordpress/signature.js';

const DAY_SECONDS = 24 * 3600;

/** How one site stands. */
export interface SiteStatus {
  readonly id: string;
  readonly hosts: readonly string[];
  readonly upstream: string;
  /** Whether WordPress's web server answers. */
  readonly wordpress: 'reachable' | 'unreachable';
  readonly connector: 'ok' | 'version_differs' | 'missing' | 'other_secret' | 'unknown';
  readonly connectorVersion: string | null;
  /** Whether WordPress runs the policy that is stored; null when that can't be known. */
  readonly policyInSync: boolean | null;
  /** When guard last had to write its key into this WordPress again, as ISO 8601 text. */
  readonly keyRestoredAt: string | null;
  /** Until when everything is off (`security-optimizer pause`), as ISO 8601 text; null when nothing is paused. */
  readonly pausedUntil: string | null;
  /** Visits of the last 24 hours that the Activity Log did not record; null when that can't be known. */
  readonly droppedVisits: number | null;
}

export interface StatusReport {
  readonly version: string;
  readonly dataDir: string;
  readonly guard: {
    readonly running: boolean;
    readonly pid: number | null;
    readonly answers: boolean;
    readonly listen: string;
  };
  readonly storage: { readonly ok: boolean; readonly detail: string | null };
  /** The database of the Activity Log. */
  readonly activity: { readonly ok: boolean; readonly detail: string | null; readonly bytes: number };
  readonly sites: readonly SiteStatus[];
  /** One sentence each; empty when all is well. */
  readonly problems: readonly string[];
}

/** Looks at every part from outside, whether guard runs or not. */
export async function statusReport(config: Config): Promise<StatusReport> {
  const problems: string[] = [];
  const running = isDataDirInUse(config.dataDir);
  const guard = {
    running,
    pid: running ? await runningGuard(config.dataDir) : null,
    answers: running && (await guardAnswers(config)),
    listen: authorityOf(config.listen),
  };
  if (!running) problems.push('Guard is not running. Start it with `security-optimizer serve`.');
  else if (!guard.answers) problems.push(`Guard is running, but does not answer on ${guard.listen}.`);

  let db: Database | null = null;
  let detail: string | null = null;
  try {
    db = await openDatabase({ url: config.database, dataDir: resolve(config.dataDir), logger: silentLogger() });
  } catch (error) {
    detail = error instanceof StorageError ? `${error.fault}: ${error.detail}` : String(error);
    problems.push(`The database can’t be used (${detail}).`);
  }
  const ids = config.sites.map(({ id }) => id);
  const { dropped, ...activity } = await readActivityStatus(config.dataDir, ids, systemClock() / 1000 - DAY_SECONDS);
  if (!activity.ok) problems.push(`The database of the Activity Log can’t be used (${activity.detail}).`);
  try {
    const sites = [];
    for (const site of config.sites) {
      const droppedVisits = activity.ok ? (dropped.get(site.id) ?? 0) : null;
      sites.push({ ...(await siteStatus(site, db, problems)), droppedVisits });
    }
    const storage = { ok: db !== null, detail };
    return { version, dataDir: config.dataDir, guard, storage, activity, sites, problems };
  } finally {
    await db?.destroy();
  }
}

async function siteStatus(
  site: SiteConfig,
  db: Database | null,
  problems: string[],
): Promise<Omit<SiteStatus, 'droppedVisits'>> {
  const remembered = db ? await sqlSiteFactsStore(db).read(site.id) : { facts: null, keyRestoredAt: null };
  const settings = db ? await fetchSiteSettings(sqlSettingsStore(db), site.id) : null;
  const slow = db ? await sqlSlowUsersStore(db).read(site.id) : [];
  const outcome = await askConnector(site, remembered.facts);
  const problem = (text: string) => problems.push(`Site ${site.id}: ${text}`);
  let connector: SiteStatus['connector'] = 'unknown';
  let policyInSync: boolean | null = null;
  if (outcome instanceof ConnectorError) {
    if (outcome.fault.kind !== 'unreachable') connector = outcome.fault.kind;
    problem(outcome.detail);
  } else {
    connector = outcome.connector === version ? 'ok' : 'version_differs';
    if (connector === 'version_differs') {
      problem(`The connector plugin has version ${outcome.connector}, guard ${version}. Attach the site again.`);
    }
    if (settings) {
      const users = db && settings.pausedUntil <= systemClock() ? await sqlBlockedVisitorsStore(db).users(site.id) : [];
      policyInSync =
        outcome.policy === policyHash(connectorPolicy(settingsInForce(settings, systemClock()), slow, users));
      if (!policyInSync) problem('WordPress does not run the stored policy yet. A running guard pushes it by itself.');
    }
  }
  const { keyRestoredAt } = remembered;
  const pausedUntil =
    settings !== null && settings.pausedUntil > systemClock() ? new Date(settings.pausedUntil).toISOString() : null;
  if (pausedUntil !== null) {
    problem(`Everything is paused until ${pausedUntil}. End it with \`security-optimizer resume\`.`);
  }
  return {
    id: site.id,
    hosts: site.hosts,
    upstream: site.upstream,
    wordpress: outcome instanceof ConnectorError && outcome.fault.kind === 'unreachable' ? 'unreachable' : 'reachable',
    connector,
    connectorVersion: outcome instanceof ConnectorError ? null : outcome.connector,
    policyInSync,
    keyRestoredAt: keyRestoredAt === null ? null : new Date(keyRestoredAt).toISOString(),
    pausedUntil,
  };
}

async function askConnector(site: SiteConfig, facts: SiteFacts | null): Promise<HelloAnswer | ConnectorError> {
  const client = connectorClient({ clock: systemClock, facts: () => facts });
  try {
    return await client.hello(site);
  } catch (error) {
    if (error instanceof ConnectorError) return error;
    throw error;
  } finally {
    client.close();
  }
}

/** Guard refuses a call of its API without a session by itself, so this starts no PHP. */
async function guardAnswers({ listen, sites }: Config): Promise<boolean> {
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[listen.host] ?? listen.host;
  const authority = authorityOf({ host, port: listen.port });
  const name = sites[0]?.hosts.find((entry) => entry !== '*') ?? authority;
  try {
    const asked = request(`http://${authority}/?rest_route=/security-optimizer/v1/fetch-options`, {
      method: 'POST',
      headers: { host: name },
      signal: AbortSignal.timeout(5000),
    });
    await once(asked.end(), 'response');
    asked.destroy();
    return true;
  } catch {
    return false;
  }
}
