import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import type { ActivityStore } from './activity-store.js';

const EVERY_MS = 60_000;
const DAY_SECONDS = 24 * 3600;
/** Between two steps: the writing thread has other work, too. Milliseconds. */
const PAUSE_MS = 5;
/** Blocked visitors that stay in the log although nothing else of them is left; the newest. */
const BLOCKED_MAX = 10_000;

export interface Retention {
  start(): void;
  /** Resolves when no step is under way. */
  stop(): Promise<void>;
}

/** Clears up what is older than a site's days or beyond the most rows, once a minute, in small steps. */
export function createRetention(deps: {
  readonly sites: readonly SiteId[];
  readonly store: Pick<ActivityStore, 'retain'>;
  /** Days that a site keeps its log. */
  readonly days: (site: SiteId) => number;
  readonly maxRows: number;
  readonly blocked: (site: SiteId, most: number) => Promise<readonly number[]>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly everyMs?: number;
}): Retention {
  const { sites, store, days, maxRows, blocked, clock, logger, everyMs = EVERY_MS } = deps;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let failing = false;
  let stopped = false;

  async function clearUp(): Promise<void> {
    for (const site of sites) {
      const before = Math.floor(clock() / 1000) - days(site) * DAY_SECONDS;
      const keep = { before, maxRows, blocked: await blocked(site, BLOCKED_MAX) };
      while (!stopped && (await store.retain(site, keep))) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
      if (stopped) return;
    }
  }

  async function round(): Promise<void> {
    try {
      await clearUp();
      failing = false;
    } catch (error) {
      // Once per outage.
      if (!failing && !stopped) {
        logger.error({ event: 'activity-not-cleared', err: error }, 'The Activity Log can’t be cleared up yet.');
      }
      failing = true;
    }
    if (!stopped) later();
  }

  function later(): void {
    timer = setTimeout(() => {
      running = round();
    }, everyMs).unref();
  }

  return {
    start: later,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
