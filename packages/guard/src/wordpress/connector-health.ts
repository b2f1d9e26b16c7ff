import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { ConnectorState, SiteConfig, SiteId } from '../site.js';
import type { HelloAnswer } from './connector-answers.js';
import type { ConnectorClient } from './connector-client.js';
import { ConnectorError, describeFault } from './connector-error.js';
import type { Signal } from './signature.js';

/** How often a site that says nothing by itself is asked, milliseconds. */
const CHECK_EVERY_MS = 30_000;
/** A site whose signals are good is asked all the same after this time, milliseconds: its paths may have changed. */
const HELLO_EVERY_MS = 10 * 60_000;
/** Checks at the same time: many sites must not start many PHP processes at once. */
const CHECKS_AT_ONCE = 8;
/** Pause behind each of them, milliseconds: a round over thousands of sites takes minutes, not all of a processor. */
const CHECK_PAUSE_MS = 100;
/** A signal that doesn't fit asks for a check, at most this often per site, milliseconds. */
const EXTRA_CHECK_PAUSE_MS = 5000;
/** Guard's key is written into a WordPress at most this often, milliseconds: two guards must not fight over one. */
const RESTORE_PAUSE_MS = 10 * 60_000;
/** PHP may run a cached copy of the key file for two seconds (opcache.revalidate_freq). */
const AFTER_RESTORE_MS = 3000;

export interface ConnectorHealth {
  state(site: SiteId): ConnectorState;
  /** Asks the connector now. Never throws; the outcome is in `state`. */
  check(site: SiteConfig): Promise<void>;
  /** Something went wrong with the site: asks the connector soon, at most once in 5 seconds. */
  recheck(site: SiteConfig): void;
  /** Takes note of the signal on a forwarded response. */
  inform(site: SiteConfig, signal: Signal): void;
  /** Checks every site now and then on a timer, until `stop`. @returns when each was checked once; never throws */
  start(): Promise<void>;
  stop(): void;
}

/** What health may set in motion. */
export interface HealthActions {
  /** The connector answered `hello`. */
  onHello(site: SiteConfig, hello: HelloAnswer): void;
  /** The connector answers, for the first time or again. */
  onBack(site: SiteConfig): void;
  /** WordPress says which policy it runs. */
  onPolicy(site: SiteConfig, hash: string | null): void;
  /**
   * Writes guard's key into WordPress's files; called only for sites with a known folder.
   *
   * @param fault `missing`: nobody answered, which a connector that has lost its key does not either
   * @returns false when the key is not what is wrong
   */
  restoreKey(site: SiteConfig, fault: 'missing' | 'other_secret'): Promise<boolean>;
}

/** Knows how things stand with the connector of each site and logs each change once, in plain words. */
export function createConnectorHealth(deps: {
  sites: readonly SiteConfig[];
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
  const lastRestore = new Map<SiteId, number>();
  const checking = new Map<SiteId, Promise<void>>();
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;

  const within = (since: number | undefined, pause: number) => since !== undefined && Math.abs(clock() - since) < pause;

  function change(site: SiteConfig, state: ConnectorState): void {
    const before = states.get(site.id) ?? { kind: 'unknown' };
    states.set(site.id, state);
    if (state.kind === 'ok') lastGood.set(site.id, clock());
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
        logger.error({ event: 'connector-missing', site: site.id }, `${describeFault(state)} ${STILL_SERVED}`);
        return;
      case 'other_secret':
        logger.error(
          { event: 'connector-other-secret', site: site.id, key: state.keyId },
          `${describeFault(state)} ${STILL_SERVED}`,
        );
        return;
      case 'unreachable':
        logger.error({ event: 'wordpress-unreachable', site: site.id, cause: state.cause }, describeFault(state));
    }
  }

  async function ask(site: SiteConfig): Promise<void> {
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
      if (fault.kind === 'other_secret' || fault.kind === 'missing') await restore(site, fault.kind);
    }
  }

  function check(site: SiteConfig): Promise<void> {
    const running = checking.get(site.id);
    if (running) return running;
    const fresh = ask(site).finally(() => checking.delete(site.id));
    checking.set(site.id, fresh);
    return fresh;
  }

  function recheck(site: SiteConfig): void {
    if (stopped || within(lastExtraCheck.get(site.id), EXTRA_CHECK_PAUSE_MS)) return;
    lastExtraCheck.set(site.id, clock());
    void check(site);
  }

  async function restore(site: SiteConfig, fault: 'missing' | 'other_secret'): Promise<void> {
    if (site.wordpressDir === null || within(lastRestore.get(site.id), RESTORE_PAUSE_MS)) return;
    try {
      if (!(await actions.restoreKey(site, fault))) return;
      lastRestore.set(site.id, clock());
      logger.warn({ event: 'connector-key-restored', site: site.id }, 'Guard wrote its key into WordPress again.');
      later(AFTER_RESTORE_MS, () => check(site));
    } catch (error) {
      lastRestore.set(site.id, clock());
      logger.error(
        { event: 'connector-key-not-restored', site: site.id, err: error },
        'Guard could not write its key into WordPress.',
      );
    }
  }

  function later(ms: number, task: () => Promise<void>): void {
    if (stopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      void task();
    }, ms);
    timers.add(timer);
  }

  async function round(): Promise<void> {
    const queue = sites.filter(
      ({ id }) => !within(lastGood.get(id), CHECK_EVERY_MS - 1000) || !within(lastHello.get(id), HELLO_EVERY_MS),
    );
    const next = async () => {
      for (let site = queue.shift(); site && !stopped; site = queue.shift()) {
        await check(site);
        if (queue.length > 0) await sleep(CHECK_PAUSE_MS, undefined, { ref: false });
      }
    };
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, next));
    later(CHECK_EVERY_MS, round);
  }

  return {
    state: (site) => states.get(site) ?? { kind: 'unknown' },
    check,
    recheck,
    inform(site, signal) {
      // No signal means nothing: the web server answers static files without WordPress.
      if (stopped || signal.kind === 'missing') return;
      if (signal.kind === 'ok') {
        const wasOk = states.get(site.id)?.kind === 'ok';
        change(site, { kind: 'ok', version: signal.connectorVersion, policy: signal.policyHash });
        actions.onPolicy(site, signal.policyHash);
        if (wasOk) return;
      }
      recheck(site);
    },
    start: round,
    stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

const STILL_SERVED =
  'The site is served and protected at the gate; what only WordPress can enforce is not enforced. Attach the site again.';

/** What has to differ for a change to be worth a line in the log. */
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
