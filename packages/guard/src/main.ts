import { setTimeout as pause } from 'node:timers/promises';
import { openSecurityLog, type PreloadedBlocks, preloadBlocks } from './activity/index.js';
import { createLazyApi } from './api/lazy-api.js';
import type { Config, LiveChange, LiveConfig } from './config/config.js';
import { type RunningFeatures, startFeatures } from './features.js';
import type { OpenClientsReport } from './gateway/open-clients.js';
import { createGateway, type Gateway } from './gateway/server.js';
import { createSiteHosts, type SiteHosts } from './gateway/site-hosts.js';
import { cataloguesFolder, createLanguages, type LanguageFor } from './i18n/languages.js';
import { isSameData } from './lib/collections.js';
import type { ListeningDescriptor } from './lib/listen.js';
import { createLogger, type Logger } from './lib/logger.js';
import { toServerUrl } from './lib/socket-address.js';
import { includesEverybody } from './lib/typed-ranges.js';
import { version } from './lib/version.js';
import type { Metrics } from './metrics/metrics.js';
import { openGuardDatabase } from './migrations.js';
import type { WorkerPool, WorkerServices } from './processes/worker-pool.js';
import { Cleanup, createServices, type Services } from './services.js';
import type { QuarantinedSite, SiteConfig, SiteId } from './site.js';
import { createSharedAssets } from './sites/shared-assets.js';
import { compareSites, keepValidEntries, type SiteList, withUnusableSettings } from './sites/site-list.js';
import { sqlCallNonces } from './storage/call-nonces.js';
import { type OpenStorage, openStorage, type StorageConnection } from './storage/open-storage.js';
import { StorageError } from './storage/storage-error.js';
import { createGuardedTraffic } from './wordpress/guarded-traffic.js';
import { createHostProbe } from './wordpress/host-probe.js';

/**
 * How long the start waits until WordPress enforces the current policy, milliseconds: it may be down, or have many
 * sites.
 */
const POLICY_WAIT_MS = 500;

/** How long the start waits for a database server that starts at the same time as guard, milliseconds. */
const DATABASE_WAIT_MS = 60_000;

/** Resources that a closing guard has not released yet. */
export interface OpenResources {
  /** Parts of guard: first the one that is being released, then the following ones. */
  readonly pending: readonly string[];
  readonly clients: OpenClientsReport;
  /** Requests that are queued for a connection to WordPress. */
  readonly waitingForWordPress: number;
}

export interface RunningGuard {
  /** Listening address, for example `http://127.0.0.1:8080` or `unix:/run/guard.sock`. */
  readonly url: string;
  /**
   * Serves the sites of a changed configuration, without an interruption for unchanged sites. All other keys take
   * effect at the next start.
   * @throws StorageError when the database can't be read; the served sites do not change then
   */
  reload(config: Config): Promise<AppliedChange>;
  /** The same as `reload`, for a configuration that was compared with `sites` already. */
  applyChange(change: LiveChange): Promise<AppliedChange>;
  /** The sites in force. */
  readonly sites: LiveConfig;
  /** Changes the log level of the other processes. */
  setLogLevel(level: string): void;
  /** Completes running requests, then releases all resources. */
  close(): Promise<void>;
  /** Resources that `close` has not released yet. */
  describeOpen(): OpenResources;
}

/** The outcome of a changed configuration. */
export interface AppliedChange {
  /** Sites that are served with their last valid entry, and the mistakes in the present one. */
  readonly kept: readonly QuarantinedSite[];
}

/**
 * Starts guard. It serves as soon as the settings are loaded, even while WordPress or its connector is down. It does
 * not start without its database: a stored setting must never be replaced by a default.
 *
 * @param options `storage`: the configured storage, if it is already open; `blocked`: the blocklist read from it;
 *   `socket`: a listening socket that a supervisor has opened, used instead of the configured address
 * @throws StorageError, DataDirInUse, or the system's error when guard can't listen on the address
 */
