import { setTimeout as pause } from 'node:timers/promises';
import { keepBlocked } from './activity/blocked-keeper.js';
import { visibleLocks } from './activity/list-blocked.js';
import { lazyApi } from './api/lazy-api.js';
import { composeActivityLog } from './compose-activity-log.js';
import { composeConnectors } from './compose-connectors.js';
import { composeOverview } from './compose-overview.js';
import { composePostHack } from './compose-post-hack.js';
import { composeSecondFactor } from './compose-second-factor.js';
import { composeWeeklyReport } from './compose-weekly-report.js';
import type { Config } from './config.js';
import { authorityOf } from './lib/authority.js';
import { systemClock } from './lib/clock.js';
import { createLogger, type Logger } from './lib/logger.js';
import { KeyedMutex } from './lib/mutex.js';
import { version } from './lib/version.js';
import { loadSites, readRefused } from './load-state.js';
import { keepAttempts } from './login/attempt-keeper.js';
import { LOGIN_WAIT_MS } from './login/login-gate.js';
import { createLostReports } from './login/lost-reports.js';
import { LivePolicy } from './policy/live-policy.js';
import { createGuardServer } from './proxy/server.js';
import type { ChangeDeps } from './settings/change-settings.js';
import { fetchSiteSettings } from './settings/site-settings.js';
import type { SiteId } from './site.js';
import { LiveSites } from './site-security/live-sites.js';
import { createSettingsReload } from './site-security/reload-settings.js';
import { sqlBlockedVisitorsStore } from './storage/blocked-visitors-store.js';
import { latestVersion, pollingChangeFeed } from './storage/change-feed.js';
import { type Database, openDatabase } from './storage/database.js';
import type { EarlyBlocks } from './storage/early-blocks.js';
import { sqlAttemptStore } from './storage/login-attempts-store.js';
import { type OpenStorage, openStorage } from './storage/open-storage.js';
import { sqlSettingsStore } from './storage/settings-store.js';
import { sqlSiteFactsStore } from './storage/site-facts-store.js';
import { sqlSlowUsersStore } from './storage/slow-users-store.js';
import { cataloguesFolder, createLanguages, type LanguageFor } from './texts/languages.js';
import { connectorClient } from './wordpress/connector-client.js';
import { createSessions } from './wordpress/session.js';

/** How long the first request waits for WordPress to run the present policy: it may be down, or there may be many. */
const POLICY_WAIT_MS = 500;
const nothing = async (): Promise<void> => undefined;

export interface RunningGuard {
  /** Where it listens, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Lets running requests finish, then frees everything. */
  close(): Promise<void>;
}

/**
 * Starts guard: the composition root, the only place that knows all parts. It serves as soon as the settings are
 * loaded, also while WordPress or its connector is down. It does not start without its database: a stored setting
 * must never be replaced by a default.
 *
 * @param options `storage`: that of the configuration, when it has been opened already
 * @throws StorageError, DataDirInUse, or the system's error when the address can't be listened on
 */
