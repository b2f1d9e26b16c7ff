import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { readActivityStatus, sqlBlocklistStore } from '../activity/index.js';
import type { Config } from '../config/config.js';
import { loadConfig } from '../config/load-config.js';
import { systemClock } from '../lib/clock.js';
import { silentLogger } from '../lib/logger.js';
import { terminalText } from '../lib/plain-text.js';
import { printSocketAddress } from '../lib/socket-address.js';
import { toKnownTimeZone } from '../lib/time-zone.js';
import { includesEverybody } from '../lib/typed-ranges.js';
import { version } from '../lib/version.js';
import { sqlThrottledAccountsStore } from '../login/index.js';
import { migrations } from '../migrations.js';
import { toConnectorPolicy } from '../settings/connector-policy.js';
import { createSettingsStore } from '../settings/settings-store.js';
import { defaultSiteSettings, getEffectiveSettings, readSiteSettings } from '../settings/site-settings.js';
import type { QuarantinedSite, SiteConfig, SiteFacts, SiteId } from '../site.js';
import { createSiteFactsStore } from '../sites/site-facts-store.js';
import { isDataDirInUse, readGuardPid, runningSites } from '../storage/data-dir-lock.js';
import { type Database, openDatabaseReadOnly } from '../storage/database.js';
import { StorageError } from '../storage/storage-error.js';
import { createConnectorClient } from '../wordpress/connector-client.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import type { HelloResponse } from '../wordpress/connector-responses.js';
import { missingTraffic, readGuardedTraffic } from '../wordpress/guarded-traffic.js';
import { hashPolicy } from '../wordpress/signature.js';
import { toNamedHost } from '../wordpress/site-origin.js';
import { type Command, readOptions, required, UsageError } from './command.js';
import { describeRedirectLoop, findRedirectLoop } from './redirect-loop.js';
import { findNewRelease } from './releases.js';
import { toUpstreamServerWarnings, type UpstreamServer } from './upstream-server.js';
import { inspectUpstreamServer, toLocalServer } from './upstream-server-visits.js';

/** Number of sites queried at the same time. Each query starts a WordPress. */
const SITES_AT_ONCE = 32;
/** How long WordPress may take to answer, milliseconds. */
const RESPONSE_TIMEOUT_MS = 10_000;

export const statusCommand: Command = {
  name: 'status',
  summary: 'Show the state of guard, its database, WordPress and the connector.',
  help: `security-optimizer status --data-dir DIR [--site ID | --host NAME] [--problems] [--json]

  --data-dir DIR   guard's data folder
  --site ID        only this site; repeatable
  --host NAME      only sites whose hosts contain this text
  --problems       only sites that have a problem
  --json           one JSON object instead of text

Asks ${SITES_AT_ONCE} sites at a time. An unreachable one takes ${RESPONSE_TIMEOUT_MS / 1000} seconds at most. Of up to ${SITES_AT_ONCE} sites each is also
asked, as by a visitor, for pages that are for the machine alone and, without guard's signature, for the first page; of
more, one for each web server.

Exit code 0: all is well. 1: there are problems. That direct requests are allowed is said, and is no problem.`,
  async run(args) {
    const values = readOptions(args, {
      'data-dir': { type: 'string' },
      site: { type: 'string', multiple: true },
      host: { type: 'string' },
      problems: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    });
    const config = await loadConfig({ dataDir: resolve(required('data-dir', values['data-dir'])) });
    const full = await statusReport(config, chooseSites(config, values));
    const report = values.problems ? onlyProblems(full) : full;
    process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : terminalText(statusText(report)));
    return report.problems.length === 0 ? 0 : 1;
  },
};

/**
 * Returns the filter for the requested ids and host.
 * @throws UsageError for an id that no site has
 */
