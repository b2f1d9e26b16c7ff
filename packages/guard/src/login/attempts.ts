import type { LoginAttempts as Limit } from '@security-optimizer/contract/login-limits';
import type { SiteId } from '../site.js';
import { CheckLine, type LineWaiter } from './check-line.js';
import {
  afterFailure,
  afterSuccess,
  checksLeft,
  isForgotten,
  isLocked,
  type LoginEntry,
  NO_FAILURES,
  restored,
} from './lockout-rule.js';
import { type Claim, LoginSlots, type Slot, type SlotWaiter } from './login-slots.js';

/** An entry with what it belongs to: text that `addressKey`, `otherSitesKey` or `deviceKey` made. */
export interface StoredAttempt extends LoginEntry {
  readonly key: string;
}

/** Where failures and locks outlive a restart. Every method may throw StorageError. */
export interface AttemptStore {
  /** Oldest failure first. */
  load(site: SiteId): Promise<readonly StoredAttempt[]>;
  /** Stores entries, over older ones of the same key. */
  save(site: SiteId, entries: readonly StoredAttempt[]): Promise<void>;
  remove(site: SiteId, keys: readonly string[]): Promise<void>;
  /**
   * What other processes have lifted after a version of the site, 0 for ever.
   * @returns whose, and the version to ask from the next time
   */
  lifted(site: SiteId, since: number): Promise<{ readonly keys: readonly string[] | 'all'; readonly version: number }>;
}

/** Leave to check passwords once. Given back exactly once; a second time does nothing. */
export interface Ticket {
  /** @param right whether passwords were checked and every one was right */
  release(right?: boolean): void;
}

/** Entries in memory, all sites together. */
const ENTRIES_MAX = 100_000;

interface Kept {
  readonly site: SiteId;
  readonly key: string;
  readonly entry: LoginEntry;
}

/**
 * Who failed to log in how often, who is locked, and which checks are under way. Everything is in memory, so that a
 * request waits for nothing; each change goes to `onChange`, which stores it. Bounded: unlocked entries with the oldest
 * failure go first, then the oldest locks.
 */
export class LoginAttempts {
  readonly slots = new LoginSlots();
  readonly #open = new Map<string, Kept>();
  readonly #locked = new Map<string, Kept>();

  /**
   * @param onChange told after a change; the entry is null when nothing is left of it
   * @param max entries kept
   * @param line where strangers wait for their turn
   */
  constructor(
    private readonly onChange: (site: SiteId, key: string, entry: LoginEntry | null) => void = () => {},
    private readonly max = ENTRIES_MAX,
    private readonly line = new CheckLine(),
  ) {}

  /** Entries in memory. */
  get size(): number {
    return this.#open.size + this.#locked.size;
  }

  /** Locks in memory, of all sites; some may be over for half a minute. */
  get locks(): number {
    return this.#locked.size;
  }

  entry(site: SiteId, key: string): LoginEntry {
    return this.#entry(`${site} ${key}`);
  }

  isLocked(site: SiteId, key: string, limit: Limit, now: number): boolean {
    return isLocked(this.entry(site, key), limit, now);
  }

