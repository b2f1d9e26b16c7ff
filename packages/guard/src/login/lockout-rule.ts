import { LOCKOUT_SECONDS, type LoginAttempts } from '@security-optimizer/contract/login-limits';

/** What is remembered of one address (or device) that failed to log in. Times are milliseconds since the Unix epoch. */
export interface LoginEntry {
  readonly failures: number;
  /** 0 while it was never locked. */
  readonly lockedUntil: number;
  readonly lastFailure: number;
  /** Ids of the accounts that were tried, one for each failure; names that nobody has are left out. */
  readonly accounts: readonly number[];
}

const NOBODY: readonly number[] = [];
export const NO_FAILURES: LoginEntry = Object.freeze({ failures: 0, lockedUntil: 0, lastFailure: 0, accounts: NOBODY });

/** An entry without failure for this long after its last lock is forgotten, milliseconds. */
export const FORGET_AFTER_MS = 7 * 24 * 3600_000;
/** The longest lock, milliseconds. A clock that was wrong can't make one longer. */
const LONGEST_LOCK_MS = Math.max(...LOCKOUT_SECONDS) * 1000;
/** Accounts that are kept of one entry. With a lock of 7 days after every few failures that is a long time. */
const ACCOUNTS_MAX = 60;

/** Whether nothing from here may reach a password check. With the limit off nobody is locked; the lock is kept. */
export function isLocked(entry: LoginEntry, limit: LoginAttempts, now: number): boolean {
  return limit !== 0 && entry.lockedUntil > now;
}

/**
 * How many password checks may run at the same time: failures left until the next lock. At n, 2n, 3n failures an
 * address is locked for 1 hour, 24 hours, 7 days (specification section 9); every further n of them is 7 days again.
 */
export function checksLeft(entry: LoginEntry, limit: LoginAttempts): number {
  return limit === 0 ? Number.POSITIVE_INFINITY : limit - (entry.failures % limit);
}

/**
 * The entry after one more failure. A failure that ends while it is locked (it was under way) prolongs nothing.
 *
 * @param user id of the account that was tried, 0 when nobody has the name
 */
export function afterFailure(entry: LoginEntry, user: number, limit: LoginAttempts, now: number): LoginEntry {
  const failures = entry.failures + 1;
  const accounts = user === 0 ? entry.accounts : [...entry.accounts.slice(1 - ACCOUNTS_MAX), user];
  const locks = limit !== 0 && failures % limit === 0 && entry.lockedUntil <= now;
  const lockedUntil = locks ? now + lockSeconds(failures / limit) * 1000 : entry.lockedUntil;
  return { failures, lockedUntil, lastFailure: now, accounts };
}

/**
 * The entry after a success: only the failures at other accounts are left of it, or all of it while it is locked. Else
 * whoever has an account of their own could guess at another one for ever, with a log-in of their own in between.
 *
 * @param user id of who has logged in
 */
export function afterSuccess(entry: LoginEntry, user: number, now: number): LoginEntry {
  if (entry.lockedUntil > now) return entry;
  const accounts = entry.accounts.filter((account) => account !== user);
  if (accounts.length === 0) return NO_FAILURES;
  return accounts.length === entry.failures ? entry : { ...entry, failures: accounts.length, accounts };
}

/** Whether it can be forgotten: 7 days without failure after the last lock. */
export function isForgotten(entry: LoginEntry, now: number): boolean {
  return now - Math.max(entry.lastFailure, entry.lockedUntil) >= FORGET_AFTER_MS;
}

/** 1, 2 or 3: which of the three waiting times a locked entry is in. */
export function lockStage(entry: LoginEntry, limit: LoginAttempts): 1 | 2 | 3 {
  const stage = limit === 0 ? 1 : Math.floor(entry.failures / limit);
  return stage >= 3 ? 3 : stage === 2 ? 2 : 1;
}

/**
 * An entry with what a wrong clock may have written put right. A failure that lies ahead was noted by a clock that was
 * set back since: it has just happened, and its lock lasts as long as it was meant to.
 */
export function restored(entry: LoginEntry, now: number): LoginEntry {
  const ahead = Math.max(0, entry.lastFailure - now);
  const lockedUntil = Math.max(0, Math.min(entry.lockedUntil - ahead, now + LONGEST_LOCK_MS));
  return { ...entry, lockedUntil, lastFailure: entry.lastFailure - ahead };
}

function lockSeconds(stage: number): number {
  return LOCKOUT_SECONDS[Math.min(stage, LOCKOUT_SECONDS.length) - 1] as number;
}
