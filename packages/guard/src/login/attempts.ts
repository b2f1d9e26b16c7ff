import type { LoginAttempts as Limit } from '@security-optimizer/contract/login/limits';
import type { KnownBrowser } from '../http/login-cookies.js';
import type { SiteId } from '../site.js';
import {
  ConcurrencyLimiter,
  type ConcurrencyPermit,
  type PasswordLikelihood,
  type PermitWaiter,
} from './concurrency-limiter.js';
import {
  type AttemptEntry,
  applyFailure,
  applySuccess,
  correctClock,
  getRemainingChecks,
  isExpired,
  isLocked,
  NO_FAILURES,
} from './lockout-rule.js';
import { type CheckOutcome, type CheckWaiter, PasswordCheckQueue } from './password-check-queue.js';

/** An entry with its key, as made by `toClientKey`, `toCrossSiteKey` or `toBrowserKey`. */
export interface StoredAttempt extends AttemptEntry {
  readonly key: string;
}

/**
 * The key for failures of an address that pages of other sites caused its browser to send. They are counted separately
 * from the address's own failures: opening a page of another site must not lock the visitor out.
 */
export function toCrossSiteKey(addressKey: string): string {
  return `other-sites:${addressKey}`;
}

/** The key under which a browser's failures are counted, separately from those of addresses. */
export function toBrowserKey(device: KnownBrowser): string {
  return `device:${device.id}`;
}

/** Whether a lock of this key refuses an address, rather than a browser or requests caused by pages of other sites. */
export function isClientKey(key: string): boolean {
  return !/^(?:device|other-sites):/.test(key);
}

/**
 * Stores failures and locks, so that they survive a restart.
 * @throws StorageError from every method
 */
export interface LoginAttemptStore {
  /** Oldest failure first. */
  load(site: SiteId): Promise<readonly StoredAttempt[]>;
  /** Stores entries, replacing those of the same key. */
  save(site: SiteId, entries: readonly StoredAttempt[]): Promise<void>;
  remove(site: SiteId, keys: readonly string[]): Promise<void>;
  /**
   * The keys that other processes have unlocked after a version of the site; 0 lists all.
   * @returns the keys, and the version for the next call
   */
  listUnlocks(
    site: SiteId,
    since: number,
  ): Promise<{ readonly keys: readonly string[] | 'all'; readonly version: number }>;
}

/** A permit for one password check. It is released once; a second release does nothing. */
export interface Permit {
  /** @param outcome `wrong` by default */
  release(outcome?: CheckOutcome): void;
  /**
   * The request is over, but its outcome is not known yet: frees the place in the site's queue, for which other clients
   * wait. The address keeps its permit until `release`.
   */
  leaveQueue(): void;
}

/** Limit of entries in memory, for all sites together. */
const ENTRIES_MAX = 100_000;

/** Called with each new lock, and with null when there is none any more: at most half a minute after its end by time. */
export type LockListener = (site: SiteId, key: string, entry: AttemptEntry | null) => void;

interface KeyedEntry {
  readonly site: SiteId;
  readonly key: string;
  readonly entry: AttemptEntry;
}

/**
 * Counts failed logins, holds the locks, and manages the permits of the checks under way. Everything is in memory, so
 * that no request waits for storage; each change is passed to `onChange`, which stores it. The number of entries is
 * bounded: unlocked entries with the oldest failure are dropped first, then the oldest locks.
 */
export class LoginAttempts {
  readonly limiter = new ConcurrencyLimiter();
  readonly #open = new Map<string, KeyedEntry>();
  readonly #locked = new Map<string, KeyedEntry>();
  #onLock: LockListener = () => {};

  /**
   * @param onChange called after a change; the entry is null when it was removed
   * @param max limit of entries
   * @param queue the queue in which anonymous clients wait for a permit
   */
  constructor(
    private readonly onChange: (site: SiteId, key: string, entry: AttemptEntry | null) => void = () => {},
    private readonly max = ENTRIES_MAX,
    private readonly queue = new PasswordCheckQueue(),
  ) {}

