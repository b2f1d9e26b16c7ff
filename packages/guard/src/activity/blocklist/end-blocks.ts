import type { Clock } from '../../lib/clock.js';
import type { Logger } from '../../lib/logger.js';
import type { ChangeFeed } from '../../storage/change-feed.js';
import type { BlocklistStore } from './blocklist-store.js';

/** Longest time between two checks, milliseconds: another process may have stored a block, or the clock was set. */
const LONGEST_MS = 30_000;
/** Blocks that are deleted in one transaction. */
const AT_ONCE = 500;

/** Deletes blocks when they have ended. */
export interface BlockEnds {
  /** Deletes blocks that have ended. Never throws. */
  check(): Promise<void>;
  /** Called when a block with an end was stored: the next check may have to run earlier. Never throws. */
  planned(): void;
  start(): void;
  /** Resolves when no check is running. */
  stop(): Promise<void>;
}

/**
 * Deletes the rows of blocks that have ended, with an audit row each, and publishes the change. The gateway ends a
 * block by itself and exactly in time (`TimedAddresses`); this cleans up, unblocks users, and records the end.
 */
export function createBlockEnds(deps: {
  readonly store: Pick<BlocklistStore, 'removeEnded' | 'nextEnd'>;
  readonly feed: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): BlockEnds {
  const { store, feed, clock, logger } = deps;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let started = false;
  let failing = false;

  async function remove(): Promise<void> {
    for (;;) {
      const changed = await store.removeEnded(clock(), AT_ONCE);
      for (const change of changed) feed.publish(change);
      if (changed.length === 0) return;
    }
  }

  async function removeAndSchedule(): Promise<void> {
    let wait = LONGEST_MS;
    try {
      await remove();
      const next = await store.nextEnd();
      if (next !== null) wait = Math.min(Math.max(next - clock(), 0) + 1, LONGEST_MS);
      failing = false;
    } catch (error) {
      // Logged once per outage.
      if (!failing) logger.error({ event: 'blocks-end-failed', err: error }, 'Blocks that have ended stay listed.');
      failing = true;
    }
    if (!started) return;
    clearTimeout(timer);
    timer = setTimeout(() => void check(), wait).unref();
  }

  function check(): Promise<void> {
    running = running.then(removeAndSchedule);
    return running;
  }

  return {
    check,
    planned() {
      if (started) void check();
    },
    start() {
      started = true;
      void check();
    },
    async stop() {
      started = false;
      clearTimeout(timer);
      await running;
    },
  };
}
