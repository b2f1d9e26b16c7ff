import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import { type AttemptStore, LoginAttempts, type StoredAttempt } from './attempts.js';
import type { LoginEntry } from './lockout-rule.js';
import { SlowAccounts } from './slow-accounts.js';

const TICK_MS = 250;
const SWEEP_MS = 30_000;
/** Pause before what could not be stored is tried again, milliseconds. */
const RETRY_MS = 1000;

export interface AttemptKeeper {
  readonly attempts: LoginAttempts;
  readonly slow: SlowAccounts;
  /** Reads what is stored for a site, at start and when another process changed it. Throws StorageError. */
  load(site: SiteId): Promise<void>;
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
  const waiting = new Map<SiteId, Map<string, LoginEntry | null>>();
  let writing: Promise<void> | null = null;
  let stopped = false;

  const attempts = new LoginAttempts((site, key, entry) => {
    let changes = waiting.get(site);
    if (changes === undefined) {
      changes = new Map();
      waiting.set(site, changes);
    }
    changes.set(key, entry);
    write();
    // A device that failed too often locks nobody else out.
    const locked = entry !== null && entry.lockedUntil > clock() && !key.startsWith('device:');
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

  function write(): void {
    writing ??= writeAll().finally(() => {
      writing = null;
    });
  }

  async function writeAll(): Promise<void> {
    // What happens in this turn of the event loop goes together.
    await Promise.resolve();
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const [site, changes] = next;
      waiting.delete(site);
      try {
        await writeSite(site, changes);
      } catch (error) {
        const newer = waiting.get(site);
        waiting.set(site, newer === undefined ? changes : new Map([...changes, ...newer]));
        logger.error({ event: 'login-attempts-not-stored', site, err: error }, 'Failed log-ins can’t be stored yet.');
        if (stopped) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
        if (stopped) return;
      }
    }
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

  async function stored(): Promise<void> {
    while (writing !== null) await writing;
  }

  return {
    attempts,
    slow,
    stored,
    async load(site) {
      await stored();
      const rows = await store.load(site);
      // A failure that came in meanwhile is newer than what was read.
      const since = waiting.get(site);
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
