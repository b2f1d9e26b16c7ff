import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import { isClientKey, type LoginAttemptStore, LoginAttempts, type StoredAttempt } from './attempts.js';
import type { AttemptEntry } from './lockout-rule.js';
import { ThrottledAccounts } from './throttled-accounts.js';

const TICK_MS = 250;
const SWEEP_MS = 30_000;
/** Pause before a failed write is retried, milliseconds. */
const RETRY_MS = 1000;
/** Longest time that a response waits for the store, milliseconds. */
export const STORE_WAIT_MS = 1000;

export interface LoginAttemptRepository {
  readonly attempts: LoginAttempts;
  readonly throttled: ThrottledAccounts;
  /**
   * Loads the stored entries of a site at start.
   * @throws StorageError
   */
  load(site: SiteId): Promise<void>;
  /**
   * Drops entries that another process has unlocked. It reads only those: reading 100,000 stored entries would block
   * the thread that proxies requests for a quarter of a second.
   * @throws StorageError
   */
  loadUnlocks(site: SiteId): Promise<void>;
  /**
   * Resolves once the counts so far are stored. The response to a failed login waits for this, so that a crash never
   * restores a guess. Must be called immediately after the count, in the same turn of the event loop. A store that
   * fails, or takes longer than `STORE_WAIT_MS`, delays no response: the count in memory is correct, and the failure is
   * logged. Without a change it takes as long as the last write did, so that a response without a count can't be
   * recognised by its timing. Never rejects.
   */
  whenStored(site: SiteId): Promise<void>;
  /** Resolves when every change so far is stored. */
  drain(): Promise<void>;
  /** Stops the timers and stores the remaining changes. */
  stop(): Promise<void>;
}

/**
 * Keeps failures and locks in memory for the gateway, and in the store for the next start. A change is written at once;
 * changes that arrive during a write share the next one.
 *
 * @param onThrottledUsers receives the accounts that are now throttled for anonymous clients, for the connector's
 *   policy
 * @param onLocked receives a locked address and the end of the lock, milliseconds since the Unix epoch; it may receive
 *   a lock twice
 */
