import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import { type AttemptStore, LoginAttempts, type StoredAttempt } from './attempts.js';
import type { LoginEntry } from './lockout-rule.js';
import { SlowAccounts } from './slow-accounts.js';
import { type Batch, newBatch } from './write-batch.js';

const TICK_MS = 250;
const SWEEP_MS = 30_000;
/** Pause before what could not be stored is tried again, milliseconds. */
const RETRY_MS = 1000;
/** Longest time that an answer waits for the store, milliseconds. */
export const STORE_WAIT_MS = 1000;

export interface AttemptKeeper {
  readonly attempts: LoginAttempts;
  readonly slow: SlowAccounts;
  /** Reads what is stored for a site, at start and when another process changed it. Throws StorageError. */
  load(site: SiteId): Promise<void>;
  /**
   * What the answer to a failed log-in waits for, so that no crash gives a guess back: every change of the site so far
   * is stored. A store that fails, or takes longer than `STORE_WAIT_MS`, holds nobody up: the count in memory is right,
   * and the log says so. Without a change it takes as long as the last write did, so that an answer without a count
   * does not stand out. Never rejects.
   */
  settled(site: SiteId): Promise<void>;
  /** Resolves when every change so far is stored. */
  stored(): Promise<void>;
  /** Ends the timers and stores what is left. */
  stop(): Promise<void>;
}

/**
 * Keeps failures and locks: in memory for the gate, in the store for the next start. A change is written at once;
 * changes that come while one is being written go together in the next.
 *
 * @param onSlowUsers the accounts that strangers may only try slowly now, for the connector's policy
 */
export function keepAttempts(deps: {
  readonly store: AttemptStore;
  readonly onSlowUsers: (site: SiteId, users: readonly number[]) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}): AttemptKeeper {
  const { store, onSlowUsers, clock, logger } = deps;
  const waiting = new Map<SiteId, Batch>();
  let writing: Promise<void> | null = null;
  let stopped = false;
  /** The last write failed: until one succeeds, nobody waits for the store. */
  let failing = false;
  let lastWriteMs = 0;

  const attempts = new LoginAttempts((site, key, entry) => {
    let batch = waiting.get(site);
    if (batch === undefined) {
      batch = newBatch();
      waiting.set(site, batch);
    }
    batch.changes.set(key, entry);
    write();
  });
  const slow = new SlowAccounts(onSlowUsers);
  const tick = setInterval(() => attempts.tick(clock()), TICK_MS);
  const sweep = setInterval(() => {
    attempts.sweep(clock());
    slow.sweep(clock());
  }, SWEEP_MS);
  tick.unref();
  sweep.unref();

  function write(): void {
    writing ??= writeAll().finally(() => {
      writing = null;
    });
  }

  async function writeAll(): Promise<void> {
    // What happens in this turn of the event loop goes together.
    await Promise.resolve();
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const [site, batch] = next;
      waiting.delete(site);
      const began = performance.now();
      try {
        await writeSite(site, batch.changes);
        failing = false;
        lastWriteMs = Math.min(performance.now() - began, STORE_WAIT_MS);
        batch.end();
      } catch (error) {
        failing = true;
        batch.end();
        takeBack(site, batch);
        logger.error({ event: 'login-attempts-not-stored', site, err: error }, 'Failed log-ins can’t be stored yet.');
        if (stopped) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
        if (stopped) return;
      }
    }
  }

  /** Puts what could not be stored back in line, below what has changed since. */
  function takeBack(site: SiteId, { changes }: Batch): void {
    const batch = waiting.get(site) ?? newBatch();
    waiting.set(site, batch);
    for (const [key, entry] of changes) if (!batch.changes.has(key)) batch.changes.set(key, entry);
  }

  async function writeSite(site: SiteId, changes: ReadonlyMap<string, LoginEntry | null>): Promise<void> {
    const saved: StoredAttempt[] = [];
    const removed: string[] = [];
    for (const [key, entry] of changes) {
      if (entry === null) removed.push(key);
      else saved.push({ key, ...entry });
    }
    if (saved.length > 0) await store.save(site, saved);
    if (removed.length > 0) await store.remove(site, removed);
  }

  function settled(site: SiteId): Promise<void> {
    if (failing) return Promise.resolve();
    const batch = waiting.get(site);
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => {
          if (batch !== undefined && !batch.late) {
            batch.late = true;
            logger.warn(
              { event: 'login-attempts-late', site, waitedMs: STORE_WAIT_MS },
              'Failed log-ins are answered before they are stored: the database is too slow.',
            );
          }
          resolve();
        },
        batch === undefined ? lastWriteMs : STORE_WAIT_MS,
      );
      void batch?.ended.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async function stored(): Promise<void> {
    while (writing !== null) await writing;
  }

  return {
    attempts,
    slow,
    settled,
    stored,
    async load(site) {
      await stored();
      const rows = await store.load(site);
      // A failure that came in meanwhile is newer than what was read.
      const since = waiting.get(site)?.changes;
      attempts.restore(site, [...rows.filter((row) => since?.has(row.key) !== true), ...changed(since)], clock());
    },
    async stop() {
      clearInterval(tick);
      clearInterval(sweep);
      stopped = true;
      await stored();
      if (waiting.size > 0) await writeAll();
    },
  };
}

function changed(changes: ReadonlyMap<string, LoginEntry | null> | undefined): StoredAttempt[] {
  return [...(changes ?? [])].flatMap(([key, entry]) => (entry === null ? [] : [{ key, ...entry }]));
}