export async function startGuard(
  config: Config,
  options: {
    logger?: Logger;
    languages?: LanguageFor;
    storage?: OpenStorage;
    blocked?: PreloadedBlocks;
    socket?: ListeningDescriptor | undefined;
  } = {},
): Promise<RunningGuard> {
  const logger = options.logger ?? createLogger(config.logLevel);
  const languages = options.languages ?? createLanguages({ folder: cataloguesFolder, logger });
  const { lock, connection } = options.storage ?? (await openStorage(config, logger));
  const blocked = options.blocked ?? preloadBlocks(connection);
  const cleanup = new Cleanup();
  cleanup.add('lock of the data folder', () => lock.release());
  try {
    const { listen } = config.metrics;
    // Started first, so that it reports that guard is not ready yet, and stopped last, to report that it no longer is.
    const metrics = listen === null ? null : await (await import('./metrics/metrics.js')).serveMetrics(listen, logger);
    cleanup.add('metrics', () => metrics?.stop());
    const { database, dataDir } = config;
    const db = await openGuardDatabase({ url: database, dataDir, logger, connection, waitMs: DATABASE_WAIT_MS });
    cleanup.add('database', () => db.destroy());
    const services = await createServices({ config, logger, db, languages }, cleanup);
    const { siteList } = services;
    const served = { ...config, ...siteList.configuration };
    logConfigured(logger, served);
    const { url, applyChange, server, workers } = await serve(services, served, cleanup, {
      ...{ blocked, metrics, connection, socket: options.socket },
    });
    cleanup.add('readiness', () => metrics?.endReadiness());
    const { length: sites } = served.sites;
    const { length: quarantined } = served.quarantined;
    logger.info({ event: 'guard-started', url, version, sites, quarantined }, `Guard serves at ${url}.`);
    const describeOpen = () => ({
      pending: cleanup.pending,
      clients: server.openClients,
      waitingForWordPress: server.waiting,
    });
    return {
      url,
      applyChange,
      reload: async (next) => applyChange(await compareSites(siteList, next)),
      get sites() {
        return siteList.configuration;
      },
      describeOpen,
      setLogLevel: (level) => workers?.setLogLevel(level),
      close: () => cleanup.run(),
    };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

async function serve(
  services: Services,
  config: Config,
  cleanup: Cleanup,
  started: {
    readonly blocked: PreloadedBlocks;
    readonly metrics: Metrics | null;
    readonly connection: StorageConnection;
    readonly socket: ListeningDescriptor | undefined;
  },
): Promise<
  Pick<RunningGuard, 'url' | 'applyChange'> & { readonly server: Gateway; readonly workers: WorkerPool | null }
> {
  const { blocked, metrics, connection, socket } = started;
  const { siteList, snapshots, connectors, sessions, mutex, clock, logger } = services;

  const starting = startFeatures(services, blocked, cleanup);
  const ready = starting.then((started) => started.ready);
  // The database of guard or WordPress may have changed while guard was down: push the current policy first.
  const policiesPushed = connectors
    .start(ready)
    .then(() => ready)
    .then(() => Promise.all(siteList.servedIds.map((id) => mutex.run(id, async () => undefined))));
  // Both are awaited below. If something else fails first, their rejections must not stay unhandled.
  for (const promise of [ready, policiesPushed]) promise.catch(() => undefined);
  const features = await starting;
  const { securityLog: file } = config.activity;
  const { visits } = features.hooks;
  const securityLog = file === null ? null : openSecurityLog(file, { visits, clock, logger });
  cleanup.add('security log', () => securityLog?.close());

  const guarded = createGuardedTraffic({ dataDir: config.dataDir, clock, logger });
  cleanup.add('record of guarded traffic', () => guarded.stop());
  const hostProbe = createHostProbe({ clock });
  cleanup.add('questions about hosts', () => hostProbe.close());
  const hosts = createSiteHosts({ clock, probe: hostProbe.probe, logger });
  const recordGuarded = (site: SiteId) => guarded.record(site);
  const parts = { config, socket, metrics, hosts, recordGuarded, server: () => server };
  const workers = config.processes === 1 ? null : await createWorkers(services, features, parts);
  const api = createLazyApi(async () => {
    const [{ createApi }, endpoints] = await Promise.all([import('./api/api-app.js'), features.loadEndpoints()]);
    const whenApplied = async () => workers?.whenApplied();
    return createApi({ endpoints, sessions, nonces: sqlCallNonces(services.db), whenApplied, clock, logger });
  }, logger);
  cleanup.add('API', () => api.close());
  const server: Gateway = createGateway({
    ...{ config, snapshots: snapshots, logger, clock, socket: workers === null ? socket : undefined },
    ...(workers !== null && {
      relayed: workers.relay,
      sharePool: () => ({ role: 'counts', workers: config.processes }) as const,
    }),
    hooks: { ...features.hooks, visits: securityLog?.visits ?? visits },
    sharedAssets: createSharedAssets(),
    ...(metrics && { observer: metrics.observer }),
    api: api.handle,
    onSignal: connectors.signal,
    staffChecks: connectors.staffChecks,
    hosts,
    onGuarded: ({ id }) => recordGuarded(id),
    onSession: (key, until) => workers?.sendSession(key, until),
    onNoUpstreamResponse: connectors.recordUse,
    facts: (site) => services.sites.get(site).facts,
  });

  await ready;
  await Promise.race([policiesPushed, pause(POLICY_WAIT_MS, undefined, { ref: false })]);
  const own = await server.listen();
  cleanup.add('connections of clients', () => server.close());
  if (workers !== null) cleanup.add('worker processes', () => workers.close());
  const address = workers === null ? own : await workers.start();
  metrics?.observe({
    servesNone: () => server.servesNone,
    connections: () => workers?.connections ?? server.connections,
    loginLocks: () => features.gauges.lockCount,
    loginsWaiting: () => features.gauges.waiting,
    upstreamWaiting: () => server.waiting,
    storageWaiting: () => connection.waiting,
    visits: () => visits.getCounts?.() ?? { dropped: 0, waiting: 0 },
    storageErrors: () => StorageError.counts,
    connectors: () => [
      ...siteList.servedIds.map((id) => connectors.state(id).kind),
      ...siteList.quarantined.map(() => 'quarantined' as const),
    ],
  });
  await features.onServing();
  return {
    url: toServerUrl(address),
    applyChange: createApplyChange(services, features, server, workers),
    server,
    workers,
  };
}

/** Creates the workers of a guard of several processes; they are started when guard serves. */
async function createWorkers(
  { siteList, sites, connectors, settingHistory, logger }: Services,
  { activity, views }: RunningFeatures,
  parts: {
    readonly config: Config;
    readonly socket: ListeningDescriptor | undefined;
    readonly metrics: Metrics | null;
    readonly hosts: SiteHosts;
    readonly recordGuarded: (site: SiteId) => void;
    server(): Gateway;
  },
): Promise<WorkerPool> {
  const [{ WorkerPool: Pool }, { packInput }] = await Promise.all([
    import('./processes/worker-pool.js'),
    import('./processes/messages.js'),
  ]);
  const { config, socket, metrics, hosts, recordGuarded, server } = parts;
  const withSite = (id: SiteId, use: (site: SiteConfig) => void): void => {
    const site = siteList.find(id);
    if (site !== null) use(site);
  };
  const services: WorkerServices = {
    configuration: () => siteList.configuration,
    siteIds: () => siteList.allIds,
    replicate: (site) => ({
      site,
      input: packInput(sites.getSnapshotInput(site)),
      facts: sites.get(site).facts,
      visits: activity.visitRules(site),
    }),
    writeVisits: (batches) => activity.store.write(batches),
    handleVisitor: activity.handleVisitor,
    settingHistory,
    views,
    findPool: (site) => server().findPool(site),
    findHost(id, host) {
      const site = siteList.find(id);
      return site === null ? null : hosts.find(site, host);
    },
    handleSignal: (id, signal, origin) => withSite(id, (site) => connectors.signal(site, signal, origin)),
    handleGuarded: recordGuarded,
    handleSilent: (id) => withSite(id, (site) => connectors.recordUse(site)),
    addSession: (key, until) => server().addSession(key, until),
    observer: metrics?.observer ?? null,
  };
  const pool = await Pool.create(config, socket, services, logger);
  sites.onChanged((site) => pool.markChanged(site));
  return pool;
}

/** Returns `applyChange` of `RunningGuard`. Changes are applied one after the other. */
function createApplyChange(
  services: Services,
  features: RunningFeatures,
  server: Gateway,
  workers: WorkerPool | null,
): RunningGuard['applyChange'] {
  const { siteList, sites, connectors, logger } = services;
  let last: Promise<unknown> = Promise.resolve();

  async function apply(configured: LiveChange): Promise<AppliedChange> {
    // `attach` also requests a reload when it has changed only the connector's files.
    connectors.checkMissing();
    const { change: wanted, kept } = keepValidEntries(siteList, configured);
    for (const { id, reason } of kept) {
      logger.error(
        { event: 'site-entry-kept', site: id, reason },
        'The site keeps its last valid entry until a restart.',
      );
    }
    if (isEmptyChange(wanted, siteList)) return { kept };
    const { served, quarantined, removed } = wanted;
    const ids = [...served, ...quarantined].map(({ id }) => id);
    const added = ids.filter((id) => !siteList.has(id));
    const wereServed = new Set(ids.filter((id) => siteList.find(id) !== null));
    const unread = ids.filter((id) => !sites.hasSettings(id));
    let change = wanted;
    // The data of a site are loaded before its first request.
    const undo = siteList.apply(wanted);
    try {
      change = withUnusableSettings(wanted, await services.loadSites(unread));
      siteList.apply(change);
      for (const { id } of change.served) {
        if (wereServed.has(id)) sites.set(id, {});
        else await features.loadSite(id);
      }
    } catch (error) {
      siteList.apply(undo);
      throw error;
    }
    server.applyChange(change);
    await workers?.applyChange(change);
    connectors.checkAll(change.served);
    for (const id of removed) {
      await features.dropSite(id);
      sites.delete(id);
      connectors.staffChecks.delete(id);
    }
    const changed = change.served.map(({ id }) => id).filter((id) => !added.includes(id));
    logger.info({ event: 'sites-changed', added, changed, removed }, 'The sites of the configuration are served.');
    logQuarantined(logger, change);
    logTrustedEverybody(logger, { ...change, sites: change.served });
    return { kept };
  }

  return (change) => {
    const done = last.then(() => apply(change));
    last = done.catch(() => undefined);
    return done;
  };
}

function isEmptyChange(change: LiveChange, { trustedProxies }: SiteList): boolean {
  const { served, quarantined, removed } = change;
  return served.length + quarantined.length + removed.length === 0 && isSameData(change.trustedProxies, trustedProxies);
}

function logQuarantined(logger: Logger, { quarantined }: Pick<LiveConfig, 'quarantined'>): void {
  for (const { id, hosts, cause, reason } of quarantined) {
    logger.error(
      { event: 'site-quarantined', site: id, hosts, cause, reason },
      'The site is not served; visitors get 503.',
    );
  }
}

/** Warns that every client that reaches guard can choose the visitor's address. */
function logTrustedEverybody(logger: Logger, { sites, trustedProxies }: LiveConfig): void {
  const trusting = sites.filter((site) => includesEverybody(site.trustedProxies ?? [])).map(({ id }) => id);
  if (!includesEverybody(trustedProxies) && trusting.length === 0) return;
  logger.warn(
    { event: 'everybody-trusted', sites: trusting.slice(0, 20) },
    'A range in trustedProxies means everybody, so each visitor can choose an address. Name your proxies.',
  );
}

/** Logs the sites that are not served and the sites that accept direct requests: both are easily forgotten. */
function logConfigured(logger: Logger, config: Config): void {
  const { sites, quarantined } = config;
  logQuarantined(logger, { quarantined });
  logTrustedEverybody(logger, config);
  const open = sites.filter(({ requireGuard }) => !requireGuard).map(({ id }) => id);
  if (open.length === 0) return;
  logger.warn(
    { event: 'direct-requests-allowed', count: open.length, sites: open.slice(0, 20) },
    'WordPress answers visitors who go past guard. Run `attach --require-guard` when traffic comes through it.',
  );
}