  /** Entries in memory. */
  get size(): number {
    return this.#open.size + this.#locked.size;
  }

  /** Locks in memory, of all sites. A lock may be counted up to half a minute after its end. */
  get lockCount(): number {
    return this.#locked.size;
  }

  /** Checks that wait for a permit, of all sites. */
  get waiting(): number {
    return this.limiter.waiting + this.queue.waiting;
  }

  getEntry(site: SiteId, key: string): AttemptEntry {
    return this.#entry(`${site} ${key}`);
  }

  isLocked(site: SiteId, key: string, limit: Limit, now: number): boolean {
    return isLocked(this.getEntry(site, key), limit, now);
  }

  /**
   * Acquires a permit for one check. Returns null when all permits of this likelihood are in use. Call `isLocked`
   * first.
   */
  tryAcquire(site: SiteId, key: string, limit: Limit, claim: PasswordLikelihood, now: number): Permit | null {
    const full = `${site} ${key}`;
    const permit = this.limiter.tryAcquire(full, getRemainingChecks(this.#entry(full), limit), claim, now);
    return permit === null ? null : this.#toPermit(permit, limit);
  }

  /**
   * Waits for a permit until `until`. Calls `granted` with the permit, or `refused` when the deadline has passed or the
   * address was locked while it waited.
   *
   * @returns a function that stops waiting, or null when the queue is full
   */
  enqueue(
    site: SiteId,
    key: string,
    limit: Limit,
    waiter: { granted(permit: Permit): void; refused(): void },
    until: number,
  ): (() => void) | null {
    const permitWaiter: PermitWaiter = {
      granted: (permit) => waiter.granted(this.#toPermit(permit, limit)),
      refused: () => waiter.refused(),
    };
    return this.limiter.enqueue(`${site} ${key}`, permitWaiter, until);
  }

  /**
   * Waits in a site's queue of anonymous clients. Checks of the same address that are under way count as failures until
   * their outcome is known. See `PasswordCheckQueue.enqueue`.
   */
  enqueueCheck(queue: string, site: SiteId, key: string, waiter: CheckWaiter, until: number): () => void {
    const full = `${site} ${key}`;
    return this.queue.enqueue(queue, this.#entry(full).failures + this.limiter.countHeld(full) - 1, waiter, until);
  }

  /**
   * Counts one failure.
   * @param user the account whose password was tried, 0 when there is no such account
   * @returns the entry after the failure
   */
  recordFailure(site: SiteId, key: string, limit: Limit, now: number, user = 0): AttemptEntry {
    if (limit === 0) return this.getEntry(site, key);
    const before = this.getEntry(site, key);
    const entry = applyFailure(isExpired(before, now) ? NO_FAILURES : before, user, limit, now);
    this.#set({ site, key, entry }, now);
    this.onChange(site, key, entry);
    if (entry.lockedUntil > now) this.limiter.refuseAll(`${site} ${key}`);
    return entry;
  }

  /**
   * Records a correct password of a user. Failures at other accounts are kept; while the address is locked, all
   * failures are kept.
   */
  recordSuccess(site: SiteId, key: string, user: number, now: number): void {
    const before = this.getEntry(site, key);
    const entry = applySuccess(before, user, now);
    if (entry === before) return;
    if (entry === NO_FAILURES) {
      this.forget(site, key);
      return;
    }
    this.#set({ site, key, entry }, now);
    this.onChange(site, key, entry);
  }

  /** Removes the lock and the count, on behalf of the owner. */
  forget(site: SiteId, key: string): void {
    const full = `${site} ${key}`;
    const isLocked = this.#locked.delete(full);
    if (!this.#open.delete(full) && !isLocked) return;
    if (isLocked) this.#onLock(site, key, null);
    this.onChange(site, key, null);
  }

  /** Sets the only listener for locks. */
  watchLocks(listener: LockListener): void {
    this.#onLock = listener;
  }

  /** All locks; one may be listed up to half a minute after its end. */
  *allLocks(): Generator<readonly [site: SiteId, key: string, entry: AttemptEntry]> {
    for (const { site, key, entry } of this.#locked.values()) yield [site, key, entry];
  }

  /** Active locks of a site, newest first. */
  listLocked(site: SiteId, now: number): StoredAttempt[] {
    return [...this.#locked.values()]
      .filter((keyed) => keyed.site === site && keyed.entry.lockedUntil > now)
      .map(({ key, entry }) => ({ key, ...entry }))
      .sort((a, b) => b.lastFailure - a.lastFailure);
  }

  /** Replaces the entries of a site with the stored ones. */
  restore(site: SiteId, stored: readonly StoredAttempt[], now: number): void {
    for (const map of [this.#open, this.#locked]) {
      for (const [full, entry] of map) {
        if (entry.site !== site) continue;
        map.delete(full);
        if (map === this.#locked) this.#onLock(site, entry.key, null);
      }
    }
    for (const { key, ...entry } of stored) {
      if (!isExpired(entry, now)) this.#set({ site, key, entry: correctClock(entry, now) }, now);
    }
  }

  /** Refuses waiting requests whose deadline has passed. Call it several times a second. */
  tick(now: number): void {
    this.limiter.expire(now);
    this.queue.expire(now);
  }

  /** Drops expired entries, and corrects times in the future after a clock was set back. Call it periodically. */
  sweep(now: number): void {
    for (const { site, key, entry } of [...this.#open.values(), ...this.#locked.values()]) {
      if (entry.lastFailure <= now) continue;
      const right = correctClock(entry, now);
      this.#set({ site, key, entry: right }, now);
      this.onChange(site, key, right);
    }
    for (const { site, key, entry } of [...this.#open.values(), ...this.#locked.values()]) {
      if (isExpired(entry, now)) this.forget(site, key);
    }
    for (const [full, keyed] of this.#locked) {
      if (keyed.entry.lockedUntil > now) continue;
      this.#locked.delete(full);
      this.#open.set(full, keyed);
      this.#onLock(keyed.site, keyed.key, null);
    }
  }

  #entry(full: string): AttemptEntry {
    if (this.#open.size === 0 && this.#locked.size === 0) return NO_FAILURES;
    return (this.#open.get(full) ?? this.#locked.get(full))?.entry ?? NO_FAILURES;
  }

  #toPermit(permit: ConcurrencyPermit, limit: Limit): Permit {
    let isHeld = true;
    return {
      leaveQueue: () => {},
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        if (this.limiter.release(permit))
          this.limiter.serve(permit.key, getRemainingChecks(this.#entry(permit.key), limit));
      },
    };
  }

  #set(keyed: KeyedEntry, now: number): void {
    const full = `${keyed.site} ${keyed.key}`;
    this.#open.delete(full);
    const wasLocked = this.#locked.delete(full);
    const isLocked = keyed.entry.lockedUntil > now;
    (isLocked ? this.#locked : this.#open).set(full, keyed);
    if (isLocked || wasLocked) this.#onLock(keyed.site, keyed.key, isLocked ? keyed.entry : null);
    while (this.size > this.max) {
      const oldest = findOldest(this.#open, full) ?? findOldest(this.#locked, full);
      if (oldest === undefined) return;
      this.forget(oldest.site, oldest.key);
    }
  }
}

/** The first entry other than `not`: a new entry must never be dropped to make room for itself. */
function findOldest(map: ReadonlyMap<string, KeyedEntry>, not: string): KeyedEntry | undefined {
  for (const [full, keyed] of map) if (full !== not) return keyed;
  return undefined;
}

/**
 * Records a login: the failures of address and browser at that account are forgiven, unless the entry is locked.
 *
 * @param who `key`: the key under which the request's failures are counted, in addition to the browser's
 */
export function recordSuccess(
  attempts: Pick<LoginAttempts, 'recordSuccess'>,
  who: { readonly site: SiteId; readonly key: string; readonly device: KnownBrowser | null; readonly user: number },
  now: number,
): void {
  attempts.recordSuccess(who.site, who.key, who.user, now);
  if (who.device !== null) attempts.recordSuccess(who.site, toBrowserKey(who.device), who.user, now);
}
