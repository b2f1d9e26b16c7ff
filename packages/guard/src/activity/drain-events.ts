import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { ConnectorClient } from '../wordpress/connector-client.js';
import { readOutboxRow } from '../wordpress/outbox.js';
import type { ActivityStore, NewEvent } from './activity-store.js';

/** Rows asked for at once. */
const BATCH = 200;
/** A signal starts a drain after this time, so that events of the same moment go together, milliseconds. */
const PROMPT_MS = 100;
/** Pause between two drains of a site that signals ask for, milliseconds: each one costs WordPress two requests. */
const PAUSE_MS = 1000;
/** Pause between two rounds over all sites, milliseconds. */
const ROUND_MS = 30_000;
/** Sites that a round asks at the same time. */
const SITES_AT_ONCE = 4;
/** Pause behind each of them, milliseconds: a round over thousands of sites takes minutes, not all of a processor. */
const SITE_PAUSE_MS = 100;
/** First and longest pause after a failure, milliseconds; after so many of them in a row the rounds go on alone. */
const BACKOFF_MS = 1000;
const BACKOFF_MAX_MS = 16_000;
const RETRIES = 5;

export interface EventDrain {
  /** The connector says that a request wrote events: fetches them soon. Never throws. */
  signal(site: SiteConfig): void;
  /** Fetches what is there now. Never throws. */
  drain(site: SiteConfig): Promise<void>;
  /** Asks every site now and then, until `stop`. */
  start(): void;
  /** Resolves when nothing is written any more. */
  stop(): Promise<void>;
}

/** How things stand with one site. */
interface SiteDrain {
  running: Promise<void> | null;
  /** A drain that waits for its time. */
  timer: NodeJS.Timeout | null;
  /** Signalled while a drain was under way. */
  again: boolean;
  failures: number;
  /** Not before this time, milliseconds since the Unix epoch. */
  notBefore: number;
}

/**
 * Takes what users did from the connector's outbox into the log: a batch is stored first and acknowledged with the next
 * call, so that nothing is lost whichever side dies; what comes twice is known by its uid. One drain of a site at a time.
 *
 * @param shorten the address as it may be written
 */
export function createEventDrain(deps: {
  readonly sites: readonly SiteConfig[];
  readonly client: Pick<ConnectorClient, 'events'>;
  readonly store: Pick<ActivityStore, 'writeEvents'>;
  readonly shorten: (site: SiteId, address: string) => string;
  /** Somebody changed options of WordPress: its time zone, language or addresses may be others now. */
  readonly onOptions: (site: SiteConfig) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}): EventDrain {
  const { sites, client, store, shorten, onOptions, clock, logger } = deps;
  const states = new Map<SiteId, SiteDrain>();
  /** Batches on their way to the disk. */
  const writes = new Set<Promise<void>>();
  let rounds: NodeJS.Timeout | null = null;
  let stopped = false;

  function stateOf(site: SiteId): SiteDrain {
    let state = states.get(site);
    if (state === undefined) {
      state = { running: null, timer: null, again: false, failures: 0, notBefore: 0 };
      states.set(site, state);
    }
    return state;
  }

  function later(site: SiteConfig, state: SiteDrain): void {
    if (stopped || state.timer !== null) return;
    // Bounded: a clock that was set back must not stop the drain until it has caught up.
    const wait = Math.min(Math.max(state.notBefore - clock(), PROMPT_MS), BACKOFF_MAX_MS);
    state.timer = setTimeout(() => {
      state.timer = null;
      void drain(site);
    }, wait).unref();
  }

  function drain(site: SiteConfig): Promise<void> {
    const state = stateOf(site.id);
    if (stopped) return Promise.resolve();
    if (state.timer !== null) clearTimeout(state.timer);
    state.timer = null;
    state.again = false;
    state.running ??= run(site, state).finally(() => {
      state.running = null;
      if (state.again || (state.failures > 0 && state.failures <= RETRIES)) later(site, state);
    });
    return state.running;
  }

  async function run(site: SiteConfig, state: SiteDrain): Promise<void> {
    try {
      await takeAll(site);
      if (state.failures > 0)
        logger.info({ event: 'events-drained-again', site: site.id }, 'Events are fetched again.');
      state.failures = 0;
      state.notBefore = clock() + PAUSE_MS;
    } catch (error) {
      if (stopped) return;
      // Once per outage: why WordPress does not answer is said by its own line.
      if (state.failures === 0) {
        logger.warn({ event: 'events-not-drained', site: site.id, err: error }, 'What users did can’t be fetched yet.');
      }
      state.notBefore = clock() + Math.min(BACKOFF_MS * 2 ** state.failures, BACKOFF_MAX_MS);
      state.failures++;
    }
  }

  async function takeAll(site: SiteConfig): Promise<void> {
    let ack: readonly string[] = [];
    do {
      const { events: rows } = await client.events(site, { ack, limit: BATCH });
      if (rows.length === 0 || stopped) return;
      const { events, uids } = readRows(site.id, rows);
      if (events.length > 0) await write(site.id, events);
      if (events.some(({ kind }) => kind === 'option.changed')) onOptions(site);
      // Nothing to go on with: the same rows would come again and again.
      if (uids.length === 0) throw new Error('No row of the outbox can be acknowledged.');
      ack = uids;
    } while (!stopped);
  }

  async function write(site: SiteId, events: readonly NewEvent[]): Promise<void> {
    const done = store.writeEvents(site, events);
    writes.add(done);
    await done.finally(() => writes.delete(done));
  }

  function readRows(site: SiteId, rows: readonly unknown[]): { events: NewEvent[]; uids: string[] } {
    const now = Math.floor(clock() / 1000);
    const events: NewEvent[] = [];
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

  async function round(): Promise<void> {
    const queue = sites.filter(({ id }) => stateOf(id).timer === null);
    const next = async () => {
      for (let site = queue.shift(); site && !stopped; site = queue.shift()) {
        await drain(site);
        if (queue.length > 0) await sleep(SITE_PAUSE_MS, undefined, { ref: false });
      }
    };
    await Promise.all(Array.from({ length: SITES_AT_ONCE }, next));
    if (!stopped) rounds = setTimeout(() => void round(), ROUND_MS).unref();
  }

  return {
    signal(site) {
      const state = stateOf(site.id);
      if (state.running !== null) state.again = true;
      else later(site, state);
    },
    drain,
    start: () => void round(),
    async stop() {
      stopped = true;
      if (rounds !== null) clearTimeout(rounds);
      for (const { timer } of states.values()) if (timer !== null) clearTimeout(timer);
      // What was not stored is not acknowledged either, so a command that is under way can be left alone.
      await Promise.allSettled(writes);
    },
  };
}
