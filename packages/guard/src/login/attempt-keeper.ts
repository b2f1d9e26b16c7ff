import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import { isAddressKey } from './address-key.js';
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
  /** Reads what is stored for a site, at start. Throws StorageError. */
  load(site: SiteId): Promise<void>;
  /**
   * Forgets what another process has lifted. Asks for that alone: 100,000 stored entries would hold up the thread that
   * proxies requests for a quarter of a second. Throws StorageError.
   */
  lift(site: SiteId): Promise<void>;
  /**
   * What the answer to a failed log-in waits for, so that no crash gives a guess back. To be asked right behind the
   * count, in the same turn of the event loop; resolves once that count is stored. A store that fails, or takes longer
   * than `STORE_WAIT_MS`, holds nobody up: the count in memory is right, and the log says so. Without a change it takes
   * as long as the last write did, so that an answer without a count does not stand out. Never rejects.
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
 * @param onLocked an address has to wait until then, milliseconds since the Unix epoch; may be told twice of one lock
 */
export function keepAttempts(deps: {
  readonly store: AttemptStore;
  readonly onSlowUsers: (site: SiteId, users: readonly number[]) => void;
  readonly onLocked?: (site: SiteId, address: string, until: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}): AttemptKeeper {
  const { store, onSlowUsers, onLocked, clock, logger } = deps;
  const waiting = new Map<SiteId, Batch>();
  /** What is being written now. */
  let underWay: { readonly site: SiteId; readonly changes: Batch['changes'] } | null = null;
  /** Site versions up to which `lift` knows what was lifted. */
  const liftedUpTo = new Map<SiteId, number>();
  let writing: Promise<void> | null = null;
  let stopped = false;
  /** The last write failed: until one succeeds, nobody waits for the store. */
  let failing = false;
  let lastWriteMs = 0;

  const attempts = new LoginAttempts((site, key, entry) => {
    batchOf(site).changes.set(key, entry);
    write();
    // A device that failed too often locks nobody else out.
    const locked = entry !== null && entry.lockedUntil > clock() && isAddressKey(key);
    if (locked) onLocked?.(site, key, entry.lockedUntil);
  });
  const slow = new SlowAccounts(onSlowUsers);
  const tick = setInterval(() => attempts.tick(clock()), TICK_MS);
  const sweep = setInterval(() => {
    attempts.sweep(clock());
    slow.sweep(clock());
  }, SWEEP_MS);
  tick.unref();
  sweep.unref();

  function batchOf(site: SiteId): Batch {
    let batch = waiting.get(site);
    if (batch === undefined) {
      batch = newBatch();
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
    // What happens in this turn of the event loop goes together.
    await Promise.resolve();
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const [site, batch] = next;
      waiting.delete(site);
      underWay = { site, changes: batch.changes };
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
      } finally {
        underWay = null;
      }
    }
  }

  /** Puts what could not be stored back in line, below what has changed since. */
  function takeBack(site: SiteId, { changes }: Batch): void {
    const newer = batchOf(site).changes;
    for (const [key, entry] of changes) if (!newer.has(key)) newer.set(key, entry);
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

  /** What is stored is gone already; what was on its way to the store goes after it. */
  function liftAll(site: SiteId): void {
    attempts.restore(site, [], clock());
    const onItsWay = underWay?.site === site ? [...underWay.changes.keys()] : [];
    const { changes } = batchOf(site);
    for (const key of [...onItsWay, ...changes.keys()]) changes.set(key, null);
    write();
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
      liftedUpTo.set(site, (await store.lifted(site, 0)).version);
      attempts.restore(site, await store.load(site), clock());
    },
    async lift(site) {
      const { keys, version } = await store.lifted(site, liftedUpTo.get(site) ?? 0);
      liftedUpTo.set(site, version);
      if (keys === 'all') liftAll(site);
      else for (const key of keys) attempts.forget(site, key);
      const locks = keys === 'all' ? keys : keys.length;
      if (locks !== 0) logger.info({ event: 'login-locks-lifted', site, locks }, 'Locks were lifted elsewhere.');
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