function chooseSites(
  { sites, quarantined }: Config,
  { site: ids, host }: { readonly site?: readonly string[]; readonly host?: string },
): (site: Pick<SiteConfig, 'id' | 'hosts'>) => boolean {
  const known = new Set([...sites, ...quarantined].map(({ id }) => id));
  const unknown = ids?.find((id) => !known.has(id));
  if (unknown !== undefined) throw new UsageError(`--site: no site has the id ${unknown}.`);
  const wanted = host?.toLowerCase() ?? '';
  return ({ id, hosts }) => (ids === undefined || ids.includes(id)) && hosts.some((name) => name.includes(wanted));
}

/** The report without the sites that have no problem. */
function onlyProblems(report: StatusReport): StatusReport {
  const has = (id: string) => report.problems.some((text) => text.startsWith(`Site ${id}: `));
  return { ...report, sites: report.sites.filter(({ id }) => has(id)), warnings: [] };
}

const connectorLabels: Readonly<Record<SiteStatus['connector'], string>> = {
  ok: 'answers',
  version_differs: 'answers, but has another version',
  missing: 'is missing in WordPress; what only WordPress can enforce is not enforced',
  other_secret: 'has another secret; what only WordPress can enforce is not enforced',
  redirected: 'not known, because the web server behind guard redirects guard’s commands',
  unknown: 'not known, because WordPress does not answer',
};