export async function startGuard(
  config: Config,
  options: { logger?: Logger; languages?: LanguageFor; storage?: OpenStorage } = {},
): Promise<RunningGuard> {
  const logger = options.logger ?? createLogger(config.logLevel);
  const languages = options.languages ?? createLanguages({ folder: cataloguesFolder, logger });
  const { lock, thread, blocked } = options.storage ?? (await openStorage(config, logger));
  /** What has to be freed, in the order in which it was taken; freed in reverse. */
  const taken: (() => void | Promise<void>)[] = [() => lock.release()];
  const close = async () => {
    for (let free = taken.pop(); free; free = taken.pop()) await free();
  };
  try {
    const db = await openDatabase({ url: config.database, dataDir: config.dataDir, logger, thread });
    taken.push(() => db.destroy());
    const url = await assemble(config, languages, logger, db, blocked, taken);
    logger.info({ event: 'guard-started', url, version, sites: config.sites.length }, `Guard serves at ${url}.`);
    return { url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function assemble(
  config: Config,
  languages: LanguageFor,
  logger: Logger,
  db: Database,
  early: EarlyBlocks,
  taken: (() => void | Promise<void>)[],
): Promise<string> {
  const clock = systemClock;
  const mutex = new KeyedMutex();
  const settings = sqlSettingsStore(db);
  const factsStore = sqlSiteFactsStore(db);
  const live = new LivePolicy();
  const homes = new Map(config.sites.map((site) => [site.id, site.home ?? '']));
  const sites = new LiveSites(live, homes, clock, languages);
  taken.push(() => sites.stop());

  const feed = pollingChangeFeed({ db, logger, from: await latestVersion(db) });
  taken.push(() => feed.close());
  const ids = config.sites.map(({ id }) => id);
  await loadSites(ids, sites, settings, factsStore);
  for (const { id } of config.sites) logPause(logger, sites, id, clock());
  const blockedKeeper = keepBlocked({
    store: sqlBlockedVisitorsStore(db, early),
    sites,
    mutex,
    logger,
    onUsers: (site) => healPolicy(site),
  });
  taken.push(() => blockedKeeper.stop());
  feed.subscribe(blockedKeeper.reload);

  const client = connectorClient({
    clock,
    facts: (site) => sites.get(site.id).facts,
    onFailed: (site) => health.recheck(site),
  });
  taken.push(() => client.close());
  const log = composeActivityLog({
    ...{ config, db, client, sites, clock, logger },
    onOptions: (site) => void health.check(site),
  });
  taken.push(() => log.stop());
  feed.subscribe(() => log.events.changed());
  const slowUsers = sqlSlowUsersStore(db);
  await slowUsers.clear();
  const keeper = keepAttempts({
    store: sqlAttemptStore(db),
    onSlowUsers(site, users) {
      slowUsers
        .write(site, users)
        .catch((error: unknown) => {
          logger.warn(
            { event: 'slow-users-not-stored', site, err: error },
            '`status` will not know the slow accounts.',
          );
        })
        .finally(() => healPolicy(site));
    },
    onLocked: log.events.locked,
    clock,
    logger,
  });
  taken.push(() => keeper.stop());
  const reading = readRefused(db, ids, blockedKeeper, keeper);
  // The start waits for it below, unless something else fails before.
  reading.catch(nothing);
  feed.subscribe((site) => {
    keeper.lift(site).catch((error: unknown) => {
      logger.error({ event: 'login-attempts-not-read', site, err: error }, 'What was unblocked can’t be read.');
    });
  });

  const connectors = composeConnectors({
    ...{ config, client, sites, factsStore, mutex, clock, logger },
    slow: keeper.slow,
    ready: reading,
  });
  const { health, policyPush, healPolicy } = connectors;
  sites.onResumed((site) => {
    logger.info({ event: 'pause-ended', site }, 'The pause is over; the settings are in force again.');
    healPolicy(site);
  });
  const reload = createSettingsReload({
    read: (site) => fetchSiteSettings(settings, site),
    sites,
    mutex,
    logger,
    onChanged(site) {
      logPause(logger, sites, site, clock());
      healPolicy(site);
    },
  });
  taken.push(() => reload.stop());
  feed.subscribe(reload.reload);

  // While guard was away its database or WordPress's may have changed: WordPress gets the present policy first. What is
  // composed below takes about as long.
  taken.push(() => connectors.stop());
  const policiesPushed = health
    .start()
    .then(() => reading)
    .then(() => Promise.all(config.sites.map(({ id }) => mutex.run(id, nothing))));
  policiesPushed.catch(nothing);

  const sessions = createSessions({ client, clock });
  const change: ChangeDeps = {
    settings,
    pushPolicy: connectors.pushSettings,
    apply: (site, wanted) => sites.set(site, { settings: wanted }),
    publish: feed.publish,
    mutex,
    clock,
    logger,
  };
  const { dataDir, sites: configured } = config;
  const { attempts } = keeper;
  const secondFactor = { db, dataDir, client, sites, configured, attempts, feed, clock, logger };
  const door = await composeSecondFactor(secondFactor);
  const postHack = composePostHack({
    db,
    config,
    client,
    sites,
    sessions,
    door,
    feed,
    log: log.store,
    onAudit: log.events.changed,
    clock,
    logger,
  });
  taken.push(() => postHack.runner.stop());
  const weekly = composeWeeklyReport({ config, db, store: log.store, change, client, sites, logger });
  taken.push(() => weekly.sender.stop());
  const locks = (site: SiteId) => visibleLocks(attempts, sites.inForce(site).login.login_attempts, site, clock());
  const overview = await composeOverview({
    ...{ config, db, change, client, sites, health, store: log.store, locks, clock },
    lastReportFailure: weekly.lastReportFailure,
  });
  const running = { ...postHack, ...overview, ...weekly };
  const api = lazyApi(async () => {
    const { composeApi } = await import('./compose-api.js');
    return composeApi({
      ...{ config, db, log, change, client, sites, sessions, door, running },
      ...{ blockedKeeper, attempts: keeper, policyPush, locks },
    });
  }, logger);
  taken.push(() => api.close());

  const lost = createLostReports({
    ask: (site, requests) => client.loginReports(site, requests),
    state: health.state,
    recheck: health.recheck,
    clock,
    logger,
  });
  taken.push(() => lost.stop());
  const login = {
    attempts,
    slow: keeper.slow,
    door,
    clock,
    logger,
    waitMs: LOGIN_WAIT_MS,
    settled: keeper.settled,
    lost,
  };
  const { listen } = config.metrics;
  const metrics = listen === null ? null : (await import('./compose-metrics.js')).composeMetrics(listen, logger);
  const server = createGuardServer({
    ...{ config, live, login, logger, clock },
    ...(metrics && { observer: metrics.observer }),
    api: api.handle,
    visits: log.visits,
    onSignal(site, signal) {
      health.inform(site, signal);
      log.onSignal(site, signal);
    },
  });
  await reading;
  await Promise.race([policiesPushed, pause(POLICY_WAIT_MS, undefined, { ref: false })]);
  const address = await server.listen();
  taken.push(() => server.close());
  await metrics?.serve({
    connections: () => server.connections,
    loginLocks: () => attempts.locks,
    connectors: () => ids.map((id) => health.state(id).kind),
  });
  taken.push(() => metrics?.stop());
  log.start();
  weekly.sender.start();
  await postHack.runner.resume();
  return `http://${authorityOf(address)}`;
}

/** A pause is dangerous to forget, so each one stands in the log. */
function logPause(logger: Logger, sites: LiveSites, site: SiteId, now: number): void {
  const { pausedUntil } = sites.get(site).settings;
  if (pausedUntil <= now) return;
  const until = new Date(pausedUntil).toISOString();
  logger.warn({ event: 'paused', site, until }, 'Everything is off for this site until then.');
}
