import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { CONFIG_FILE, readConfigFile } from '../config/load-config.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { KeyedMutex } from '../lib/mutex.js';
import { version } from '../lib/version.js';
import { type ConnectorPolicySync, createConnectorPolicySync } from '../settings/connector-policy.js';
import type { ConnectorState, SiteConfig, SiteId } from '../site.js';
import { type ConnectorClient, createConnectorClient } from '../wordpress/connector-client.js';
import { createConnectorHealth } from '../wordpress/connector-health.js';
import { readSignedXmlRpc, toSiteFacts } from '../wordpress/connector-responses.js';
import { isInMaintenance } from '../wordpress/maintenance.js';
import type { Signal } from '../wordpress/signature.js';
import { runSiteTask } from '../wordpress/site-files.js';
import type { SiteOrigin } from '../wordpress/site-origin.js';
import { createStaffChecks, type StaffChecks } from '../wordpress/staff-checks.js';
import { createReleaseWatch } from './release-watch.js';
import type { SiteFactsStore } from './site-facts-store.js';
import type { SiteList } from './site-list.js';
import type { SiteRegistry } from './site-registry.js';

/**
 * Connectors that are checked at the same time after a changed configuration: a check may write a key, and many must
 * not start many PHP processes at once.
 */
const CHECKS_AT_ONCE = 8;

/** Guard's side of all connectors: their state, the policy that each one enforces, and their signals. */
export interface ConnectorSync extends Pick<ConnectorPolicySync, 'pushSettings' | 'pushBlockedUsers'> {
  readonly client: ConnectorClient;
  readonly staffChecks: StaffChecks;
  state(site: SiteId): ConnectorState;
  /** Checks the connector now. Never throws. */
  check(site: SiteConfig): void;
  /** Checks connectors, a few at a time. Never throws. */
  checkAll(sites: Iterable<SiteConfig>): void;
  /** Checks the connector, unless it was checked recently. Never throws. */
  recheck(site: SiteConfig): void;
  /**
   * Checks the connectors that were missing in a WordPress that responded, since one may have been installed. Never
   * throws.
   */
  checkMissing(): void;
  /** Sends WordPress the current policy if it last reported another one. Never throws. */
  reconcilePolicy(site: SiteId): void;
  /** Handles the connector's signal in the response to a visitor's request. */
  signal(site: SiteConfig, signal: Signal, origin: SiteOrigin): void;
  /** Records that the site is in use. */
  recordUse(site: SiteConfig): void;
  onSignal(listener: (site: SiteConfig, signal: Signal) => void): void;
  onUse(listener: (site: SiteId) => void): void;
  /** Called when the connector responds, for the first time or again. */
  onBack(listener: (site: SiteConfig) => void): void;
  /**
   * Starts the checks. Resolves when every connector has been checked once.
   * @param ready resolves when the blocked and throttled users are loaded; no policy is pushed before
   */
  start(ready: Promise<unknown>): Promise<void>;
  /** Ends the checks. */
  stop(): void;
}