  /** Takes leave for one check, or null when all that the claim may have are under way. Ask `isLocked` first. */
  take(site: SiteId, key: string, limit: Limit, claim: Claim, now: number): Ticket | null {
    const full = `${site} ${key}`;
    const slot = this.slots.take(full, checksLeft(this.#entry(full), limit), claim, now);
    return slot === null ? null : this.#ticket(slot, limit);
  }

  /**
   * Stands in line for a check until `until`. `granted` comes with the ticket; `expired` when the time is over or the
   * address has been locked meanwhile.
   *
   * @returns a way out of the line, or null when the line is too long
   */
  wait(
    site: SiteId,
    key: string,
    limit: Limit,
    waiter: { granted(ticket: Ticket): void; expired(): void },
    until: number,
  ): (() => void) | null {
    const place: SlotWaiter = {
      granted: (slot) => waiter.granted(this.#ticket(slot, limit)),
      expired: () => waiter.expired(),
    };
    return this.slots.wait(`${site} ${key}`, place, until);
  }

  /**
   * Waits for a turn among all strangers in a line of the site. Checks of the same address that are under way count as
   * failures as long as nobody knows. See `CheckLine.wait`.
   */
  turn(line: string, site: SiteId, key: string, waiter: LineWaiter, until: number): () => void {
    const full = `${site} ${key}`;
    return this.line.wait(line, this.#entry(full).failures + this.slots.taken(full) - 1, waiter, until);
  }

  /** Counts one failure. @param user whose password was tried, 0 for nobody's @returns the entry as it is now */
  failed(site: SiteId, key: string, limit: Limit, now: number, user = 0): LoginEntry {
    if (limit === 0) return this.entry(site, key);
    const before = this.entry(site, key);
    const entry = afterFailure(isForgotten(before, now) ? NO_FAILURES : before, user, limit, now);
    this.#set({ site, key, entry }, now);
    this.onChange(site, key, entry);
    if (entry.lockedUntil > now) this.slots.dismiss(`${site} ${key}`);
    return entry;
  }

  /** A right password of a user: failures at other accounts stay, and all of them while the address is locked. */
  succeeded(site: SiteId, key: string, user: number, now: number): void {
    const before = this.entry(site, key);
    const entry = afterSuccess(before, user, now);
    if (entry === before) return;
    if (entry === NO_FAILURES) {
      this.forget(site, key);
      return;
    }
    this.#set({ site, key, entry }, now);
    this.onChange(site, key, entry);
  }

  /** Lifts lock and count, as the owner asked. */
  forget(site: SiteId, key: string): void {
    const full = `${site} ${key}`;
    if (!this.#open.delete(full) && !this.#locked.delete(full)) return;
    this.onChange(site, key, null);
  }

  /** Locks of a site that are not over, newest first. */
  locked(site: SiteId, now: number): StoredAttempt[] {
    return [...this.#locked.values()]
      .filter((kept) => kept.site === site && kept.entry.lockedUntil > now)
      .map(({ key, entry }) => ({ key, ...entry }))
      .sort((a, b) => b.lastFailure - a.lastFailure);
  }

  /** Takes over what is stored for a site, in place of what was known of it. */
  restore(site: SiteId, stored: readonly StoredAttempt[], now: number): void {
    for (const kept of [this.#open, this.#locked]) {
      for (const [full, entry] of kept) if (entry.site === site) kept.delete(full);
    }
    for (const { key, ...entry } of stored) {
      if (!isForgotten(entry, now)) this.#set({ site, key, entry: restored(entry, now) }, now);
    }
  }

  /** Sends away who waited too long. To be called several times a second. */
  tick(now: number): void {
    this.slots.expire(now);
    this.line.expire(now);
  }

  /** Forgets what is old, and puts right what a clock noted that has been set back. To be called now and then. */
  sweep(now: number): void {
    for (const { site, key, entry } of [...this.#open.values(), ...this.#locked.values()]) {
      if (entry.lastFailure <= now) continue;
      const right = restored(entry, now);
      this.#set({ site, key, entry: right }, now);
      this.onChange(site, key, right);
    }
    for (const { site, key, entry } of [...this.#open.values(), ...this.#locked.values()]) {
      if (isForgotten(entry, now)) this.forget(site, key);
    }
    for (const [full, kept] of this.#locked) {
      if (kept.entry.lockedUntil > now) continue;
      this.#locked.delete(full);
      this.#open.set(full, kept);
    }
  }

  #entry(full: string): LoginEntry {
    if (this.#open.size === 0 && this.#locked.size === 0) return NO_FAILURES;
    return (this.#open.get(full) ?? this.#locked.get(full))?.entry ?? NO_FAILURES;
  }

  #ticket(slot: Slot, limit: Limit): Ticket {
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        if (this.slots.release(slot)) this.slots.serve(slot.key, checksLeft(this.#entry(slot.key), limit));
      },
    };
  }

  #set(kept: Kept, now: number): void {
    const full = `${kept.site} ${kept.key}`;
    this.#open.delete(full);
    this.#locked.delete(full);
    (kept.entry.lockedUntil > now ? this.#locked : this.#open).set(full, kept);
    while (this.size > this.max) {
      const oldest = first(this.#open, full) ?? first(this.#locked, full);
      if (oldest === undefined) return;
      this.forget(oldest.site, oldest.key);
    }
  }
}

/** The first entry that is not this one: a new one must never make room for itself. */
function first(map: ReadonlyMap<string, Kept>, not: string): Kept | undefined {
  for (const [full, kept] of map) if (full !== not) return kept;
  return undefined;
}