export function createLoginAttemptRepository(deps: {
  readonly store: LoginAttemptStore;
  readonly onThrottledUsers: (site: SiteId, users: readonly number[]) => void;
  readonly onLocked?: (site: SiteId, address: string, until: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}): LoginAttemptRepository {
  const { store, onThrottledUsers, onLocked, clock, logger } = deps;
  const waiting = new Map<SiteId, Batch>();
  /** The write under way. */
  let inFlight: { readonly site: SiteId; readonly changes: Batch['changes'] } | null = null;
  /** Site versions up to which unlocks are known. */
  const unlockVersions = new Map<SiteId, number>();
  let writing: Promise<void> | null = null;
  let stopped = false;
  /** The last write failed: until one succeeds, no response waits for the store. */
  let failing = false;
  let lastWriteMs = 0;

  const attempts = new LoginAttempts((site, key, entry) => {
    getBatch(site).changes.set(key, entry);
    write();
    // A lock of a browser locks out no other client.
    const locked = entry !== null && entry.lockedUntil > clock() && isClientKey(key);
    if (locked) onLocked?.(site, key, entry.lockedUntil);
  });
  const throttled = new ThrottledAccounts(onThrottledUsers);
  const tick = setInterval(() => attempts.tick(clock()), TICK_MS);
  const sweep = setInterval(() => {
    attempts.sweep(clock());
    throttled.sweep(clock());
  }, SWEEP_MS);
  tick.unref();
  sweep.unref();

  function getBatch(site: SiteId): Batch {
    let batch = waiting.get(site);
    if (batch === undefined) {
      batch = createBatch();
      waiting.set(site, batch);
    }
    return batch;
  }

  function write(): void {
    writing ??= writeAll().finally(() => {
      writing = null;
    });
  }

  async function writeAll(): Promise<void> {
    // Changes in this turn of the event loop share one write.
    await Promise.resolve();
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const [site, batch] = next;
      waiting.delete(site);
      inFlight = { site, changes: batch.changes };
      const began = performance.now();
      try {
        await writeSite(site, batch.changes);
        failing = false;
        lastWriteMs = Math.min(performance.now() - began, STORE_WAIT_MS);
        batch.end();
      } catch (error) {
        failing = true;
        batch.end();
        requeue(site, batch);
        logger.error({ event: 'login-attempts-store-failed', site, err: error }, 'Failed logins can’t be stored yet.');
        if (stopped) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
        if (stopped) return;
      } finally {
        inFlight = null;
      }
    }
  }

  /** Queues the changes of a failed write again; newer changes take precedence. */
  function requeue(site: SiteId, { changes }: Batch): void {
    const newer = getBatch(site).changes;
    for (const [key, entry] of changes) if (!newer.has(key)) newer.set(key, entry);
  }

  async function writeSite(site: SiteId, changes: ReadonlyMap<string, AttemptEntry | null>): Promise<void> {
    const saved: StoredAttempt[] = [];
    const removed: string[] = [];
    for (const [key, entry] of changes) {
      if (entry === null) removed.push(key);
      else saved.push({ key, ...entry });
    }
    if (saved.length > 0) await store.save(site, saved);
    if (removed.length > 0) await store.remove(site, removed);
  }

  function whenStored(site: SiteId): Promise<void> {
    if (failing) return Promise.resolve();
    const batch = waiting.get(site);
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => {
          if (batch !== undefined && !batch.late) {
            batch.late = true;
            logger.warn(
              { event: 'login-attempts-store-slow', site, waitedMs: STORE_WAIT_MS },
              'Failed logins are answered before they are stored: the database is too slow.',
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

  /** The stored entries are already deleted; entries that were being written are deleted after the write. */
  function unlockAll(site: SiteId): void {
    attempts.restore(site, [], clock());
    const pending = inFlight?.site === site ? [...inFlight.changes.keys()] : [];
    const { changes } = getBatch(site);
    for (const key of [...pending, ...changes.keys()]) changes.set(key, null);
    write();
  }

  async function loadUnlocks(site: SiteId): Promise<void> {
    const known = unlockVersions.get(site) ?? 0;
    const { keys, version } = await store.listUnlocks(site, known);
    // Another query was answered first, and its unlocks were applied: they must not lift newer locks.
    if ((unlockVersions.get(site) ?? 0) !== known) return loadUnlocks(site);
    unlockVersions.set(site, version);
    if (keys === 'all') unlockAll(site);
    else for (const key of keys) attempts.forget(site, key);
    const locks = keys === 'all' ? keys : keys.length;
    if (locks !== 0) logger.info({ event: 'login-unlocks-applied', site, locks }, 'Locks were lifted elsewhere.');
  }

  async function drain(): Promise<void> {
    while (writing !== null) await writing;
  }

  return {
    attempts,
    throttled,
    whenStored,
    drain,
    async load(site) {
      unlockVersions.set(site, (await store.listUnlocks(site, 0)).version);
      attempts.restore(site, await store.load(site), clock());
    },
    loadUnlocks,
    async stop() {
      clearInterval(tick);
      clearInterval(sweep);
      stopped = true;
      await drain();
      if (waiting.size > 0) await writeAll();
    },
  };
}

/** Changes that are written together. */
interface Batch {
  /** Entries by key; null for a removed entry. */
  readonly changes: Map<string, AttemptEntry | null>;
  /** Resolves once the write has ended, whether or not it succeeded. */
  readonly ended: Promise<void>;
  end(): void;
  /** Whether a response timed out waiting for the batch. */
  late: boolean;
}

function createBatch(): Batch {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { changes: new Map(), ended, end, late: false };
}