export function createConnectors(services: {
  readonly config: Pick<Config, 'consent' | 'dataDir'>;
  readonly siteList: SiteList;
  readonly sites: SiteRegistry;
  readonly factsStore: SiteFactsStore;
  readonly mutex: KeyedMutex;
  readonly clock: Clock;
  readonly logger: Logger;
}): ConnectorSync {
  const { config, siteList, sites, factsStore, mutex, clock, logger } = services;
  const signalListeners: ((site: SiteConfig, signal: Signal) => void)[] = [];
  /** Origin of the last page that the connector signed, by site. Only for sites without known facts. */
  const lastPages = new Map<SiteId, SiteOrigin>();
  const useListeners: ((site: SiteId) => void)[] = [];
  const backListeners: ((site: SiteConfig) => void)[] = [];
  let stopped = false;
  let ready: Promise<unknown> = new Promise(() => undefined);

  const client = createConnectorClient({
    clock,
    facts: (site) => sites.get(site.id).facts,
    lastPage: (site) => lastPages.get(site.id) ?? null,
    isInMaintenance: (site) => isInMaintenance(site, clock()),
    onFailed: (site) => health.recheck(site),
    onNames(site, names) {
      if (names !== '' && names !== sites.get(site.id).facts?.names) health.recheck(site);
    },
    onSignal(site, command, signal) {
      staffChecks.recordSignal(site.id, signal);
      // `events` is the only command that is sent to an unused site: its signal also reports the connector's health.
      if (command === 'events') health.handleSignal(site, signal);
      // A page of the dashboard is open in a browser.
      if (command === 'session') recordUse(site);
    },
  });
  const policy = createConnectorPolicySync(config.consent, sites, { client, mutex, clock, logger });
  const health = createConnectorHealth({
    sites: siteList,
    client,
    guardVersion: version,
    clock,
    logger,
    actions: {
      onHello(site, hello) {
        const facts = toSiteFacts(hello, sites.get(site.id).facts);
        if (JSON.stringify(facts) === JSON.stringify(sites.get(site.id).facts)) return;
        sites.set(site.id, { facts });
        lastPages.delete(site.id);
        const { dropped } = readSignedXmlRpc(hello.signed_xml_rpc);
        if (dropped > 0) {
          logger.warn(
            { event: 'signed-xml-rpc-left-out', site: site.id, count: dropped },
            'A plugin names signed requests by XML-RPC in a form that can’t be let through.',
          );
        }
        factsStore.writeFacts(site.id, facts).catch((error: unknown) => {
          logger.warn({ event: 'site-facts-store-failed', site: site.id, err: error }, 'Site facts were not stored.');
        });
      },
      onBack(site) {
        for (const listener of backListeners) listener(site);
        // While the connector was missing, a password alone was sufficient to log in.
        ready
          .then(async () => {
            if (sites.getEffectiveSettings(site.id).login.sg2fa === 1) await client.endSessions(site, 'without_factor');
          })
          .catch((error: unknown) => {
            logger.warn(
              { event: 'sessions-end-failed', site: site.id, err: error },
              'Sessions that were made without the second factor could not be ended.',
            );
          });
      },
      onPolicy(site, hash) {
        ready.then(
          () => policy.reconcile(site, hash),
          () => undefined,
        );
      },
      async restoreKey(site, fault) {
        const { wordpressDir, muPluginsDir } = site;
        if (wordpressDir === null || site.externalKey === true) return false;
        const folders = { wordpressDir, ...(muPluginsDir !== undefined && { muPluginsDir }) };
        const content = { secret: site.secret, requireGuard: await requiresGuard(config, site) };
        const onlyIfLacking = fault === 'missing';
        const { written } = await runSiteTask(folders, { kind: 'restore-key', content, onlyIfLacking });
        if (!written) return false;
        await factsStore.writeKeyRestored(site.id, clock());
        return true;
      },
    },
  });

  const staffChecks = createStaffChecks({ clock, probe: health.check });

  const releases = createReleaseWatch({
    dataDir: config.dataDir,
    sites: siteList,
    onChanged: (site) => void health.check(site),
    logger,
  });

  function checkAll(all: Iterable<SiteConfig>): void {
    const rest = [...all];
    const run = async () => {
      for (let site = rest.shift(); site !== undefined && !stopped; site = rest.shift()) {
        // A site may have been removed in the meantime.
        if (siteList.find(site.id) !== null) await health.check(site);
      }
    };
    for (let n = 0; n < CHECKS_AT_ONCE; n++) void run();
  }

  function recordUse(site: SiteConfig): void {
    health.recordUse(site.id);
    for (const listener of useListeners) listener(site.id);
  }

  return {
    client,
    staffChecks,
    state: health.state,
    check: (site) => void health.check(site),
    recheck: health.recheck,
    checkAll,
    checkMissing() {
      const missing = [...siteList].filter(({ id }) => ['missing', 'other_secret'].includes(health.state(id).kind));
      checkAll(missing);
    },
    pushSettings: policy.pushSettings,
    pushBlockedUsers: policy.pushBlockedUsers,
    reconcilePolicy(id) {
      const site = siteList.find(id);
      const state = health.state(id);
      if (site && state.kind === 'ok') policy.reconcile(site, state.policy);
    },
    signal(site, signal, { scheme, host }) {
      recordUse(site);
      if (signal.kind === 'ok' && host !== '' && sites.get(site.id).facts === null) {
        lastPages.set(site.id, { scheme, host });
      }
      staffChecks.recordSignal(site.id, signal);
      health.handleSignal(site, signal);
      for (const listener of signalListeners) listener(site, signal);
    },
    recordUse,
    onSignal: (listener) => void signalListeners.push(listener),
    onUse: (listener) => void useListeners.push(listener),
    onBack: (listener) => void backListeners.push(listener),
    start(whenReady) {
      ready = whenReady;
      releases.start();
      return health.start();
    },
    stop() {
      stopped = true;
      releases.stop();
      health.stop();
      policy.stop();
    },
  };
}

/** Reads `requireGuard` from the configuration file: `attach` may have changed it while guard runs. */
async function requiresGuard({ dataDir }: Pick<Config, 'dataDir'>, site: SiteConfig): Promise<boolean> {
  const file = await readConfigFile(join(dataDir, CONFIG_FILE), []);
  return (file?.sites.find(({ id }) => id === site.id) ?? site).requireGuard;
}
