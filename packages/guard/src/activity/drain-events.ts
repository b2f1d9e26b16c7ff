import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SecurityEvents } from '../security-events.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { ConnectorClient } from '../wordpress/connector-client.js';
import { CHECK_INTERVAL_MS, idlePause, SitesInUse } from '../wordpress/connector-health.js';
import { type OutboxEvent, readOutboxRow } from '../wordpress/outbox.js';
import type { ActivityStore } from './activity-store.js';
import { toUsersSecurityEvent } from './security-events.js';

/** Rows per request. */
const BATCH = 200;
/** Delay between a signal and its drain, milliseconds, so that simultaneous events share a batch. */
const PROMPT_MS = 100;
/** Minimum time between two drains of a site after signals, milliseconds: each one costs WordPress two requests. */
const PAUSE_MS = 1000;
/** Sites that a round drains concurrently. */
const SITES_AT_ONCE = 4;
/** Pause after each site, milliseconds: a round over thousands of sites takes minutes, but little CPU time. */
const SITE_PAUSE_MS = 100;
/** Longest wait for rows that the connector holds back, milliseconds. */
const HELD_MAX_MS = 60_000;
/** Shortest and longest pause after a failure, milliseconds; after the longest one only the rounds try again. */
const BACKOFF_MS = 1000;
const BACKOFF_MAX_MS = 16_000;
const RETRIES = 5;

export interface EventDrain {
  /** Schedules a drain after the connector's signal that a request stored events. Never throws. */
  signal(site: SiteConfig): void;
  /** Drains all events of the site now. Never throws. */
  drain(site: SiteConfig): Promise<void>;
  /** Records that the site is in use: the next rounds drain it, since not every event is signalled. */
  recordUse(site: SiteId): void;
  /**
   * Drains the sites in rounds, until `stop`: sites in use in every round; others less often, for events without a
   * visitor (WP-CLI, the system's cron). A site whose connector does not respond is skipped until it does.
   */
  start(): void;
  /** Resolves when all writes are complete. */
  stop(): Promise<void>;
}

/** State of one site. */
interface SiteDrain {
  running: Promise<void> | null;
  /** Timer of a scheduled drain. */
  timer: NodeJS.Timeout | null;
  /** Timer of a drain for rows that the connector held back. Does not delay any other drain. */
  heldTimer: NodeJS.Timeout | null;
  /** Whether a signal came during a drain. */
  again: boolean;
  failures: number;
  /** Not before this time, milliseconds since the Unix epoch. */
  notBefore: number;
  /** Time of the last drain, and the pause after it while the site is not in use, milliseconds; null: never drained. */
  last: { readonly at: number; readonly pause: number } | null;
}

/**
 * Drains users' events from the connector's outbox into the log. A batch is stored first and acknowledged with the next
 * command, so that no event is lost if either side crashes. Duplicates are recognised by their uid. At most one drain
 * of a site runs at a time.
 *
 * @param shorten anonymises the address if the site requires it
 */
