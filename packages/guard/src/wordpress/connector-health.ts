import { setTimeout as sleep } from 'node:timers/promises';
import { toEnglish } from '@security-optimizer/contract/server-message';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { ConnectorState, SiteConfig, SiteId } from '../site.js';
import type { ConnectorClient } from './connector-client.js';
import { ConnectorError, describeConnectorFault } from './connector-error.js';
import type { HelloResponse } from './connector-responses.js';
import type { Signal } from './signature.js';

/** Interval of the checks of a site in use whose signals are good, milliseconds: its paths may have changed. */
const HELLO_INTERVAL_MS = 10 * 60_000;
/** Number of checks at the same time: many sites must not start many PHP processes at once. */
const CHECKS_AT_ONCE = 8;
/**
 * Pause after each check, milliseconds. It spreads a round over thousands of sites over minutes, so that it does not
 * occupy a whole processor.
 */
const CHECK_PAUSE_MS = 100;
/** Shortest pause between two checks of a site that unexpected signals cause, milliseconds. */
const EXTRA_CHECK_PAUSE_MS = 5000;
/**
 * Shortest pause between two writes of guard's key into a WordPress, milliseconds: two guards must not fight over one
 * site.
 */
const RESTORE_PAUSE_MS = 10 * 60_000;
/** Delay of `hello` after WordPress signalled a change, milliseconds, so that related changes cause one check. */
const AFTER_CHANGE_MS = 1000;
/** PHP may run a cached copy of the key file for two seconds (opcache.revalidate_freq). */
const AFTER_RESTORE_MS = 3000;

export interface ConnectorHealth {
  state(site: SiteId): ConnectorState;
  /** Checks the connector now. Never throws; the outcome is in `state`. */
  check(site: SiteConfig): Promise<void>;
  /** Checks the connector after a failure, at most once in 5 seconds. */
  recheck(site: SiteConfig): void;
  /** Handles the signal on a forwarded response or on the response to a command. */
  handleSignal(site: SiteConfig, signal: Signal): void;
  /** Records that the site is in use. It is checked in the next rounds unless it sends signals. */
  recordUse(site: SiteId): void;
  /**
   * Checks the sites on a timer, until `stop`: sites in use in every round, and sites whose connector does not respond
   * after growing pauses. An idle site whose connector responds is not checked: draining its outbox yields a signal.
   *
   * @returns when each site was checked once; never throws
   */
  start(): Promise<void>;
  stop(): void;
}

/** Actions that a change of health causes. */
export interface HealthActions {
  /** The connector responded to `hello`. */
  onHello(site: SiteConfig, hello: HelloResponse): void;
  /** The connector responds, for the first time or again. */
  onBack(site: SiteConfig): void;
  /** WordPress reported which policy it runs. */
  onPolicy(site: SiteConfig, hash: string | null): void;
  /**
   * Writes guard's key into WordPress's files. Called only for sites with a known folder.
   *
   * @param fault `missing`: no signed response, which is also the fault of a connector without its key
   * @returns false when the key was not the fault
   */
  restoreKey(site: SiteConfig, fault: 'missing' | 'other_secret'): Promise<boolean>;
}