/** The report as text for a terminal. */
export function statusText(report: StatusReport): string {
  const { version, dataDir, guard, storage, activity, sites, quarantined, warnings, problems } = report;
  const lines = [
    `Security Optimizer ${version}, data folder ${dataDir}`,
    `Guard:     ${guard.running ? `running${guard.pid === null ? '' : ` (process ${guard.pid})`}, ${guard.answers ? 'answers' : 'does not answer'} on ${guard.listen}` : 'not running'}`,
    `Database:  ${storage.detail ?? 'ready'}`,
    `Activity:  ${activity.ok ? `ready, ${megabytes(activity.bytes)}` : activity.detail}`,
  ];
  for (const site of sites) {
    lines.push(
      '',
      `Site ${site.id} (${site.hosts.join(', ')})`,
      `  WordPress: ${site.wordpress} at ${site.upstream}`,
      `  Connector: ${connectorLabels[site.connector]}${site.connectorVersion === null ? '' : ` (version ${site.connectorVersion})`}`,
      `  Policy:    ${site.policyInSync === null ? 'not known' : site.policyInSync ? 'in force' : 'not yet in force inside WordPress'}`,
    );
    lines.push(`  Direct requests: ${site.directRequests}`);
    if (site.visitors !== null) {
      lines.push(
        `  Visitors:  the web server behind sees ${site.visitors === 'seen' ? 'each one’s address' : 'guard in their place'}`,
      );
    }
    if (site.keyRestoredAt !== null) {
      lines.push(
        `  Key:       written into WordPress again at ${site.keyRestoredAt}, because the connector had another one`,
      );
    }
    if (site.droppedVisits !== null && site.droppedVisits > 0) {
      const count = site.droppedVisits.toLocaleString('en');
      lines.push(`  Activity:  ${count} visits of the last 24 hours were not recorded; they came too fast`);
    }
    if (site.pausedUntil !== null) lines.push(`  Paused:    everything is off until ${site.pausedUntil}`);
  }
  for (const { id, hosts, reason } of quarantined) {
    lines.push('', `Site ${id} (${hosts.join(', ')})`, `  Quarantined: ${reason}`);
  }
  if (warnings.length > 0) lines.push('', 'Do not forget:', ...warnings.map((text) => `  ${text}`));
  lines.push('', problems.length === 0 ? 'All is well.' : 'Problems:', ...problems.map((text) => `  ${text}`), '');
  return lines.join('\n');
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

const DAY_SECONDS = 24 * 3600;

/** State of one site. */
export interface SiteStatus {
  readonly id: string;
  readonly hosts: readonly string[];
  readonly upstream: string;
  /** Whether WordPress's web server answers. */
  readonly wordpress: 'reachable' | 'unreachable';
  readonly connector: 'ok' | 'version_differs' | 'missing' | 'other_secret' | 'redirected' | 'unknown';
  readonly connectorVersion: string | null;
  /** Why the connector does not carry out commands, as a sentence; null when it does. */
  readonly connectorFault: string | null;
  /** Public address of the site, as WordPress last reported it; null when it never did. */
  readonly homeUrl: string | null;
  /** Address of the first page, when the upstream web server redirects visitors from it to itself; else null. */
  readonly redirectLoop: string | null;
  /** Whether WordPress enforces the stored policy; null when it is not known. */
  readonly policyInSync: boolean | null;
  /** When guard last wrote its key into this WordPress again, as ISO 8601 text. */
  readonly keyRestoredAt: string | null;
  /**
   * Until when all protections are paused (`security-optimizer pause`), as ISO 8601 text; null when nothing is paused.
   */
  readonly pausedUntil: string | null;
  /**
   * The site's time zone when guard's table lacks it or has other rules for it, so that the site's clock is used; else
   * null.
   */
  readonly unknownTimeZone: string | null;
  /** Whether WordPress answers requests that did not come through guard. */
  readonly directRequests: 'allowed' | 'refused';
  /** Whether the upstream web server sees each visitor's address or guard's; null when it is not known. */
  readonly visitors: 'seen' | 'hidden' | null;
  /** Pages for the machine alone that every visitor can read. */
  readonly openPages: UpstreamServer['openPages'];
  /**
   * Host and port where a page cache answers direct requests of other machines, although WordPress refuses them; else
   * null.
   */
  readonly cachePastGuard: UpstreamServer['cachePastGuard'];
  /** Visits of the last 24 hours that the Activity Log did not record; null when it is not known. */
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
  /** `detail`: why the database can't be used, or that it does not exist yet. */
  readonly storage: { readonly ok: boolean; readonly detail: string | null };
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
  const warnings: string[] = [];
  const running = isDataDirInUse(config.dataDir);
  const guard = {
    running,
    pid: running ? await readGuardPid(config.dataDir) : null,
    answers: running && (await guardResponds(config)),
    listen: printSocketAddress(config.listen),
  };
  if (!running) problems.push('Guard is not running. Start it with `security-optimizer serve`.');
  else if (!guard.answers) problems.push(`Guard is running, but does not answer on ${guard.listen}.`);
  const inUse = running ? await runningSites(config.dataDir) : null;
  const wanted = config.sites.filter(isWanted);
  for (const { id } of inUse === null ? [] : wanted) {
    if (!inUse?.served.includes(id)) {
      problems.push(
        `Site ${id}: The running guard does not serve it. Have it read the configuration again (SIGHUP), or start it again.`,
      );
    }
  }
  const quarantined = config.quarantined.filter(isWanted);
  for (const { id, reason } of quarantined) {
    problems.push(`Site ${id}: Visitors get 503. ${reason}. Then have guard read the configuration again (SIGHUP).`);
  }
  if (config.sites.length + config.quarantined.length === 0) {
    problems.push('No site is attached. `security-optimizer attach` adds one.');
  }

  let db: Database | null = null;
  let detail: string | null = null;
  let failed = false;
  try {
    const dataDir = resolve(config.dataDir);
    db = await openDatabaseReadOnly({ url: config.database, dataDir, logger: silentLogger(), migrations });
    if (db === null) detail = 'none yet; guard makes it when it starts';
  } catch (error) {
    failed = true;
    detail = error instanceof StorageError ? `${error.fault}: ${error.detail}` : String(error);
    problems.push(`The database can’t be used (${detail}).`);
  }
  if ([config, ...wanted].some(({ trustedProxies }) => includesEverybody(trustedProxies ?? []))) {
    warnings.push(
      'A range in trustedProxies means everybody, so each visitor can choose an address. Name your proxies.',
    );
  }
  const ids = wanted.map(({ id }) => id);
  const { dropped, ...activity } = await readActivityStatus(config.dataDir, ids, systemClock() / 1000 - DAY_SECONDS);
  if (!activity.ok) problems.push(`The database of the Activity Log can’t be used (${activity.detail}).`);
  try {
    const server = guard.answers && !config.proxyProtocol ? toLocalServer(config.listen) : null;
    const probed = new Set<string>();
    const examine = async (site: SiteConfig) => {
      const found: string[] = [];
      const withPages = wanted.length <= SITES_AT_ONCE || !probed.has(site.upstream);
      probed.add(site.upstream);
      const droppedVisits = activity.ok ? (dropped.get(site.id) ?? 0) : null;
      const warned = site.requireGuard
        ? []
        : [
            `direct requests are allowed, so visitors can go past guard. ${await requireGuardNext(config.dataDir, site.id)}`,
          ];
      const status = await siteStatus(site, config.consent, failed ? 'unusable' : db, found);
      const isResponding = status.connector === 'ok' || status.connector === 'version_differs';
      const upstream: UpstreamServer =
        isResponding && status.homeUrl !== null
          ? await inspectUpstreamServer(site, new URL(status.homeUrl), { guard: server, withPages, now: systemClock })
          : { isAddressSeen: null, openPages: [], cachePastGuard: null };
      if (status.unknownTimeZone !== null) {
        warned.push(
          `guard’s table of time zones lacks ${status.unknownTimeZone}, or has other rules for it, so guard goes by the site’s own clock. Update Node.js.`,
        );
      }
      const { isAddressSeen, openPages, cachePastGuard } = upstream;
      const visitors = isAddressSeen === null ? null : isAddressSeen ? ('seen' as const) : ('hidden' as const);
      warned.push(...toUpstreamServerWarnings(upstream, site.upstream));
      const release = site.wordpressDir && (await findNewRelease(config.dataDir, site.id, site.wordpressDir));
      if (release) found.push(`Site ${site.id}: ${release}`);
      const lines = warned.map((text) => `Site ${site.id}: ${text}`);
      return { site: { ...status, visitors, openPages, cachePastGuard, droppedVisits }, found, warned: lines };
    };
    const statuses = await mapBounded(wanted, SITES_AT_ONCE, examine);
    const sites = statuses.map(({ site }) => site);
    problems.push(...statuses.flatMap(({ found }) => found));
    warnings.push(...statuses.flatMap(({ warned }) => warned));
    const storage = { ok: !failed, detail };
    return { version, dataDir: config.dataDir, guard, storage, activity, sites, quarantined, warnings, problems };
  } finally {
    await db?.destroy();
  }
}

/** Maps items with a bounded number of calls at a time. The results have the order of the items. */
async function mapBounded<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  const rest = items.entries();
  const work = async () => {
    for (const [at, item] of rest) results[at] = await map(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

async function siteStatus(
  site: SiteConfig,
  consent: Config['consent'],
  found: Database | null | 'unusable',
  problems: string[],
): Promise<Omit<SiteStatus, 'visitors' | 'openPages' | 'cachePastGuard' | 'droppedVisits'>> {
  const db = found === 'unusable' ? null : found;
  const remembered = db ? await createSiteFactsStore(db).read(site.id) : { facts: null, keyRestoredAt: null };
  // Before the first start all settings have their defaults.
  const assumed = found === 'unusable' ? null : defaultSiteSettings;
  const settings = db ? await readSiteSettings(createSettingsStore(db), site.id) : assumed;
  const slow = db ? await sqlThrottledAccountsStore(db).read(site.id) : [];
  const outcome = await queryConnector(site, remembered.facts);
  const problem = (text: string) => problems.push(`Site ${site.id}: ${text}`);
  let connector: SiteStatus['connector'] = 'unknown';
  let policyInSync: boolean | null = null;
  if (outcome instanceof ConnectorError) {
    const { fault } = outcome;
    if (fault.kind !== 'unreachable') connector = fault.kind;
    else if (fault.redirect !== undefined) connector = 'redirected';
    problem(outcome.detail);
  } else {
    connector = outcome.connector === version ? 'ok' : 'version_differs';
    if (connector === 'version_differs') {
      problem(`The connector plugin has version ${outcome.connector}, guard ${version}. Attach the site again.`);
    }
    if (settings) {
      const users = db && settings.pausedUntil <= systemClock() ? await sqlBlocklistStore(db).users(site.id) : [];
      policyInSync =
        outcome.policy ===
        hashPolicy(toConnectorPolicy(getEffectiveSettings(settings, systemClock()), consent, slow, users));
      if (!policyInSync) problem('WordPress does not run the stored policy yet. A running guard pushes it by itself.');
    }
  }
  const homeUrl = outcome instanceof ConnectorError ? (remembered.facts?.homeUrl ?? null) : outcome.home;
  const redirectLoop = homeUrl === null || connector === 'unknown' ? null : await findRedirectLoop(site, homeUrl);
  const loop = redirectLoop && describeRedirectLoop(redirectLoop);
  if (loop) problem(`${loop.message} ${loop.advice}`);
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
    wordpress: connector === 'unknown' ? 'unreachable' : 'reachable',
    connector,
    connectorVersion: outcome instanceof ConnectorError ? null : outcome.connector,
    connectorFault: outcome instanceof ConnectorError ? outcome.detail : null,
    homeUrl,
    redirectLoop,
    policyInSync,
    keyRestoredAt: keyRestoredAt === null ? null : new Date(keyRestoredAt).toISOString(),
    pausedUntil,
    unknownTimeZone: outcome instanceof ConnectorError ? null : findUnknownTimeZone(outcome),
    directRequests: site.requireGuard ? 'refused' : 'allowed',
  };
}

/** What to do next for a site that does not require guard yet, in one or two sentences. */
export async function requireGuardNext(dataDir: string, site: SiteId): Promise<string> {
  const missing = missingTraffic(await readGuardedTraffic(dataDir, site), systemClock());
  return missing === null
    ? 'They come through guard now: run `security-optimizer attach` with --require-guard.'
    : `${missing} Run \`security-optimizer attach\` with --require-guard when they come through guard.`;
}

async function queryConnector(site: SiteConfig, facts: SiteFacts | null): Promise<HelloResponse | ConnectorError> {
  const client = createConnectorClient({
    clock: systemClock,
    facts: () => facts,
    responseTimeoutMs: RESPONSE_TIMEOUT_MS,
  });
  try {
    return await client.hello(site);
  } catch (error) {
    if (error instanceof ConnectorError) return error;
    throw error;
  } finally {
    client.close();
  }
}

/** The site's time zone when guard's table lacks it or has other rules for it; else null. */
function findUnknownTimeZone({ timezone, clock }: HelloResponse): string | null {
  return clock === null || toKnownTimeZone(timezone, clock) === timezone ? null : timezone;
}

/** Guard itself refuses an API request without a session, so this starts no PHP. */
async function guardResponds({ listen, sites, proxyProtocol }: Config): Promise<boolean> {
  const name = toNamedHost(sites[0]?.hosts ?? []) ?? 'localhost';
  const server = toLocalServer(listen);
  if (proxyProtocol) return reactsToProxy(server);
  try {
    const outgoing = request({
      ...('path' in server ? { socketPath: server.path } : server),
      path: '/?rest_route=/security-optimizer/v1/fetch-options',
      method: 'POST',
      headers: { host: name },
      signal: AbortSignal.timeout(5000),
    });
    await once(outgoing.end(), 'response');
    outgoing.destroy();
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a guard that expects a PROXY header responds, or closes the connection because this machine is not a trusted
 * proxy. Both show that it runs.
 */
async function reactsToProxy(server: { path: string } | { host: string; port: number }): Promise<boolean> {
  const socket = connect(server);
  const timeout = setTimeout(() => socket.destroy(new Error('no reaction')), 5000);
  try {
    await once(socket, 'connect');
    socket.write('PROXY UNKNOWN\r\nGET /?rest_route=/security-optimizer/v1/fetch-options HTTP/1.0\r\n\r\n');
    for await (const _ of socket) break;
    return true;
  } catch (error) {
    // The connection was closed before or after the bytes were written.
    return /^(?:ECONNRESET|EPIPE)$/.test((error as NodeJS.ErrnoException).code ?? '');
  } finally {
    clearTimeout(timeout);
    socket.destroy();
  }
}