export function createEventDrain(deps: {
  /** The sites, read at each round. */
  readonly sites: Iterable<SiteConfig>;
  readonly client: Pick<ConnectorClient, 'events'>;
  readonly store: Pick<ActivityStore, 'writeEvents'>;
  readonly securityEvents: Pick<SecurityEvents, 'report'>;
  readonly shorten: (site: SiteId, address: string) => string;
  /** Whether the connector is known to respond. */
  readonly isReachable: (site: SiteId) => boolean;
  /** Called after options of WordPress were changed: its time zone, language or addresses may have changed. */
  readonly onOptions: (site: SiteConfig) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}): EventDrain {
  const { sites, client, store, securityEvents, shorten, isReachable, onOptions, clock, logger } = deps;
  const states = new Map<SiteId, SiteDrain>();
  /** Batches that are being stored. */
  const writes = new Set<Promise<void>>();
  const inUse = new SitesInUse();
  let rounds: NodeJS.Timeout | null = null;
  let stopped = false;

  function getState(site: SiteId): SiteDrain {
    let state = states.get(site);
    if (state === undefined) {
      state = { running: null, timer: null, heldTimer: null, again: false, failures: 0, notBefore: 0, last: null };
      states.set(site, state);
    }
    return state;
  }

  function later(site: SiteConfig, state: SiteDrain): void {
    if (stopped || state.timer !== null) return;
    // Bounded, so that a clock that was set back does not delay the drain until the clock has caught up.
    const wait = Math.min(Math.max(state.notBefore - clock(), PROMPT_MS), BACKOFF_MAX_MS);
    state.timer = setTimeout(() => {
      state.timer = null;
      void drain(site);
    }, wait).unref();
  }

  function drain(site: SiteConfig): Promise<void> {
    const state = getState(site.id);
    if (stopped) return Promise.resolve();
    clearTimers(state);
    state.again = false;
    state.running ??= run(site, state).finally(() => {
      state.running = null;
      if (state.again || (state.failures > 0 && state.failures <= RETRIES)) later(site, state);
    });
    return state.running;
  }

  async function run(site: SiteConfig, state: SiteDrain): Promise<void> {
    try {
      const heldMs = (await drainAll(site)) * 1000;
      if (heldMs > 0) returnForHeld(site, state, heldMs);
      if (state.failures > 0)
        logger.info({ event: 'events-drain-recovered', site: site.id }, 'Events are fetched again.');
      state.failures = 0;
      state.notBefore = clock() + PAUSE_MS;
    } catch (error) {
      if (stopped) return;
      // Logged once per outage. The reason why WordPress does not respond is in another line.
      if (state.failures === 0) {
        logger.warn(
          { event: 'events-drain-failed', site: site.id, err: error },
          'What users did can’t be fetched yet.',
        );
      }
      state.notBefore = clock() + Math.min(BACKOFF_MS * 2 ** state.failures, BACKOFF_MAX_MS);
      state.failures++;
    }
    state.last = { at: clock(), pause: idlePause() * (state.failures > 0 ? 2 : 1) };
  }

  /** Drains rows that the connector held back. No further signal announces them: it was sent when they were written. */
  function returnForHeld(site: SiteConfig, state: SiteDrain, heldMs: number): void {
    if (stopped) return;
    const wait = Math.min(heldMs, HELD_MAX_MS) + PROMPT_MS;
    state.heldTimer = setTimeout(() => void drain(site), wait).unref();
  }

  /**
   * Drains until the outbox is empty.
   * @returns in how many seconds there are more rows; 0 when there are none
   */
  async function drainAll(site: SiteConfig): Promise<number> {
    let ack: readonly string[] = [];
    do {
      const { events: rows, held } = await client.events(site, { ack, limit: BATCH });
      if (rows.length === 0 || stopped) return held;
      const { events, uids } = readRows(site.id, rows);
      if (events.length > 0) await write(site.id, events);
      if (events.some(({ kind }) => kind === 'option.changed')) onOptions(site);
      // Without an acknowledgement the connector would return the same rows again and again.
      if (uids.length === 0) throw new Error('No row of the outbox can be acknowledged.');
      ack = uids;
    } while (!stopped);
    return 0;
  }

  async function write(site: SiteId, events: readonly OutboxEvent[]): Promise<void> {
    const done = writeAndReport(site, events);
    writes.add(done);
    await done.finally(() => writes.delete(done));
  }

  async function writeAndReport(site: SiteId, events: readonly OutboxEvent[]): Promise<void> {
    await store.writeEvents(site, events);
    const found = events.map(toUsersSecurityEvent).filter((event) => event !== null);
    await securityEvents.report(site, found);
  }

  function readRows(site: SiteId, rows: readonly unknown[]): { events: OutboxEvent[]; uids: string[] } {
    const now = Math.floor(clock() / 1000);
    const events: OutboxEvent[] = [];
    const uids: string[] = [];
    let broken = 0;
    for (const sent of rows) {
      const { uid, event } = readOutboxRow(sent, now);
      if (uid !== null) uids.push(uid);
      if (event === null) broken++;
      else events.push({ ...event, address: shorten(site, event.address) });
    }
    if (broken > 0) {
      logger.warn({ event: 'events-skipped', site, rows: broken }, 'Rows of the outbox have an unknown form.');
    }
    return { events, uids };
  }

  function isDue(site: SiteId): boolean {
    // Called first, since it counts the rounds.
    const isUsed = inUse.wasRecentlyUsed(site);
    const { timer, last } = getState(site);
    if (timer !== null || !isReachable(site)) return false;
    // Math.abs: a clock that was set back must not delay the drain until it has caught up.
    return isUsed || last === null || Math.abs(clock() - last.at) >= last.pause;
  }

  async function round(): Promise<void> {
    const queue = [...sites].filter(({ id }) => isDue(id));
    const next = async () => {
      for (let site = queue.shift(); site && !stopped; site = queue.shift()) {
        await drain(site);
        if (queue.length > 0) await sleep(SITE_PAUSE_MS, undefined, { ref: false });
      }
    };
    await Promise.all(Array.from({ length: SITES_AT_ONCE }, next));
    if (!stopped) rounds = setTimeout(() => void round(), CHECK_INTERVAL_MS).unref();
  }

  return {
    signal(site) {
      const state = getState(site.id);
      if (state.running !== null) state.again = true;
      else later(site, state);
    },
    drain,
    recordUse: (site) => inUse.record(site),
    start: () => void round(),
    async stop() {
      stopped = true;
      if (rounds !== null) clearTimeout(rounds);
      for (const state of states.values()) clearTimers(state);
      // Events that were not stored are not acknowledged, so there is no need to wait for a running command.
      await Promise.allSettled(writes);
    },
  };
}

function clearTimers(state: SiteDrain): void {
  for (const timer of [state.timer, state.heldTimer]) if (timer !== null) clearTimeout(timer);
  state.timer = null;
  state.heldTimer = null;
}