/** Tracks the state of each site's connector and logs each change once. */
export function createConnectorHealth(deps: {
  /** The sites. Iterated in each round. */
  sites: Iterable<SiteConfig>;
  client: Pick<ConnectorClient, 'hello'>;
  actions: HealthActions;
  guardVersion: string;
  clock: Clock;
  logger: Logger;
}): ConnectorHealth {
  const { sites, client, actions, guardVersion, clock, logger } = deps;
  const states = new Map<SiteId, ConnectorState>();
  const lastGood = new Map<SiteId, number>();
  const lastHello = new Map<SiteId, number>();
  const lastExtraCheck = new Map<SiteId, number>();
  const inUse = new SitesInUse();
  /**
   * Sites whose connector did not respond: consecutive failures, and the pause before the next check of an idle site.
   */
  const failures = new Map<SiteId, { readonly count: number; readonly at: number; readonly pause: number }>();
  const lastRestore = new Map<SiteId, number>();
  const checking = new Map<SiteId, Promise<void>>();
  const timers = new Set<NodeJS.Timeout>();
  const scheduledChecks = new Set<SiteId>();
  let stopped = false;

  const within = (since: number | undefined, pause: number) => since !== undefined && Math.abs(clock() - since) < pause;

  function change(site: SiteConfig, state: ConnectorState): void {
    const before = states.get(site.id) ?? { kind: 'unknown' };
    states.set(site.id, state);
    if (state.kind === 'ok') {
      lastGood.set(site.id, clock());
      failures.delete(site.id);
    }
    if (summary(before) !== summary(state)) log(site, state);
    if (state.kind === 'ok' && before.kind !== 'ok') actions.onBack(site);
  }

  function log(site: SiteConfig, state: ConnectorState): void {
    switch (state.kind) {
      case 'unknown':
        return;
      case 'ok':
        logger.info({ event: 'connector-ok', site: site.id, version: state.version }, 'The connector plugin answers.');
        if (state.version !== guardVersion) {
          logger.warn(
            { event: 'connector-version-differs', site: site.id, connector: state.version, guard: guardVersion },
            'The connector plugin has another version than guard. Attach the site again.',
          );
        }
        return;
      case 'missing':
        logger.error(
          { event: 'connector-missing', site: site.id, ...(state.host !== undefined && { host: state.host }) },
          `${toEnglish(describeConnectorFault(state))} ${STILL_SERVED}`,
        );
        return;
      case 'other_secret':
        logger.error(
          { event: 'connector-other-secret', site: site.id, key: state.keyId },
          `${toEnglish(describeConnectorFault(state))} ${STILL_SERVED}`,
        );
        return;
      case 'unreachable':
        logger.error(
          {
            event: 'wordpress-unreachable',
            site: site.id,
            cause: state.cause,
            ...(state.redirect !== undefined && { redirect: state.redirect.target }),
          },
          toEnglish(describeConnectorFault(state)),
        );
    }
  }

  async function runCheck(site: SiteConfig): Promise<void> {
    try {
      const hello = await client.hello(site);
      if (stopped) return;
      lastHello.set(site.id, clock());
      change(site, { kind: 'ok', version: hello.connector, policy: hello.policy });
      actions.onHello(site, hello);
      actions.onPolicy(site, hello.policy);
    } catch (error) {
      if (stopped) return;
      const fault =
        error instanceof ConnectorError ? error.fault : { kind: 'unreachable' as const, cause: String(error) };
      change(site, fault);
      const count = (failures.get(site.id)?.count ?? 0) + 1;
      failures.set(site.id, { count, at: clock(), pause: faultPause(count) });
      if (fault.kind === 'other_secret' || fault.kind === 'missing') await restore(site, fault.kind);
    }
  }

  function check(site: SiteConfig): Promise<void> {
    const running = checking.get(site.id);
    if (running) return running;
    const fresh = runCheck(site).finally(() => checking.delete(site.id));
    checking.set(site.id, fresh);
    return fresh;
  }

  function recheck(site: SiteConfig): void {
    if (stopped || within(lastExtraCheck.get(site.id), EXTRA_CHECK_PAUSE_MS)) return;
    lastExtraCheck.set(site.id, clock());
    void check(site);
  }

  function scheduleCheck(site: SiteConfig): void {
    if (scheduledChecks.has(site.id)) return;
    scheduledChecks.add(site.id);
    runLater(AFTER_CHANGE_MS, () => {
      scheduledChecks.delete(site.id);
      return check(site);
    });
  }

  async function restore(site: SiteConfig, fault: 'missing' | 'other_secret'): Promise<void> {
    if (site.wordpressDir === null || within(lastRestore.get(site.id), RESTORE_PAUSE_MS)) return;
    try {
      if (!(await actions.restoreKey(site, fault))) return;
      lastRestore.set(site.id, clock());
      logger.warn({ event: 'connector-key-restored', site: site.id }, 'Guard wrote its key into WordPress again.');
      runLater(AFTER_RESTORE_MS, () => check(site));
    } catch (error) {
      lastRestore.set(site.id, clock());
      logger.error(
        { event: 'connector-key-restore-failed', site: site.id, err: error },
        'Guard could not write its key into WordPress.',
      );
    }
  }

  function runLater(ms: number, task: () => Promise<void>): void {
    if (stopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      void task();
    }, ms);
    timers.add(timer);
  }

  function isDue(site: SiteId): boolean {
    // Must be called in every round, since it counts the rounds.
    const isUsed = inUse.wasRecentlyUsed(site);
    if (isUsed || !states.has(site)) {
      return !within(lastGood.get(site), CHECK_INTERVAL_MS - 1000) || !within(lastHello.get(site), HELLO_INTERVAL_MS);
    }
    const failed = failures.get(site);
    return failed !== undefined && !within(failed.at, failed.pause - 1000);
  }

  async function runRound(): Promise<void> {
    const queue = [...sites].filter(({ id }) => isDue(id));
    const next = async () => {
      for (let site = queue.shift(); site && !stopped; site = queue.shift()) {
        await check(site);
        if (queue.length > 0) await sleep(CHECK_PAUSE_MS, undefined, { ref: false });
      }
    };
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, next));
    runLater(CHECK_INTERVAL_MS, runRound);
  }

  return {
    state: (site) => states.get(site) ?? { kind: 'unknown' },
    check,
    recheck,
    handleSignal(site, signal) {
      // A response without a signal proves nothing: the web server serves static files without WordPress. Neither does
      // a page from a cache, and a command to WordPress for each such page would cost what the cache saves.
      if (stopped || signal.kind === 'missing' || signal.kind === 'kept') return;
      if (signal.kind === 'ok') {
        const wasOk = states.get(site.id)?.kind === 'ok';
        change(site, { kind: 'ok', version: signal.connectorVersion, policy: signal.policyHash });
        actions.onPolicy(site, signal.policyHash);
        // The response to `hello` has changed: a plugin was activated or deactivated.
        if (signal.flags.includes('p')) scheduleCheck(site);
        if (wasOk) return;
      }
      recheck(site);
    },
    recordUse: (site) => inUse.record(site),
    start: runRound,
    stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

const STILL_SERVED =
  'The site is served and protected at the gateway; what only WordPress can enforce is not enforced. Attach the site again.';

/** Two states with the same summary are not logged as a change. */
function summary(state: ConnectorState): string {
  switch (state.kind) {
    case 'ok':
      return `ok ${state.version}`;
    case 'other_secret':
      return `other_secret ${state.keyId}`;
    case 'unreachable':
      return `unreachable ${state.cause}`;
    default:
      return state.kind;
  }
}

// Intervals of the checks. Every command starts WordPress, so sites in use are checked in each round and idle ones at
// most twice an hour.

/** Pause between two rounds over the sites in use, milliseconds. */
export const CHECK_INTERVAL_MS = 30_000;
/** Shortest pause between checks of a site without traffic, milliseconds. */
const IDLE_MS = 30 * 60_000;
/** Jitter, milliseconds: thousands of sites that start at the same time must not be checked at the same time. */
const IDLE_SPREAD_MS = 15 * 60_000;

/**
 * Pause before the next check of a site without traffic, milliseconds.
 * @param random from 0 to 1
 */
export function idlePause(random = Math.random()): number {
  return IDLE_MS + random * IDLE_SPREAD_MS;
}

/**
 * Pause before the next check of a site without traffic whose connector did not respond, milliseconds. It grows
 * exponentially: a WordPress that is starting responds soon, an abandoned one never.
 *
 * @param failures consecutive failed checks, at least 1
 * @param random from 0 to 1
 */
export function faultPause(failures: number, random = Math.random()): number {
  return Math.min(CHECK_INTERVAL_MS * 2 ** (failures - 1), idlePause(random));
}

/**
 * The sites in use: requests were forwarded to their WordPress, or a page of the dashboard is open. It counts rounds
 * instead of time, so that a clock that jumps has no effect.
 */
export class SitesInUse {
  readonly #used = new Set<SiteId>();
  /** Sites used in the previous round: a request that was still running then may have changed data since. */
  readonly #usedBefore = new Set<SiteId>();

  record(site: SiteId): void {
    this.#used.add(site);
  }

  /** Whether the site was used since the second last call for it. Called once in each round. */
  wasRecentlyUsed(site: SiteId): boolean {
    const used = this.#used.delete(site);
    const usedBefore = this.#usedBefore.delete(site);
    if (used) this.#usedBefore.add(site);
    return used || usedBefore;
  }
}
